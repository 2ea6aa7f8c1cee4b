"""Runs the gate workflow under act, and single reports of the binary, against the fake GitHub behind GitHub's own API description.

Usage: rig.py GATE CACHE [CASE…]    GATE: a goodput-gate binary; CACHE: what run.sh installed there; CASE: only these
Exit code 0 when every case held. Everything is on loopback; what is started here is ended by its process id.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from edge import Edge
from fake import BOT, Fake

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
REPOSITORY = "octo-org/llm"
WRITER, READER, KEY = "ghs_writer_c0ffee", "ghs_reader_decade", "sk-never-to-be-seen-5eed"
FAST = """version: 1
name: quickstart
target: { url: "sim://steady?ttft=20ms&tpot=5ms" }
workload: { lengths: { input: constant(60), output: constant(8) } }
load: { concurrency: 25, rounds: 40 }
slo:
  request: [ttft <= 200ms]
  require: [goodput >= 90%]
  regression: [ttft p50 rises <= 1000%]
validity: { client_lag: 150ms }
"""
LOOSE = FAST.replace("ttft <= 200ms", "ttft <= 200s")
UPLOAD = "actions/upload-artifact@043fb46d1a93c77aae656e7c1c64a875d1fc6a0a"
GOOD, SLOW = "sim://steady?ttft=20ms&tpot=5ms", "sim://steady?ttft=450ms&tpot=5ms"


def run(*command, cwd=None, env=None, check=True, timeout=240):
    done = subprocess.run([str(word) for word in command], cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=timeout, check=False)
    if check and done.returncode:
        raise RuntimeError(f"{command[0]} ended with {done.returncode}:\n{done.stdout}")
    return done


class Rig:
    """The scratch repository, the fake, prism and the edge; and the ways to run the gate against them."""

    def __init__(self, gate, cache, work):
        self.gate, self.cache, self.work = Path(gate).resolve(), Path(cache).resolve(), Path(work)
        self.failures, self.runs = [], 0
        self.make_repository()
        examples = json.loads((self.cache / "github.json.examples.json").read_text())
        self.fake = Fake(REPOSITORY, str(self.work / "origin.git"), examples, {WRITER: (BOT, True), READER: (BOT, False)})
        self.fake.pulls[7] = self.event["pull_request"]
        self.start_prism()
        self.edge = Edge(self.prism_port)

    # ---- set up

    def git(self, *arguments):
        identity = ["-c", "user.name=rig", "-c", "user.email=rig@example.invalid", "-c", "commit.gpgsign=false"]
        return run("git", *identity, *arguments, cwd=self.work / "repo").stdout.strip()

    def make_repository(self):
        """main has the strict spec; the pull request loosens it; HEAD is the merge commit, as on GitHub's runners."""
        repo = self.work / "repo"
        (repo / ".github").mkdir(parents=True)
        for name in ("action", "workflows"):
            shutil.copytree(ROOT / ".github" / name, repo / ".github" / name)
        shutil.copy(ROOT / "action.yml", repo)
        shutil.copytree(ROOT / "gate-configs", repo / "gate-configs")
        spec = repo / "gate-configs" / "quickstart.yaml"
        self.git("init", "-q", "-b", "main")
        spec.write_text(FAST)
        (repo / ".gitignore").write_text("/goodput-out\n/target\n")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "base")
        self.base = self.git("rev-parse", "HEAD")
        self.git("checkout", "-q", "-b", "feature")
        spec.write_text(LOOSE)
        self.git("commit", "-q", "-a", "-m", "loosen the limit")
        self.head = self.git("rev-parse", "HEAD")
        self.git("checkout", "-q", "main")
        (repo / "README.md").write_text("other work on main\n")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "main moved on")
        self.tip = self.git("rev-parse", "HEAD")
        self.git("checkout", "-q", "--detach")
        self.git("merge", "-q", "--no-ff", "-m", "merge", "feature")
        self.merge = self.git("rev-parse", "HEAD")
        run("git", "clone", "-q", "--bare", repo, self.work / "origin.git")
        self.git("remote", "add", "origin", f"https://github.com/{REPOSITORY}.git")
        side = lambda ref, sha: {"ref": ref, "sha": sha, "repo": {"full_name": REPOSITORY, "fork": False}}
        pull = {"number": 7, "user": {"login": "octocat"}, "base": side("main", self.tip), "head": side("feature", self.head)}
        self.event = {"action": "synchronize", "number": 7, "pull_request": pull,
                      "repository": {"full_name": REPOSITORY, "default_branch": "main", "name": "llm", "owner": {"login": "octo-org"}}}
        # Stands for `cargo build --release --locked`, which the rig has no time for; it notes how it was called.
        stub = self.work / "bin" / "cargo"
        stub.parent.mkdir()
        stub.write_text('#!/usr/bin/env bash\nset -eu\nprintf "%s\\n" "$*" > "$RIG_CARGO_LOG"\nmkdir -p target/release\n'
                        'cp "$RIG_GATE" target/release/goodput-gate\n')
        stub.chmod(0o755)
        # An action that act would fetch from GitHub.
        (self.work / "upload").mkdir()
        (self.work / "upload/action.yml").write_text("name: upload\nruns: { using: composite, steps: [{ run: 'true', shell: bash }] }\n")
        run("git", "init", "-q", cwd=self.work / "upload")

    def start_prism(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.prism_port = free.getsockname()[1]
        self.prism_log = open(self.work / "prism.log", "w")
        prism = self.cache / "npm/node_modules/@stoplight/prism-cli/dist/index.js"
        self.prism = subprocess.Popen(["node", str(prism), "proxy", "--errors", "-p", str(self.prism_port), str(self.cache / "github.json"),
                                       f"http://127.0.0.1:{self.fake.server.port}"], stdin=subprocess.DEVNULL, stdout=self.prism_log, stderr=self.prism_log)
        for _ in range(300):
            try:
                socket.create_connection(("127.0.0.1", self.prism_port), 1).close()
                return
            except OSError:
                if self.prism.poll() is not None:
                    break
                time.sleep(0.2)
        raise RuntimeError("prism did not start:\n" + (self.work / "prism.log").read_text())

    def stop(self):
        self.prism.terminate()
        try:
            self.prism.wait(10)
        except subprocess.TimeoutExpired:
            self.prism.kill()
        self.prism_log.close()

    # ---- the workflow under act

    def act(self, endpoint, event=None, token=WRITER, workflow="gate.yml", on="pull_request"):
        """Runs a workflow; gives its exit code, log, the gate's outputs and each job's result."""
        self.runs += 1
        folder = self.work / f"act{self.runs}"
        folder.mkdir()
        (folder / "event.json").write_text(json.dumps(event or self.event))
        (folder / "secrets").write_text(f"GITHUB_TOKEN={token}\nSTAGING_URL={endpoint}\nSTAGING_API_KEY={KEY if endpoint else ''}\n")
        env = {"PATH": f"{self.work}/bin:{os.environ['PATH']}", "HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "XDG_CACHE_HOME": str(folder),
               "RIG_GATE": str(self.gate), "RIG_CARGO_LOG": str(folder / "cargo")}
        started = [self.cache / "venv/bin/act", "-P", "ubuntu-latest=-self-hosted", "--no-cache-server", "--action-cache-path", folder / "actions",
                   "--container-daemon-socket", "-", "--rm", on, "-W", f".github/workflows/{workflow}", "-e", folder / "event.json",
                   "--secret-file", folder / "secrets", "--env", f"GITHUB_API_URL={self.edge.url}",
                   "--local-repository", f"{UPLOAD}={self.work / 'upload'}",
                   "--env", f"RIG_GATE={self.gate}", "--env", f"RIG_CARGO_LOG={folder}/cargo"]
        done = run(*started, cwd=self.work / "repo", env=env, check=False)
        outputs = dict(re.findall(r"^\[[a-z ]+/(?:measure|audit) *\] +⚙ +::set-output:: ([a-z0-9-]+)=(.*)$", done.stdout, re.M))
        jobs = dict(re.findall(r"^\[[a-z ]+/([a-z ]+?) *\] 🏁 +Job (succeeded|failed)", done.stdout, re.M))
        cargo = (folder / "cargo").read_text().strip() if (folder / "cargo").exists() else None
        return {"code": done.returncode, "log": done.stdout, "outputs": outputs, "jobs": jobs, "cargo": cargo}

    # ---- one report of the binary alone

    def record(self):
        """A passing recording, for reports that need no new load."""
        spec = self.work / "spec.yaml"
        spec.write_text(FAST)
        run(self.gate, "run", spec, "--out", self.work / "recorded", env=self.environment(api=None), timeout=120)

    def environment(self, api, token=WRITER, event=None, **more):
        folder = self.work / "step"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        (folder / "event.json").write_text(json.dumps(event or self.event))
        for name in ("summary", "output"):
            (folder / name).touch()
        env = {"PATH": os.environ["PATH"], "HOME": str(folder), "GITHUB_ACTIONS": "true", "CI": "true", "GITHUB_REPOSITORY": REPOSITORY,
               "GITHUB_EVENT_NAME": "pull_request", "GITHUB_EVENT_PATH": str(folder / "event.json"), "GITHUB_SHA": self.git("rev-parse", "HEAD"),
               "GITHUB_REF": "refs/pull/7/merge", "GITHUB_RUN_ID": "99", "GITHUB_RUN_ATTEMPT": "1", "GITHUB_RUN_NUMBER": "3", "GITHUB_JOB": "gate",
               "GITHUB_WORKFLOW": "goodput", "GITHUB_SERVER_URL": "https://github.com", "GITHUB_STEP_SUMMARY": str(folder / "summary"),
               "GITHUB_OUTPUT": str(folder / "output"), "GITHUB_WORKSPACE": str(self.work / "repo"), "GITHUB_TOKEN": token, "GOODPUT_API_KEY": KEY, **more}
        if api:
            env["GITHUB_API_URL"] = api
        return env

    def judge(self, api=None, spec=FAST, arguments=(), **more):
        """`judge --github` of the recording; gives exit code, log, outputs, summary and seconds."""
        (self.work / "judged.yaml").write_text(spec)
        env = self.environment(api or self.edge.url, **more)
        begun = time.monotonic()
        done = run(self.gate, "judge", self.work / "recorded/run.jsonl.zst", "--spec", self.work / "judged.yaml", "--github", *arguments,
                   "--out", self.work / "judged", cwd=self.work, env=env, check=False)
        outputs = dict(line.split("=", 1) for line in (self.work / "step/output").read_text().splitlines() if "=" in line)
        return {"code": done.returncode, "log": done.stdout, "outputs": outputs, "summary": (self.work / "step/summary").read_text(),
                "seconds": time.monotonic() - begun}

    def ours(self):
        """The gate's comments on the pull request."""
        return [c for c in self.fake.comments if c["user"]["login"] == BOT and "goodput-gate" in c["body"] and not c.get("_decoy")]

    # ---- judging the cases

    def expect(self, what, held, detail=""):
        print(f"  {'ok    ' if held else 'FAILED'} {what}{'' if held else f': {detail}'}", flush=True)
        if not held:
            self.failures.append(what)

    def case(self, function):
        print(f"{function.__doc__.splitlines()[0]}", flush=True)
        self.edge.reset()
        before, failed = len(self.edge.violations), len(self.failures)
        try:
            function(self)
        except Exception as error:  # a broken case is a failed one, and the others still run
            self.expect(function.__name__, False, repr(error))
        new = self.edge.violations[before:]
        self.expect("GitHub's description accepted every request and answer", not new, new)
        if len(self.failures) > failed:
            for request in self.edge.requests:
                print(f"    {request['method']} {request['target']} -> {request.get('status')}{' (fault)' if request['fault'] else ''}")


def main():
    import cases
    import scripts
    gate, cache, *only = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="goodput-rig.") as work:
        rig = Rig(gate, cache, work)
        try:
            for function in scripts.ALL + cases.ALL:
                if not only or function.__name__ in only:
                    rig.case(function)
        finally:
            rig.stop()
    print(f"{len(rig.failures)} failed" if rig.failures else "all held")
    return 1 if rig.failures else 0


if __name__ == "__main__":
    sys.exit(main())
