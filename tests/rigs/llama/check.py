#!/usr/bin/env python3
"""Holds the run files of two checks on one llama.cpp server against what the server itself says.

    check.py URL OUT      OUT/1, OUT/2: the checks' --out; OUT/server.err: the server's log, with `timings` of each request
"""
import json
import os
import re
import sys
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from runfile import lines, quantile, requests

TIMING = re.compile(r"print_timing: id +\d+ \| task (\d+) \| +(prompt eval|eval) time = +([\d.]+) ms / +(\d+) tokens")


def ask(url, words):
    """Usage of a one-token answer to these words."""
    body = {"model": "any", "messages": [{"role": "user", "content": words}], "max_tokens": 1}
    request = urllib.request.Request(url + "/v1/chat/completions", json.dumps(body).encode(), {"content-type": "application/json"})
    return json.load(urllib.request.urlopen(request, timeout=60))["usage"]


def server_log(path):
    """Per request, in the order they ended: prompt tokens computed (without cached ones) and output tokens, with milliseconds."""
    tasks = {}
    with open(path, encoding="utf-8", errors="replace") as file:
        for found in filter(None, map(TIMING.search, file)):
            task, what, ms, tokens = found.groups()
            tasks.setdefault(task, {})[what] = (int(tokens), float(ms))
    return [(t["prompt eval"], t["eval"]) for t in tasks.values() if len(t) == 2]


def of_one_check(folder, log, position, template):
    """Checks one run file; returns its figures and the position in the server's log behind its last request."""
    seen = sorted(requests(folder + "/run.jsonl.zst"), key=lambda r: r["scheduled_ms"] + r["closed_ms"])
    counted = [r for r in seen if r["round"] is not None]
    assert len(counted) == 36, f"{len(counted)} counted requests instead of 12 rounds of 3"
    assert all(r["outcome"] == "ok" for r in seen), [r["error"] for r in seen if r["outcome"] != "ok"]

    with open(folder + "/verdict.json", encoding="utf-8") as file:
        verdict = json.load(file)
    assert (verdict["verdict"], verdict["exit_code"]) == ("pass", 0), verdict["summary"]
    assert {rule["status"] for rule in verdict["rules"]} == {"pass"}, verdict["rules"]

    # Lengths: exactly as asked, on every request, by the server's own count.
    for name in ("input_tokens", "output_tokens"):
        wrong = [(r["id"], r["asked_" + name], r[name]) for r in seen if r["asked_" + name] != r[name]]
        assert not wrong, f"{name}: (id, asked, usage) {wrong}"
    assert {r["token_source"] for r in seen} == {"usage"}, "the server gives usage, but it was not used"
    assert len({r["asked_input_tokens"] for r in counted}) > 5, "the lengths do not vary"

    # Cold: nothing but the start of the chat template was in the server's prefix cache.
    cached = [r["cached_tokens"] for r in seen]
    assert None not in cached, "the server tells its cached tokens, but the run file does not hold them"
    assert max(cached) <= template, f"prefix hits: cached tokens up to {max(cached)}, the chat template is {template}"

    # Times: the server's own log, request by request. It does not see the way through the socket nor the wait for a batch, so
    # ttft may only be longer; decoding is the same span on both sides.
    # Probes come before the first request, so the place is where all token counts agree.
    shape = [(r["input_tokens"] - r["cached_tokens"], r["output_tokens"]) for r in seen]
    served = [(prompt[0], decoded[0]) for prompt, decoded in log]
    starts = [i for i in range(position, len(log) - len(seen) + 1) if sorted(served[i : i + len(seen)]) == sorted(shape)]
    assert len(starts) == 1, f"the server's log does not hold these {len(seen)} requests: {len(starts)} places"
    own = log[starts[0] : starts[0] + len(seen)]
    # Two that end in the same instant may stand in either order: pair by token counts first, then by order.
    pairs = list(zip(sorted(range(len(seen)), key=lambda i: shape[i]), sorted(range(len(own)), key=lambda i: (own[i][0][0], own[i][1][0]))))
    waits = [seen[i]["ttft_ms"] - own[j][0][1] for i, j in pairs]
    decodes = [(seen[i]["e2e_ms"] - seen[i]["ttft_ms"], own[j][1][1]) for i, j in pairs]
    off = [abs(mine - theirs) for mine, theirs in decodes]
    assert min(waits) > -50, f"a ttft is {-min(waits):.0f} ms shorter than the server's own prefill"
    assert quantile(waits, 0.5) < 1500, f"ttft is {quantile(waits, 0.5):.0f} ms over the server's own prefill at the median"
    assert quantile(off, 0.5) < 20 + 0.05 * quantile([theirs for _, theirs in decodes], 0.5), f"decode times differ: {sorted(off)}"

    level = verdict["levels"][0]
    recomputed = quantile([r["ttft_ms"] for r in counted], 0.5), quantile([r["tpot_ms"] for r in counted if r["tpot_ms"] is not None], 0.5)
    for name, value in zip(("ttft_ms", "tpot_ms"), recomputed):
        assert abs(level[name]["p50"] - value) <= 0.002 * value, f"{name} p50 {level[name]['p50']} reported, {value} in the run file"
    figures = {
        "requests": len(seen),
        "input_tokens": sum(r["input_tokens"] for r in seen),
        "output_tokens": sum(r["output_tokens"] for r in seen),
        "cached_max": max(cached),
        "ttft_p50_ms": round(recomputed[0], 1),
        "tpot_p50_ms": round(recomputed[1], 2),
        "ttft_over_prefill_p50_ms": round(quantile(waits, 0.5), 1),
        "decode_off_p50_ms": round(quantile(off, 0.5), 2),
    }
    return figures, starts[0] + len(seen)


def main():
    url, out = sys.argv[1:]
    log = server_log(out + "/server.err")
    template = ask(url, "the")["prompt_tokens"] - 1

    position, lengths = 0, []
    for run in ("1", "2"):
        figures, position = of_one_check(f"{out}/{run}", log, position, template)
        print(json.dumps({"rig": "llama", "check": int(run), "template_tokens": template, **figures}), flush=True)
        lengths.append([(r["asked_input_tokens"], r["asked_output_tokens"]) for r in sorted(requests(f"{out}/{run}/run.jsonl.zst"), key=lambda r: r["id"])])
    assert lengths[0] == lengths[1], "one seed, but the two checks sent different lengths"
    digests = [lines(f"{out}/{run}/run.jsonl.zst")[0]["workload"]["digest"] for run in ("1", "2")]
    assert digests[0] == digests[1], f"one spec, but two workload digests: {digests}"

    # The control: this server does cache, and says so. Without it "no hits" would prove nothing.
    again = "the same words sent twice are found in the cache of the server " * 10
    ask(url, again)
    usage = ask(url, again)
    hit = usage["prompt_tokens_details"]["cached_tokens"]
    assert hit > usage["prompt_tokens"] / 2, f"a repeated prompt of {usage['prompt_tokens']} tokens had {hit} cached: the rig proves nothing"
    print(json.dumps({"rig": "llama", "control_prompt_tokens": usage["prompt_tokens"], "control_cached_tokens": hit}))


main()
