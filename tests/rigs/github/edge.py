"""What the gate takes for GitHub.

    gate ──▶ Edge (records, faults, /api/v3) ──▶ prism proxy (GitHub's own description) ──▶ Fake (state; a real bare git repository)
"""

import http.client
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DOCS = "https://docs.github.com/rest"


class Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, handler):
        super().__init__(("127.0.0.1", 0), handler)
        self.port = self.server_address[1]
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def payload(self):
        return self.rfile.read(int(self.headers.get("content-length") or 0))

    def reply(self, status, headers, body):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def any_method(self):
        self.answer(self.command, self.path, self.payload())

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = any_method


class Edge:
    """What the gate talks to. `fault` plans one; `requests` is all that came; `violations` what the description did not accept."""

    def __init__(self, prism_port):
        self.requests, self.violations, self.faults = [], [], []
        self.lock = threading.Lock()
        edge = self

        class EdgeHandler(Handler):
            def answer(self, method, target, raw):
                plain = target.removeprefix("/api/v3")
                entry = {"method": method, "target": target, "body": raw.decode(errors="replace"), "headers": dict(self.headers), "fault": None}
                with edge.lock:
                    edge.requests.append(entry)
                    fault = edge.take(method, plain)
                entry["fault"] = fault
                if fault and not fault["stored"]:
                    entry["status"] = fault["status"]
                    body = {"message": fault["message"], "documentation_url": DOCS, "status": str(fault["status"])}
                    return self.reply(fault["status"], {"content-type": "application/json", **fault["headers"]}, json.dumps(body).encode())
                connection = http.client.HTTPConnection("127.0.0.1", prism_port, timeout=60)
                passed = {k: v for k, v in self.headers.items() if k.lower() not in ("host", "connection", "content-length", "accept-encoding")}
                connection.request(method, plain, body=raw or None, headers=passed)
                response = connection.getresponse()
                body = response.read()
                entry["status"] = response.status
                if "problem+json" in (response.getheader("content-type") or ""):
                    edge.violations.append((method, plain, body.decode(errors="replace")[:2000]))
                if fault:
                    entry["status"] = fault["status"]
                    return self.reply(fault["status"], fault["headers"], b"")
                own = f"http://{self.headers['host']}" + ("/api/v3" if target != plain else "")
                keep = ("content-type", "link", "retry-after", "x-ratelimit-remaining", "x-accepted-github-permissions")
                headers = {k: v.replace("https://edge.invalid", own) for k, v in response.getheaders() if k.lower() in keep}
                return self.reply(response.status, headers, body)

        self.server = Server(EdgeHandler)
        self.url = f"http://127.0.0.1:{self.server.port}"

    def fault(self, method, pattern, status, times=1, stored=False, headers=None, message="Not Found"):
        """The next `times` requests that fit are answered with `status`; with `stored` only after GitHub has done what was asked."""
        self.faults.append({"method": method, "pattern": pattern, "status": status, "times": times, "stored": stored,
                            "headers": headers or {}, "message": message})

    def take(self, method, target):
        for fault in self.faults:
            if fault["times"] and fault["method"] == method and re.search(fault["pattern"], target):
                fault["times"] -= 1
                return fault
        return None

    def reset(self):
        with self.lock:
            self.requests, self.faults = [], []

    def count(self, method, pattern):
        return sum(1 for r in self.requests if r["method"] == method and re.search(pattern, r["target"]))
