#!/usr/bin/env python3
"""What the client costs and how exact it is, beside a plain client in the same run: one row a level, as a Markdown table.

    bench.py --gate BINARY --server BINARY --plain BINARY --out FOLDER

Server on one core, client on another. Errors are what the client says minus what the server logged, at P99. A busy machine changes
both clients alike: the ratio is what to look at.
"""
import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
from runfile import quantile, requests

SPEC = """version: 1
name: truth
target: {{ url: "http://127.0.0.1:{port}/v1", model: truth }}
workload: {{ lengths: {{ input: constant(16), output: constant({tokens}) }} }}
load: {{ concurrency: {streams}, levels: [1x], rounds: {waves}, round: {streams} requests, warmup: 0 requests }}
slo: {{ require: [errors <= 100%] }}
"""
# streams, TTFT ms, gap ms, tokens, tokens a write, waves
LEVELS = [(64, 200, 20, 100, 1, 4), (256, 200, 20, 100, 1, 4), (512, 200, 20, 100, 1, 4), (2048, 200, 100, 40, 1, 2), (16, 0, 0, 20000, 64, 4)]


def pinned(core):
    return lambda: os.sched_setaffinity(0, {core})


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def get(url, seconds=30):
    return urllib.request.urlopen(url, timeout=seconds).read()


def wait_ready(url):
    for _ in range(100):
        try:
            return get(url)
        except OSError:
            time.sleep(0.05)
    raise SystemExit("the truth server does not answer")


def measured(command, core):
    """CPU seconds, peak MB and stdout of a command."""
    child = subprocess.Popen(command, preexec_fn=pinned(core), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    text = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    if os.waitstatus_to_exitcode(status):
        raise SystemExit(f"{command[0]} ended with exit code {os.waitstatus_to_exitcode(status)}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, text


def side(args, level, cores, client):
    streams, ttft, gap, tokens, batch, waves = level
    port, log = free_port(), os.path.join(os.path.abspath(args.out), "truth.jsonl")
    base = f"http://127.0.0.1:{port}"
    server = subprocess.Popen([args.server, str(port)], preexec_fn=pinned(cores[0]), stdout=subprocess.DEVNULL)
    try:
        wait_ready(f"{base}/_truth/reset?ttft_us={ttft * 1000}&tpot_us={gap * 1000}&tokens={tokens}&batch={batch}")
        if client == "gate":
            out, spec = os.path.join(args.out, "gate"), os.path.join(args.out, "bench.yaml")
            shutil.rmtree(out, ignore_errors=True)
            with open(spec, "w", encoding="utf-8") as file:
                file.write(SPEC.format(port=port, tokens=tokens, streams=streams, waves=waves))
            cpu, peak, _ = measured([args.gate, "run", spec, "--no-calibrate", "--out", out, "--quiet"], cores[1])
            seen = [line for line in requests(os.path.join(out, "run.jsonl.zst")) if line["outcome"] == "ok"]
            first, between = quantile([line["ttft_ms"] for line in seen], 0.99), quantile([g for line in seen for g in line["itl_ms"]], 0.99)
        else:
            cpu, peak, text = measured([args.plain, str(port), str(streams), str(streams * waves), str(tokens)], cores[1])
            first, between = json.loads(text)["ttft_p99"], json.loads(text)["gap_p99"]
        get(f"{base}/_truth/dump?path={log}", 60)
    finally:
        server.terminate()
        server.wait()
    with open(log, encoding="utf-8") as file:
        truth = [record for record in map(json.loads, file) if not record["aborted"]]
    written = sum(len(record["sends"]) for record in truth)
    begun, ended = min(r["received"] for r in truth), max(r["received"] + r["sends"][-1] for r in truth)
    true_first = quantile([r["sends"][0] / 1e6 for r in truth], 0.99)
    true_gap = quantile([(b - a) / 1e6 for r in truth for a, b in zip(r["sends"], r["sends"][1:])], 0.99)
    return {
        "cpu": cpu * 1e6 / written,
        "peak": peak,
        "rate": written / ((ended - begun) / 1e9),
        "ttft": 100 * (first - true_first) / true_first if ttft else None,
        "gap": 100 * (between - true_gap) / true_gap if gap else None,
        "delivered": sum(r["sends"][-1] for r in truth) / (ended - begun) / streams,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("gate", "server", "plain", "out"):
        parser.add_argument(f"--{name}", required=True)
    args = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))[:2]
    if len(cores) < 2:
        raise SystemExit("client and server need a core each: this machine gives one")
    print("| streams | gap | TTFT P99 error: ours / plain | gap P99 error: ours / plain | load delivered | CPU µs a token: ours / plain (ratio) | tokens/s: ours / plain | peak MB |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    percent = lambda value: "–" if value is None else f"{value:+.1f} %"
    for level in LEVELS:
        ours, plain = side(args, level, cores, "gate"), side(args, level, cores, "plain")
        print(
            f"| {level[0]} | {level[2]} ms | {percent(ours['ttft'])} / {percent(plain['ttft'])} | {percent(ours['gap'])} / {percent(plain['gap'])} "
            f"| {100 * ours['delivered']:.1f} % / {100 * plain['delivered']:.1f} % | {ours['cpu']:.1f} / {plain['cpu']:.1f} ({ours['cpu'] / plain['cpu']:.2f}) "
            f"| {ours['rate'] / 1e3:.0f} k / {plain['rate'] / 1e3:.0f} k | {ours['peak']:.0f} / {plain['peak']:.0f} |",
            flush=True,
        )


main()
