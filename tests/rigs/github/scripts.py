"""Cases for the action's scripts alone: no act, no GitHub."""

import hashlib
import json
import os
import shutil
import subprocess
import tarfile
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


class Script:
    """Runs one script as a step; gives exit code, log, outputs."""

    def __init__(self, rig, name, cwd=None, event=None, **env):
        folder = Path(rig.work) / "script"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        (folder / "event.json").write_text(json.dumps(event if event is not None else rig.event))
        (folder / "output").touch()
        base = {"PATH": os.environ["PATH"], "HOME": str(folder), "GITHUB_OUTPUT": str(folder / "output"), "GITHUB_STEP_SUMMARY": str(folder / "summary"),
                "GITHUB_EVENT_PATH": str(folder / "event.json"), "RUNNER_TEMP": str(folder), "GITHUB_REPOSITORY": "octo-org/llm",
                "RUNNER_OS": "Linux", "RUNNER_ARCH": "X64", "GITHUB_WORKSPACE": str(rig.work / "repo")}
        action = Path(env.pop("action", ROOT / ".github/action"))
        done = subprocess.run(["bash", str(action / f"{name}.sh")], cwd=cwd or rig.work / "repo", env={**base, **env}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
        self.code, self.log = done.returncode, done.stdout
        self.outputs = dict(line.split("=", 1) for line in (folder / "output").read_text().splitlines())
        self.summary = (folder / "summary").read_text() if (folder / "summary").exists() else ""


def inputs(rig, **changed):
    given = {"GATE_API_KEY": "", "GATE_SPEC": "gate-configs/quickstart.yaml", "GATE_SPEC_REF": "", "GATE_ENDPOINT": "http://x/v1",
             "GATE_REQUIRE_BASELINE": "false", "GATE_SAVE_BASELINE": "auto", "GATE_COMMENT": "always", "GATE_FAIL_ON": "inconclusive",
             "GATE_ON_MISSING_ENDPOINT": "fail", "GATE_INSTALL": "auto", "GATE_VERSION": "", "GATE_WORKING_DIRECTORY": "."}
    event = changed.pop("event", None)
    return Script(rig, "inputs", event=event, **{**given, **changed})


def inputs_are_checked(rig):
    """Wrong inputs are errors before anything runs; a key is masked first; a missing endpoint is told"""
    rig.expect("good inputs run", inputs(rig).outputs == {"run": "true"})
    for name, value in (("GATE_FAIL_ON", "warn"), ("GATE_COMMENT", ""), ("GATE_REQUIRE_BASELINE", "yes"), ("GATE_SAVE_BASELINE", "always"),
                        ("GATE_ON_MISSING_ENDPOINT", "pass"), ("GATE_INSTALL", "curl"), ("GATE_SPEC", ""), ("GATE_SPEC", "--help"),
                        ("GATE_SPEC", "a\nrun=true"), ("GATE_WORKING_DIRECTORY", "nowhere"), ("GATE_API_KEY", "a\nb")):
        got = inputs(rig, **{name: value})
        rig.expect(f"{name}={value!r} is an error", got.code == 2 and got.log.startswith("::error") and "run" not in got.outputs, (got.code, got.log))
    got = inputs(rig, GATE_API_KEY="sk-50%", GATE_FAIL_ON="x\n::stop-commands::y")
    rig.expect("the key is masked before anything else", got.log.startswith("::add-mask::sk-50%25\n"), got.log)
    rig.expect("an input cannot add a workflow command", "\n::stop" not in got.log, got.log)
    skipped = {"GATE_ENDPOINT": "", "GATE_ON_MISSING_ENDPOINT": "skip"}
    got = inputs(rig, **skipped)
    rig.expect("a missing secret in the repository itself is a warning", got.code == 0 and got.outputs == {"run": "false", "verdict": "not_run"}
               and got.log.startswith("::warning") and "NOT RUN" in got.summary, (got.log, got.outputs))
    fork = json.loads(json.dumps(rig.event))
    fork["pull_request"]["head"]["repo"]["full_name"] = "stranger/llm"
    got = inputs(rig, event=fork, **skipped)
    rig.expect("in a fork it is a notice", got.outputs.get("verdict") == "not_run" and got.log.startswith("::notice"), got.log)
    rig.expect("without skip the spec's own target is used", inputs(rig, GATE_ENDPOINT="").outputs == {"run": "true"})


def fail_on(rig):
    """fail-on decides which exit codes fail the job"""
    for word, passing in (("inconclusive", {0}), ("fail", {0, 12}), ("never", {0, 10, 11, 12})):
        got = {code: Script(rig, "conclude", GATE_EXIT_CODE=str(code), GATE_FAIL_ON=word).code for code in (0, 1, 2, 4, 5, 6, 7, 10, 11, 12, 70, 130, 137)}
        wanted = {code: 0 if code in passing else code for code in got}
        rig.expect(word, got == wanted, got)
    rig.expect("no exit code is an error", Script(rig, "conclude", GATE_EXIT_CODE="", GATE_FAIL_ON="never").code == 2)


def gate(rig, event=None, **changed):
    stub = rig.work / "stub-gate"
    stub.write_text('#!/usr/bin/env bash\nprintf "%s\\n" "$@" > "$RIG_ARGUMENTS"\nprintf "%s" "${GOODPUT_API_KEY:-}" > "$RIG_ARGUMENTS.key"\n'
                    'if [ -n "${RIG_OUTPUT:-}" ]; then echo "$RIG_OUTPUT" >> "$GITHUB_OUTPUT"; fi\nexit "${RIG_CODE:-0}"\n')
    stub.chmod(0o755)
    given = {"GATE_BINARY": str(stub), "GATE_SPEC": "s.yaml", "GATE_ENDPOINT": "", "GATE_MODEL": "", "GATE_BASELINE": "", "GATE_REQUIRE_BASELINE": "false",
             "GATE_SAVE_BASELINE": "auto", "GATE_AGAINST": "", "GATE_ROUNDS": "", "GATE_COMMENT": "always", "GATE_ALLOW_ENV": "", "GATE_ALLOW_HOST": "",
             "GATE_EXTRA_ARGS": "", "GATE_API_KEY": "", "RIG_ARGUMENTS": str(rig.work / "arguments"), "GITHUB_EVENT_NAME": "pull_request",
             "GITHUB_REF": "refs/pull/7/merge"}
    got = Script(rig, "gate", event=event, **{**given, **changed})
    got.arguments = (rig.work / "arguments").read_text().splitlines()
    got.key = (rig.work / "arguments.key").read_text()
    return got


def arguments_reach_the_binary(rig):
    """Inputs reach the binary as they are: no evaluation, no splitting, no value that becomes a flag"""
    fixed = ["check", "--github", "--github-comment", "always", "--yes"]
    rig.expect("the least", gate(rig).arguments == [*fixed, "--", "s.yaml"], gate(rig).arguments)
    got = gate(rig, GATE_ENDPOINT="--help", GATE_MODEL="$(touch pwned) `id` *", GATE_BASELINE="branch:b", GATE_REQUIRE_BASELINE="true", GATE_AGAINST="http://y",
               GATE_ROUNDS="20..40", GATE_ALLOW_ENV="A\nB\n", GATE_ALLOW_HOST="https://h:1", GATE_EXTRA_ARGS="--set\r\nload.seed=1\n\n--header\nx: $HOME; rm -rf *\n",
               GATE_API_KEY="sk-1", RIG_CODE="11")
    rig.expect("all of them", got.arguments == [*fixed, "--endpoint=--help", "--model=$(touch pwned) `id` *", "--baseline=branch:b", "--against=http://y",
               "--rounds=20..40", "--allow-env=A", "--allow-env=B", "--allow-host=https://h:1", "--require-baseline", "--set", "load.seed=1", "--header",
               "x: $HOME; rm -rf *", "--", "s.yaml"], got.arguments)
    rig.expect("the key goes by the environment", got.key == "sk-1" and "sk-1" not in str(got.arguments), got.key)
    rig.expect("exit code and a verdict are outputs even where the binary wrote none", got.code == 0 and got.outputs == {"verdict": "error", "exit-code": "11"}, got.outputs)
    got = gate(rig, RIG_OUTPUT="report-md=goodput-out/report.md", cwd=rig.work / "repo/gate-configs")
    rig.expect("report paths are absolute", got.outputs.get("report-md") == str(rig.work / "repo/gate-configs/goodput-out/report.md"), got.outputs)
    on_main = {"GITHUB_EVENT_NAME": "push", "GITHUB_REF": "refs/heads/main"}
    saves = lambda **more: "--save-baseline" in gate(rig, **more).arguments
    rig.expect("a baseline is saved on the default branch only", saves(**on_main) and not saves() and not saves(GITHUB_EVENT_NAME="push", GITHUB_REF="refs/heads/other")
               and not saves(GITHUB_EVENT_NAME="push", GITHUB_REF="refs/tags/main") and not saves(GITHUB_EVENT_NAME="pull_request_target", GITHUB_REF="refs/heads/main"))
    rig.expect("and not where that is not wanted", not saves(GATE_SAVE_BASELINE="never", **on_main) and not saves(GATE_BASELINE="none", **on_main)
               and not saves(GATE_AGAINST="http://y", **on_main))


def spec_of_the_merge_base(rig):
    """spec-ref: base gives the merge base's spec with its folder, whatever the pull request did to it"""
    find = lambda spec="gate-configs/quickstart.yaml", ref="base", **more: Script(rig, "spec", GATE_SPEC=spec, GATE_SPEC_REF=ref, **more)
    got = find()
    text = Path(got.outputs["spec"]).read_text()
    rig.expect("the strict spec judges", "ttft <= 200ms" in text and "ttft <= 200s" not in text, text)
    rig.expect("files at or below its folder come along", (Path(got.outputs["spec"]).parent / "baselines/quickstart").is_dir())
    rig.expect("from a working directory too", "ttft <= 200ms" in Path(find("./quickstart.yaml", cwd=rig.work / "repo/gate-configs").outputs["spec"]).read_text())
    rig.expect("head is the checkout's", find(ref="head").outputs == {"spec": "gate-configs/quickstart.yaml"})
    rig.expect("a push has no merge base", find(event={}).outputs == {"spec": "gate-configs/quickstart.yaml"})
    queue = {"merge_group": {"base_sha": rig.tip, "head_sha": rig.head}}
    rig.expect("a merge queue has one", "ttft <= 200ms" in Path(find(event=queue).outputs["spec"]).read_text())
    rig.expect("a preset is a preset", find("chat").outputs == {"spec": "chat"})
    rig.expect("a commit by name", "ttft <= 200s" in Path(find(ref=rig.head).outputs["spec"]).read_text())
    got = find(ref="--output=x")
    rig.expect("a ref that looks like a flag is an error", got.code == 2, got.log)
    rig.expect("no way out of the repository", find("../../etc/passwd").code == 2)
    got = find("gate-configs/new.yaml")
    rig.expect("a new spec judges itself, with a warning", got.code == 0 and "::warning" in got.log and got.outputs == {"spec": "gate-configs/new.yaml"}, got.log)
    shallow = json.loads(json.dumps(rig.event))
    shallow["pull_request"]["base"]["sha"] = "1" * 40
    got = find(event=shallow)
    rig.expect("a shallow checkout is told what it needs", got.code == 2 and "fetch-depth: 0" in got.log, got.log)


def release_is_checked(rig):
    """A released binary is installed only with the SHA-256 that the table has"""
    action = rig.work / "elsewhere/.github/action"
    shutil.copytree(ROOT / ".github/action", action)
    binary = rig.work / "release/goodput-gate"
    binary.parent.mkdir()
    binary.write_text("#!/bin/sh\necho released\n")
    binary.chmod(0o755)
    archive = binary.parent / "a.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(binary, "goodput-gate")
    good = hashlib.sha256(archive.read_bytes()).hexdigest()
    quiet = type("Quiet", (SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    server = ThreadingHTTPServer(("127.0.0.1", 0), lambda *a: quiet(*a, directory=str(binary.parent)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}/a.tar.gz"
    install = lambda **more: Script(rig, "install", action=action, **{"GATE_INSTALL": "auto", "GATE_VERSION": "", **more})
    got = install()
    rig.expect("an empty table says so", got.code == 2 and "no released binary" in got.log and "install: source" in got.log, got.log)
    table = (action / "releases.tsv").read_text()
    (action / "releases.tsv").write_text(f"{table}2.0.0\tLinux\tARM64\t{good}\t{url}\n1.1.0\tLinux\tX64\t{good}\t{url}\n1.0.0\tLinux\tX64\t{'0' * 64}\t{url}\n")
    got = install()
    rig.expect("the newest for this machine", got.code == 0 and "goodput-gate 1.1.0" in got.log, got.log)
    ran = subprocess.run([got.outputs["binary"]], capture_output=True, text=True, check=False) if got.code == 0 else None
    rig.expect("it runs, by an absolute path", ran is not None and ran.stdout == "released\n" and got.outputs["binary"].startswith("/"), got.outputs)
    got = install(GATE_VERSION="v1.0.0")
    rig.expect("a wrong checksum is refused", got.code == 70 and "not unpacked" in got.log and "binary" not in got.outputs, got.log)
    rig.expect("an unknown version is an error", install(GATE_VERSION="9.9.9").code == 2)
    rig.expect("another machine is an error", install(RUNNER_OS="Windows").code == 2)
    server.shutdown()


ALL = [inputs_are_checked, fail_on, arguments_reach_the_binary, spec_of_the_merge_base, release_is_checked]
