"""The cases, in order: the workflow's first run leaves the comment that the later ones find."""

import base64
import json
import re
import socket
import subprocess
import urllib.error
import urllib.request

from fake import BOT
from rig import FAST, GOOD, KEY, READER, ROOT, SLOW, WRITER

COMMENTS = r"/issues/7/comments"
OUTPUTS = ("verdict", "exit-code", "goodput", "goodput-rps", "ttft-p99-ms", "tpot-p99-ms", "report-json", "report-html", "report-md", "comment-url", "baseline-sha")


def call(rig, method, path, body=None):
    request = urllib.request.Request(f"{rig.edge.url}/repos/octo-org/llm{path}", method=method, data=None if body is None else json.dumps(body).encode(),
                                     headers={"authorization": f"Bearer {WRITER}", "accept": "application/vnd.github+json", "content-type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, json.load(answer), answer.headers
    except urllib.error.HTTPError as error:
        return error.code, json.load(error), error.headers


def fake_is_like_github(rig):
    """The fake's own answers fit the description, and it knows the limits that the description does not"""
    for path in ("", "/issues/7/comments", "/pulls/7", "/pulls?state=open", f"/commits?sha={rig.head}", f"/commits/{rig.head}/pulls",
                 f"/compare/{rig.tip}...{rig.head}", "/git/ref/heads/main", f"/git/trees/{rig.head}?recursive=1", f"/git/commits/{rig.head}"):
        status, body, _ = call(rig, "GET", path)
        rig.expect(f"GET {path.split('?')[0].replace(rig.head, 'HEAD').replace(rig.tip, 'TIP') or '/'}", status == 200, (status, body))
    merge_base = call(rig, "GET", f"/compare/{rig.tip}...{rig.head}")[1]["merge_base_commit"]["sha"]
    rig.expect("compare gives git's merge base", merge_base == rig.base, merge_base)
    rig.expect("an unknown ref is 404", call(rig, "GET", "/git/ref/heads/none")[0] == 404)
    seen = len(rig.edge.violations)
    call(rig, "POST", f"/statuses/{rig.head}", {"state": "great"})
    rig.expect("a request that the description does not know is caught", len(rig.edge.violations) == seen + 1, rig.edge.violations)
    del rig.edge.violations[seen:]
    rig.expect("a comment of 65,537 characters is 422", call(rig, "POST", "/issues/7/comments", {"body": "x" * 65537})[0] == 422)
    blob = call(rig, "POST", "/git/blobs", {"content": base64.b64encode(b"hi").decode(), "encoding": "base64"})[1]["sha"]
    tree = call(rig, "POST", "/git/trees", {"tree": [{"path": "a/b", "mode": "100644", "type": "blob", "sha": blob}]})[1]["sha"]
    commit = call(rig, "POST", "/git/commits", {"message": "m", "tree": tree, "parents": []})[1]["sha"]
    rig.expect("a branch is made", call(rig, "POST", "/git/refs", {"ref": "refs/heads/rig-data", "sha": commit})[0] == 201)
    rig.expect("a ref does not move backwards", call(rig, "PATCH", "/git/refs/heads/rig-data", {"sha": rig.head, "force": False})[0] == 422)
    rig.expect("a blob comes back", base64.b64decode(call(rig, "GET", f"/git/blobs/{blob}")[1]["content"]) == b"hi")


def readme_has_the_workflow(rig):
    """The README's workflow block is the file that runs here"""
    rig.expect("word for word", (ROOT / ".github/workflows/gate.yml").read_text() in (ROOT / "README.md").read_text())


def first_run(rig):
    """The workflow's first run passes and makes one comment"""
    got = rig.act(GOOD)
    rig.expect("the workflow passes", got["code"] == 0 and got["jobs"] == {"what changed": "succeeded", "measure": "succeeded", "goodput": "succeeded"},
               got["log"][-6000:])
    rig.expect("built from source with --locked inside this repository", got["cargo"] and "build --release --locked" in got["cargo"], got["cargo"])
    rig.expect("every output is there", all(name in got["outputs"] for name in OUTPUTS), got["outputs"])
    outputs = got["outputs"]
    rig.expect("verdict pass, exit code 0", (outputs.get("verdict"), outputs.get("exit-code")) == ("pass", "0"), outputs)
    rig.expect("goodput is a share", 0.9 <= float(outputs.get("goodput") or 0) <= 1, outputs)
    rig.expect("TTFT P99 is in ms", 15 < float(outputs.get("ttft-p99-ms") or 0) < 500, outputs)
    ours = rig.ours()
    rig.expect("one comment", len(ours) == 1 and rig.edge.count("POST", COMMENTS) == 1, len(ours))
    if ours:
        rig.expect("the comment's address is an output", outputs.get("comment-url") == ours[0]["html_url"], outputs)
        rig.expect("the comment says the verdict", "pass" in ours[0]["body"].lower(), ours[0]["body"][:400])
        rig.expect("and at which limit of the merge base", "ttft <= 200ms" in ours[0]["body"].replace("&lt;", "<").replace("\\", ""), ours[0]["body"][:3000])
    rig.expect("one commit status, at most 140 characters", len(rig.fake.statuses) == 1 and rig.fake.statuses[0]["state"] == "success", rig.fake.statuses)
    rig.expect("on the pull request's own commit, not on the merge commit", rig.fake.statuses[0]["sha"] == rig.head, (rig.fake.statuses[0]["sha"], rig.head))
    rig.expect("the job summary has the report", "Summary - " in got["log"] and "PASS" in got["log"], got["log"][-3000:])
    no_secret(rig, got["log"])


def no_secret(rig, log):
    said = log + "".join(c["body"] for c in rig.fake.comments) + json.dumps(rig.fake.statuses)
    rig.expect("no secret in the log, the comments, the statuses", not any(secret in said for secret in (KEY, WRITER)))
    bodies = [request for request in rig.edge.requests if KEY in json.dumps(request) or WRITER in request["body"] or WRITER in request["target"]]
    rig.expect("GitHub never sees the endpoint's key", not bodies, bodies)


BRANCH = "/git/ref/heads/goodput-gate-data"


def nightly(rig):
    """The nightly run on the default branch stores the baseline on its data branch, on top of what is there"""
    rig.expect("there is no branch yet", call(rig, "GET", BRANCH)[0] == 404)
    rig.git("checkout", "-q", "-B", "main", rig.base)
    event = {"repository": rig.event["repository"], "ref": "refs/heads/main"}
    got = rig.act(GOOD, event=event, workflow="nightly-audit.yml", on="workflow_dispatch")
    rig.git("checkout", "-q", "-B", "main", rig.tip)
    rig.git("checkout", "-q", "--detach", rig.merge)
    rig.expect("it passes", got["code"] == 0 and got["outputs"].get("verdict") == "pass", got["log"][-6000:])
    status, ref, _ = call(rig, "GET", BRANCH)
    rig.expect("the branch is there", status == 200, ref)
    rig.stored = ref["object"]["sha"]
    files = [entry["path"] for entry in call(rig, "GET", f"/git/trees/{rig.stored}?recursive=1")[1]["tree"]]
    rig.expect("with the run", any("quickstart" in path and path.endswith(".jsonl.zst") for path in files), files)
    no_secret(rig, got["log"])


def second_run(rig):
    """Among 130 other comments, one of them a copy by a person, the second run updates its own and the loosened limit does not count"""
    ours = rig.ours()[0]
    for number in range(130):
        decoy = rig.fake.add_comment(7, ours["body"] if number == 64 else f"comment {number} about goodput-gate", "octocat")
        decoy["_decoy"] = True
        rig.fake.comments.remove(decoy)
        rig.fake.comments.insert(number, decoy)
    other = rig.fake.add_comment(7, re.sub(r"quickstart", "other", ours["body"]), BOT)
    other["_decoy"] = True
    got = rig.act(SLOW)
    rig.expect("a failing gate fails the job, and with it the required one", got["code"] != 0 and got["jobs"] == {"what changed": "succeeded", "measure": "failed", "goodput": "failed"},
               (got["jobs"], got["log"][-6000:]))
    rig.expect("the step's exit code is the gate's", "exit status 10" in got["log"], got["log"][-3000:])
    rig.expect("verdict fail, exit code 10", (got["outputs"].get("verdict"), got["outputs"].get("exit-code")) == ("fail", "10"), got["outputs"])
    rig.expect("compared with the merge base's baseline", got["outputs"].get("baseline-sha") == rig.base, (got["outputs"].get("baseline-sha"), rig.base))
    rig.expect("and it did not write one", call(rig, "GET", BRANCH)[1].get("object", {}).get("sha") == rig.stored
               and not [r for r in rig.edge.requests if r["method"] != "GET" and "/git/" in r["target"]])
    rig.expect("the pull request is told that its own spec does not judge yet", "judges until it is merged" in got["log"])
    rig.expect("still one comment, edited once", len(rig.ours()) == 1 and ours.get("_edits") == 1, (len(rig.ours()), ours.get("_edits")))
    rig.expect("nothing was posted", rig.edge.count("POST", COMMENTS) == 0)
    rig.expect("both pages were read", rig.edge.count("GET", COMMENTS) >= 2)
    rig.expect("the comment says the new verdict", "fail" in ours["body"].lower(), ours["body"][:400])
    rig.expect("no other comment was touched", not any(c.get("_edits") for c in rig.fake.comments if c.get("_decoy")))
    rig.expect("the commit status is a failure", rig.fake.statuses[-1]["state"] == "failure", rig.fake.statuses[-1])
    no_secret(rig, got["log"])


def fork_without_secrets(rig):
    """A fork's pull request has no endpoint: not run, with a notice, and the required job does not hang"""
    event = json.loads(json.dumps(rig.event))
    event["pull_request"]["head"]["repo"] = {"full_name": "stranger/llm", "fork": True}
    got = rig.act("", event=event, token=READER)
    rig.expect("the workflow passes", got["code"] == 0 and got["jobs"].get("goodput") == "succeeded", got["log"][-5000:])
    rig.expect("verdict not_run", got["outputs"].get("verdict") == "not_run" and not got["outputs"].get("exit-code"), got["outputs"])
    rig.expect("a notice says why", "::notice" in got["log"] and "forks get no secrets" in got["log"], got["log"][-3000:])
    rig.expect("GitHub was not asked for anything", not rig.edge.requests, rig.edge.requests)


def nothing_served_changed(rig):
    """A pull request that changes nothing served does not pay, and the required job still reports"""
    rig.git("checkout", "-q", "-b", "docs", rig.tip)
    (rig.work / "repo/README.md").write_text("better words\n")
    rig.git("commit", "-q", "-a", "-m", "docs")
    event = json.loads(json.dumps(rig.event))
    event["pull_request"]["head"]["sha"] = rig.git("rev-parse", "HEAD")
    got = rig.act(SLOW, event=event)
    rig.git("checkout", "-q", "--detach", rig.merge)
    rig.expect("nothing was measured", "measure" not in got["jobs"] and got["cargo"] is None, got["jobs"])
    rig.expect("the required job passes", got["code"] == 0 and got["jobs"].get("goodput") == "succeeded", got["log"][-3000:])


def lost_reply(rig):
    """A 502 on a POST that was stored does not make a second comment"""
    rig.record()
    rig.fake.comments.clear()
    rig.edge.fault("POST", COMMENTS, 502, stored=True)
    got = rig.judge()
    rig.expect("exit code 0", got["code"] == 0, got["log"])
    rig.expect("one comment", len(rig.ours()) == 1, len(rig.ours()))
    rig.expect("its address was found", got["outputs"].get("comment-url") == (rig.ours() or [{"html_url": None}])[0]["html_url"], got["outputs"])


def rate_limited(rig):
    """A 429 is waited for as Retry-After says, and then it works"""
    rig.edge.fault("GET", COMMENTS, 429, headers={"retry-after": "2"}, message="API rate limit exceeded")
    got = rig.judge()
    rig.expect("exit code 0", got["code"] == 0, got["log"])
    rig.expect("it waited for two seconds", 2 <= got["seconds"] < 60, got["seconds"])
    rig.expect("one comment", len(rig.ours()) == 1, len(rig.ours()))


def rate_limited_for_long(rig):
    """A 429 that asks for an hour is given up, with the same exit code"""
    rig.edge.fault("GET", COMMENTS, 429, times=99, headers={"retry-after": "3600"}, message="API rate limit exceeded")
    got = rig.judge()
    rig.expect("exit code 0, soon", got["code"] == 0 and got["seconds"] < 180, (got["code"], got["seconds"]))
    rig.expect("the summary has the report", "quickstart" in got["summary"], got["summary"][:300])


def read_only_token(rig):
    """A fork's read-only token: one notice with the scope, the summary instead, the same exit code"""
    rig.fake.comments.clear()
    got = rig.judge(token=READER)
    rig.expect("exit code 0", got["code"] == 0, got["log"])
    rig.expect("no comment", not rig.ours())
    notices = re.findall(r"^::(?:notice|warning).*$", got["log"], re.M)
    rig.expect("the missing scope is named", any("pull-requests: write" in line for line in notices), got["log"])
    rig.expect("the summary has the report", "quickstart" in got["summary"] and "pass" in got["summary"].lower(), got["summary"][:300])
    rig.expect("the outputs are there", got["outputs"].get("verdict") == "pass", got["outputs"])
    failing = rig.judge(token=READER, spec=FAST.replace("ttft <= 200ms", "ttft <= 1ms"))
    rig.expect("a failing gate still fails", failing["code"] == 10, failing["log"])


def not_found(rig):
    """A 404 from GitHub never changes the verdict"""
    rig.edge.fault("GET", r"/", 404, times=99)
    rig.edge.fault("POST", r"/", 404, times=99)
    got = rig.judge()
    rig.expect("exit code 0", got["code"] == 0, got["log"])
    rig.expect("the summary has the report", "quickstart" in got["summary"], got["summary"][:300])


def github_down(rig):
    """A GitHub that answers 500 to everything never changes the verdict"""
    for method in ("GET", "POST", "PATCH"):
        rig.edge.fault(method, r"/", 500, times=999, message="Server Error")
    got = rig.judge(spec=FAST.replace("ttft <= 200ms", "ttft <= 1ms"))
    rig.expect("exit code 10, in bounded time", got["code"] == 10 and got["seconds"] < 240, (got["code"], got["seconds"]))


def at_the_limit(rig):
    """A comment is cut to GitHub's limit by whole rows"""
    rig.fake.comments.clear()
    # Rows as long as they get, 200 of each kind, which is all that a spec may list.
    scope = lambda n: " and ".join([f"input_tokens < {k * 1000 + n}" for k in range(1, 5)] + [f"output_tokens < {k * 1000 + n}" for k in range(1, 5)])
    rows = [f"ttft p99 <= {300 + n}ms when {scope(n)}" for n in range(199)]
    spec = FAST.replace("require: [goodput >= 90%]", "require: [goodput >= 90%, " + ", ".join(rows) + "]\n  advise: [" + ", ".join(rows) + "]")
    got = rig.judge(spec=spec)
    rig.expect("exit code 0", got["code"] == 0, got["log"][-2000:])
    sizes = [len(c["body"].encode("utf-16-le")) // 2 for c in rig.ours()]
    rig.expect("one comment of 50,000 to 65,536 characters", len(sizes) == 1 and 50_000 < sizes[0] <= 65_536, sizes)
    whole = all(line.rstrip().endswith("|") for c in rig.ours() for line in c["body"].splitlines() if line.startswith("|"))
    rig.expect("rows are whole", whole)
    rig.expect("what was left out is counted", any(re.search(r"\d+ rows[^\n]* left out", c["body"]) for c in rig.ours()))


def enterprise_server(rig):
    """GitHub Enterprise Server: every request goes below /api/v3, over both pages"""
    rig.fake.comments.clear()
    for number in range(130):
        rig.fake.add_comment(7, f"comment {number}", "octocat")["_decoy"] = True
    for expected in ("one comment", "still one comment"):
        got = rig.judge(api=f"{rig.edge.url}/api/v3", GITHUB_SERVER_URL="https://ghe.example.invalid")
        rig.expect(expected, got["code"] == 0 and len(rig.ours()) == 1, (got["code"], len(rig.ours()), got["log"]))
    rig.expect("only below /api/v3", rig.edge.requests and all(r["target"].startswith("/api/v3/") for r in rig.edge.requests), [r["target"] for r in rig.edge.requests])
    rig.expect("links go to the server", "github.com" not in re.sub(r"goodput-gate/goodput-gate", "", "".join(c["body"] for c in rig.ours())).replace("github.com/goodput-gate", ""))


def newer_commit(rig):
    """An older run does not overwrite the comment of a newer commit"""
    rig.fake.comments.clear()
    rig.judge()
    before = rig.ours()[0]["body"] if rig.ours() else None
    rig.fake.pulls[7] = {**rig.event["pull_request"], "head": {**rig.event["pull_request"]["head"], "sha": rig.tip}}
    got = rig.judge(spec=FAST.replace("ttft <= 200ms", "ttft <= 1ms"))
    rig.fake.pulls[7] = rig.event["pull_request"]
    rig.expect("exit code 10", got["code"] == 10, got["log"])
    rig.expect("the comment stays", before is not None and rig.ours()[0]["body"] == before, rig.ours()[0]["body"][:300] if rig.ours() else None)


def another_host(rig):
    """A pull request whose spec names another host gets exit 4, and no byte is sent there"""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # sends nothing: it only chooses this machine's own address
        own = probe.getsockname()[0]
    with socket.create_server((own, 0)) as listener:
        listener.settimeout(0.5)
        (rig.work / "elsewhere.yaml").write_text(FAST.replace(GOOD, f"http://{own}:{listener.getsockname()[1]}/v1"))
        done = subprocess.run([rig.gate, "check", rig.work / "elsewhere.yaml", "--github", "--out", rig.work / "else"], cwd=rig.work, text=True, timeout=60,
                              env=rig.environment(rig.edge.url), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        try:
            listener.accept()
            came = True
        except TimeoutError:
            came = False
    rig.expect("exit code 4", done.returncode == 4, (done.returncode, done.stdout))
    rig.expect("the message names the way out", "--allow-host" in done.stdout and KEY not in done.stdout, done.stdout)
    rig.expect("nobody connected", not came)


def self_gate(rig):
    """self-gate.yml: the action passes, fails by a limit, fails by a regression and calls a short run invalid"""
    spec = (ROOT / "gate-configs/quickstart.yaml").read_text().replace("rounds: 40", "rounds: 20")
    (rig.work / "repo/gate-configs/quickstart.yaml").write_text(spec)
    got = rig.act("", workflow="self-gate.yml")
    rig.expect("each verdict, exit code and outcome", got["code"] == 0 and got["jobs"] == {"self gate": "succeeded"}, got["log"][-8000:])
    rig.expect("all four were seen", "pass 0 success / fail 10 failure / fail 11 failure / invalid 6 failure" in got["log"], got["log"][-8000:])


ALL = [readme_has_the_workflow, fake_is_like_github, first_run, nightly, second_run, fork_without_secrets, nothing_served_changed, lost_reply, rate_limited, rate_limited_for_long,
       read_only_token, not_found, github_down, at_the_limit, enterprise_server, newer_commit,
       another_host, self_gate]
