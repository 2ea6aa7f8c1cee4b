"""A stateful stand-in for GitHub's REST API.

Bodies start from the description's own examples. The fake knows what the description does not: a comment of more than 65,536
characters and a status description of more than 140 are 422, who writes is known by the token, a ref only moves forward.
"""

import base64
import copy
import json
import re
import subprocess
import tempfile
import threading
import urllib.parse

from edge import DOCS, Handler, Server

BOT = "github-actions[bot]"


class Answer(Exception):
    """Ends a request with this status and body."""

    def __init__(self, status, body, headers=None):
        super().__init__(status)
        self.status, self.body, self.headers = status, body, headers or {}


def refuse(status, message, **more):
    return Answer(status, {"message": message, "documentation_url": DOCS, "status": str(status), **more})


class Fake:
    """GitHub's state for one repository."""

    def __init__(self, repository, git_dir, examples, tokens):
        self.repository, self.git_dir, self.examples, self.tokens = repository, git_dir, examples, tokens
        self.comments, self.statuses, self.pulls = [], [], {}
        self.lock = threading.RLock()
        self.identifier = 1000
        fake = self

        class FakeHandler(Handler):
            def answer(self, method, target, raw):
                with fake.lock:
                    try:
                        result = fake.route(method, target, raw, self.headers)
                    except Answer as answer:
                        result = answer
                headers = {"content-type": "application/json; charset=utf-8", "x-ratelimit-remaining": "900", **result.headers}
                self.reply(result.status, headers, json.dumps(result.body).encode())

        self.server = Server(FakeHandler)

    # ---- routing

    def route(self, method, target, raw, headers):
        url = urllib.parse.urlsplit(target)
        query = {key: values[-1] for key, values in urllib.parse.parse_qs(url.query).items()}
        token = re.sub(r"(?i)^(bearer|token) ", "", headers.get("authorization") or "")
        if token not in self.tokens:
            raise refuse(401, "Bad credentials")
        login, may_write = self.tokens[token]
        if url.path == "/user":
            raise refuse(403, "Resource not accessible by integration")
        prefix = f"/repos/{self.repository}"
        if not url.path.startswith(prefix):
            raise refuse(404, "Not Found")
        if method != "GET" and not may_write:
            answer = refuse(403, "Resource not accessible by integration")
            answer.headers["x-accepted-github-permissions"] = "issues=write; pull_requests=write"
            raise answer
        path = urllib.parse.unquote(url.path[len(prefix):])
        body = json.loads(raw) if raw else {}
        for pattern, name in ROUTES:
            match = re.fullmatch(pattern, f"{method} {path}")
            if match:
                return getattr(self, name)(*match.groups(), body=body, query=query, login=login, path=url.path)
        raise refuse(404, "Not Found")

    def next_id(self):
        self.identifier += 1
        return self.identifier

    def page(self, items, query, path):
        size, number = min(int(query.get("per_page", 30)), 100), int(query.get("page", 1))
        part = items[(number - 1) * size:number * size]
        headers = {}
        last = max(1, -(-len(items) // size))
        if number < last:
            others = "".join(f"&{key}={value}" for key, value in query.items() if key not in ("per_page", "page"))
            link = lambda to, rel: f'<https://edge.invalid{path}?per_page={size}&page={to}{others}>; rel="{rel}"'
            headers["link"] = ", ".join([link(number + 1, "next"), link(last, "last")])
        return Answer(200, part, headers)

    # ---- comments, statuses, pull requests

    def add_comment(self, number, body, login):
        comment = copy.deepcopy(self.examples["issue-comment"])
        identifier = self.next_id()
        comment.update(id=identifier, body=body, html_url=f"https://github.com/{self.repository}/pull/{number}#issuecomment-{identifier}",
                       url=f"https://api.github.com/repos/{self.repository}/issues/comments/{identifier}")
        comment["user"].update(login=login, type="Bot" if login.endswith("[bot]") else "User")
        comment["_number"] = number
        self.comments.append(comment)
        return comment

    @staticmethod
    def shown(comment):
        return {key: value for key, value in comment.items() if not key.startswith("_")}

    @staticmethod
    def check_comment(body):
        # GitHub counts characters as its database does; UTF-16 units are the strictest reading.
        if len(body.encode("utf-16-le")) // 2 > 65536:
            error = {"resource": "IssueComment", "code": "unprocessable", "field": "data", "message": "Body is too long (maximum is 65536 characters)"}
            raise refuse(422, "Validation Failed", errors=[error])

    def list_comments(self, number, query, path, **_):
        return self.page([self.shown(c) for c in self.comments if c["_number"] == int(number)], query, path)

    def post_comment(self, number, body, login, **_):
        self.check_comment(body["body"])
        return Answer(201, self.shown(self.add_comment(int(number), body["body"], login)))

    def find_comment(self, identifier):
        for comment in self.comments:
            if comment["id"] == int(identifier):
                return comment
        raise refuse(404, "Not Found")

    def get_comment(self, identifier, **_):
        return Answer(200, self.shown(self.find_comment(identifier)))

    def patch_comment(self, identifier, body, login, **_):
        comment = self.find_comment(identifier)
        self.check_comment(body["body"])
        comment["body"] = body["body"]
        comment["_edits"] = comment.get("_edits", 0) + 1
        return Answer(200, self.shown(comment))

    def post_status(self, sha, body, login, **_):
        if len(body.get("description") or "") > 140:
            raise refuse(422, "Validation Failed", errors=[{"resource": "Status", "code": "custom", "field": "description"}])
        status = copy.deepcopy(self.examples["status"])
        status.update({key: value for key, value in body.items() if value is not None}, id=self.next_id())
        self.statuses.append({"sha": sha, **body})
        return Answer(201, status)

    def pull(self, number):
        if int(number) not in self.pulls:
            raise refuse(404, "Not Found")
        pull = copy.deepcopy(self.examples["pull-request"])
        wanted = self.pulls[int(number)]
        pull.update(number=int(number), requested_teams=[])  # the example's teams lack fields that the description requires
        for side in ("head", "base"):
            pull[side].update(ref=wanted[side]["ref"], sha=wanted[side]["sha"])
            pull[side]["repo"]["full_name"] = wanted[side]["repo"]["full_name"]
        return pull

    def get_pull(self, number, **_):
        return Answer(200, self.pull(number))

    def get_repository(self, **_):
        repository = copy.deepcopy(self.examples["full-repository"])
        repository.update(full_name=self.repository, default_branch="main", has_discussions=False)
        return Answer(200, repository)

    # ---- commits and git data, kept by git itself

    def git(self, *arguments, stdin=b"", index=None):
        environment = {"GIT_DIR": self.git_dir, "PATH": "/usr/bin:/bin:/usr/local/bin", "GIT_INDEX_FILE": index or f"{self.git_dir}/unused"}
        for role in ("AUTHOR", "COMMITTER"):
            environment[f"GIT_{role}_NAME"] = BOT
            environment[f"GIT_{role}_EMAIL"] = "bot@example.invalid"
        done = subprocess.run(["git", *arguments], input=stdin, capture_output=True, env=environment, check=False)
        if done.returncode:
            raise refuse(404, "Not Found")
        return done.stdout

    def sha_of(self, revision):
        return self.git("rev-parse", "--verify", "--quiet", "--end-of-options", revision).decode().strip()

    def commit(self, sha):
        commit = copy.deepcopy(self.examples["commit-items"][0])
        commit["sha"] = sha
        commit["parents"] = [{"sha": parent, "url": f"https://api.github.com/{parent}"} for parent in self.git("log", "-1", "--format=%P", sha).decode().split()]
        commit["commit"]["committer"]["date"] = self.git("log", "-1", "--format=%cI", sha).decode().strip()
        return commit

    def compare(self, basehead, query, **_):
        base, head = basehead.split("...")
        base, head = self.sha_of(f"{base}^{{commit}}"), self.sha_of(f"{head}^{{commit}}")
        merge_base = self.git("merge-base", base, head).decode().strip()
        behind, ahead = map(int, self.git("rev-list", "--left-right", "--count", f"{base}...{head}").split())
        status = {(True, True): "identical", (True, False): "behind", (False, True): "ahead", (False, False): "diverged"}[(ahead == 0, behind == 0)]
        commits = self.git("rev-list", "--reverse", f"{base}..{head}").decode().split()
        answer = copy.deepcopy(self.examples["commit-comparison"])
        answer.update(base_commit=self.commit(base), merge_base_commit=self.commit(merge_base), status=status, ahead_by=ahead, behind_by=behind,
                      total_commits=ahead, commits=[self.commit(sha) for sha in commits[:250]], files=[])
        return Answer(200, answer)

    def list_commits(self, query, path, **_):
        commits = self.git("rev-list", self.sha_of(f"{query.get('sha', 'main')}^{{commit}}")).decode().split()
        answer = self.page(commits, query, path)
        answer.body = [self.commit(sha) for sha in answer.body]
        return answer

    def get_commit(self, ref, **_):
        return Answer(200, self.commit(self.sha_of(f"{ref}^{{commit}}")))

    def commit_pulls(self, sha, **_):
        return Answer(200, [self.pull(number) for number, pull in self.pulls.items() if pull["head"]["sha"] == sha])

    def list_pulls(self, query, path, **_):
        return self.page([self.pull(number) for number in self.pulls], query, path)

    def ref_body(self, name):
        sha = self.sha_of(f"refs/{name}")
        return {"ref": f"refs/{name}", "node_id": "x", "url": "https://api.github.com/x",
                "object": {"type": "commit", "sha": sha, "url": "https://api.github.com/x"}}

    def get_ref(self, name, **_):
        return Answer(200, self.ref_body(name))

    def post_ref(self, body, **_):
        if subprocess.run(["git", "--git-dir", self.git_dir, "rev-parse", "--verify", "--quiet", body["ref"]], capture_output=True, check=False).returncode == 0:
            raise refuse(422, "Reference already exists")
        self.git("update-ref", body["ref"], body["sha"])
        return Answer(201, self.ref_body(body["ref"].removeprefix("refs/")))

    def patch_ref(self, name, body, **_):
        old = self.sha_of(f"refs/{name}")
        forward = subprocess.run(["git", "--git-dir", self.git_dir, "merge-base", "--is-ancestor", old, body["sha"]], check=False).returncode == 0
        if not forward and not body.get("force"):
            raise refuse(422, "Update is not a fast forward")
        self.git("update-ref", f"refs/{name}", body["sha"])
        return Answer(200, self.ref_body(name))

    def post_blob(self, body, **_):
        content = base64.b64decode(body["content"]) if body.get("encoding") == "base64" else body["content"].encode()
        sha = self.git("hash-object", "-w", "--stdin", stdin=content).decode().strip()
        return Answer(201, {"url": "https://api.github.com/x", "sha": sha})

    def get_blob(self, sha, **_):
        content = self.git("cat-file", "blob", sha)
        return Answer(200, {**self.examples["blob"], "content": base64.encodebytes(content).decode(), "encoding": "base64", "sha": sha, "size": len(content)})

    def tree_body(self, sha, recursive=False):
        lines = self.git("ls-tree", "-l", "-z", *(["-r", "-t"] if recursive else []), sha).decode().split("\0")
        entries = []
        for line in filter(None, lines):
            meta, path = line.split("\t", 1)
            mode, kind, entry, size = meta.split()
            entry = {"path": path, "mode": mode, "type": kind, "sha": entry, "url": "https://api.github.com/x"}
            entries.append({**entry, "size": int(size)} if kind == "blob" else entry)
        return {"sha": sha, "url": "https://api.github.com/x", "tree": entries, "truncated": False}

    def get_tree(self, name, query, **_):
        return Answer(200, self.tree_body(self.sha_of(f"{name}^{{tree}}"), "recursive" in query))

    def post_tree(self, body, **_):
        with tempfile.TemporaryDirectory() as folder:
            index = f"{folder}/index"
            if body.get("base_tree"):
                self.git("read-tree", self.sha_of(f"{body['base_tree']}^{{tree}}"), index=index)
            for entry in body["tree"]:
                sha = entry.get("sha")
                if "content" in entry:
                    sha = self.git("hash-object", "-w", "--stdin", stdin=entry["content"].encode()).decode().strip()
                mode = entry["mode"] if sha else "0"
                self.git("update-index", "--index-info", stdin=f"{mode} {sha or '0' * 40}\t{entry['path']}\n".encode(), index=index)
            return Answer(201, self.tree_body(self.git("write-tree", index=index).decode().strip()))

    def git_commit_body(self, sha):
        commit = copy.deepcopy(self.examples["git-commit"])
        commit.update(sha=sha, message=self.git("log", "-1", "--format=%B", sha).decode(),
                      parents=[{"sha": parent, "url": "https://api.github.com/x", "html_url": "https://github.com/x"}
                               for parent in self.git("log", "-1", "--format=%P", sha).decode().split()])
        commit["tree"]["sha"] = self.sha_of(f"{sha}^{{tree}}")
        return commit

    def post_git_commit(self, body, **_):
        parents = [word for parent in body.get("parents", []) for word in ("-p", parent)]
        sha = self.git("commit-tree", body["tree"], *parents, stdin=body["message"].encode()).decode().strip()
        return Answer(201, self.git_commit_body(sha))

    def get_git_commit(self, sha, **_):
        return Answer(200, self.git_commit_body(self.sha_of(f"{sha}^{{commit}}")))


ROUTES = [
    (r"GET ", "get_repository"),
    (r"GET /issues/(\d+)/comments", "list_comments"),
    (r"POST /issues/(\d+)/comments", "post_comment"),
    (r"GET /issues/comments/(\d+)", "get_comment"),
    (r"PATCH /issues/comments/(\d+)", "patch_comment"),
    (r"POST /statuses/([0-9a-f]{40})", "post_status"),
    (r"GET /pulls", "list_pulls"),
    (r"GET /pulls/(\d+)", "get_pull"),
    (r"GET /commits", "list_commits"),
    (r"GET /commits/([0-9a-f]{40})/pulls", "commit_pulls"),
    (r"GET /commits/([^/]+)", "get_commit"),
    (r"GET /compare/(.+\.\.\..+)", "compare"),
    (r"GET /git/ref/(.+)", "get_ref"),
    (r"POST /git/refs", "post_ref"),
    (r"PATCH /git/refs/(.+)", "patch_ref"),
    (r"POST /git/blobs", "post_blob"),
    (r"GET /git/blobs/([0-9a-f]{40})", "get_blob"),
    (r"GET /git/trees/([^/]+)", "get_tree"),
    (r"POST /git/trees", "post_tree"),
    (r"POST /git/commits", "post_git_commit"),
    (r"GET /git/commits/([0-9a-f]{40})", "get_git_commit"),
]
