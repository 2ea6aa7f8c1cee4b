#!/usr/bin/env python3
"""How exact is the client? `goodput-gate run` on one core against the truth server on another; what the gate recorded is compared
with what the server logged of the same requests.

    measure.py --gate BINARY --server BINARY --out FOLDER [--within 1.0] [--attempts 3]

Prints one JSON line an attempt: true and seen values in ms, errors in %. Exit 0 as soon as the P50 of ttft and of tpot are both
within that many per cent. Several attempts, because the machine may be taken away from either side for a while (`stolen_s` and
`busy` say so); a client that is wrong is wrong in all of them.
"""
import argparse
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
from runfile import quantile, requests

SPEC = os.path.join(HERE, "gate.yaml")
TTFT_MS, TPOT_MS, TOKENS, STREAMS, ROUNDS = 200, 20, 100, 64, 6


def pinned(core):
    return lambda: os.sched_setaffinity(0, {core})


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def stolen():
    with open("/proc/stat") as file:
        return int(file.readline().split()[8]) / os.sysconf("SC_CLK_TCK")


def get(url, seconds=30):
    return urllib.request.urlopen(url, timeout=seconds).read()


def wait_ready(url):
    for _ in range(100):
        try:
            return get(url)
        except OSError:
            time.sleep(0.05)
    raise SystemExit("the truth server does not answer")


def attempt(args, cores):
    out, log = os.path.join(args.out, "gate"), os.path.join(os.path.abspath(args.out), "truth.jsonl")
    shutil.rmtree(out, ignore_errors=True)
    port = free_port()
    base = f"http://127.0.0.1:{port}"
    server = subprocess.Popen([args.server, str(port)], preexec_fn=pinned(cores[0]), stdout=subprocess.DEVNULL)
    try:
        wait_ready(f"{base}/_truth/reset?ttft_us={TTFT_MS * 1000}&tpot_us={TPOT_MS * 1000}&tokens={TOKENS}")
        stolen_before, start = stolen(), time.monotonic()
        command = [args.gate, "run", SPEC, "--endpoint", f"{base}/v1", "--no-calibrate", "--out", out, "--quiet"]
        gate = subprocess.Popen(command, preexec_fn=pinned(cores[1]), stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(gate.pid, 0)
        wall = time.monotonic() - start
        get(f"{base}/_truth/dump?path={log}")
    finally:
        server.terminate()
        server.wait()
    if code := os.waitstatus_to_exitcode(status):
        raise SystemExit(f"`run` ended with exit code {code}")

    with open(log, encoding="utf-8") as file:
        truth = [record for record in map(json.loads, file) if not record["aborted"]]
    # The warm-up came first on both sides; the waves are 2 s apart, so the order of arrival tells it.
    truth = sorted(truth, key=lambda record: record["received"])[STREAMS:]
    recorded = requests(os.path.join(out, "run.jsonl.zst"))
    assert all(line["outcome"] == "ok" for line in recorded), [line["error"] for line in recorded if line["outcome"] != "ok"]
    seen = [line for line in recorded if line["round"] is not None]
    assert len(truth) == len(seen) == STREAMS * ROUNDS, f"{len(truth)} requests at the server, {len(seen)} in the run file"
    assert all(len(record["sends"]) == TOKENS for record in truth), "the server wrote another number of tokens"
    wrong = [line["id"] for line in seen if (line["output_tokens"], len(line["itl_ms"])) != (TOKENS, TOKENS - 1)]
    # Two tokens may come in one read on a busy machine, which is not a fault of the client; most must not.
    assert len(wrong) <= len(seen) / 4, f"token counts or gaps are off in {len(wrong)} of {len(seen)} requests"

    report = {"rig": "truth", "streams": STREAMS, "requests": len(seen)}
    firsts = [record["sends"][0] / 1e6 for record in truth]
    paces = [(record["sends"][-1] - record["sends"][0]) / 1e6 / (TOKENS - 1) for record in truth]
    for name, true, got in (("ttft", firsts, [line["ttft_ms"] for line in seen]), ("tpot", paces, [line["tpot_ms"] for line in seen])):
        for q in (0.5, 0.99):
            t, g = quantile(true, q), quantile(got, q)
            report[f"{name}_p{q * 100:.0f}"] = {"true_ms": round(t, 3), "seen_ms": round(g, 3), "error_pct": round(100 * (g - t) / t, 3)}
    tokens = STREAMS * (ROUNDS + 1) * TOKENS
    report |= {
        "cpu_us_per_token": round((usage.ru_utime + usage.ru_stime) * 1e6 / tokens, 2),
        "peak_mb": round(usage.ru_maxrss / 1024, 1),
        "wall_s": round(wall, 2),
        "stolen_s": round(stolen() - stolen_before, 2),
        "busy": round(os.getloadavg()[0], 2),
    }
    print(json.dumps(report), flush=True)
    return all(abs(report[f"{name}_p50"]["error_pct"]) <= args.within for name in ("ttft", "tpot"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gate", required=True)
    parser.add_argument("--server", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--within", type=float, default=1.0)
    parser.add_argument("--attempts", type=int, default=3)
    args = parser.parse_args()
    # A signal must reach the `finally` above.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    cores = sorted(os.sched_getaffinity(0))[:2]
    if len(cores) < 2:
        raise SystemExit("client and server need a core each: this machine gives one")
    if not any(attempt(args, cores) for _ in range(args.attempts)):
        raise SystemExit(f"P50 of ttft or tpot is more than {args.within} % off in each of {args.attempts} attempts")


main()
