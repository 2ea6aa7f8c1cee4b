#!/usr/bin/env bash
# The error rates end to end, on the simulated server with jitter, a tail and bursts: 20 checks of an unchanged server against stored
# runs of it, none failing, and 10 checks with times to first token 1.5 times as long, all failing as a regression (exit 11).
# A build that fails by chance is what this rig is for: nothing is repeated here. What it cannot tell is a rate below one in twenty;
# the seeded calibration of `cargo test` holds those.
set -euo pipefail
RIG=regression
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
need jq
need_gate
OUT=$CACHE/regression
rm -rf "$OUT"
mkdir -p "$OUT"

STORED=5
UNCHANGED=20
SLOWER=10
SPEC=$RIGS/regression/gate.yaml

# server PREFILL SEED: its noise differs by the seed, its load never does.
server() { printf 'sim://queue?prefill=%s&tpot=5ms&slots=48&jitter=0.3&tail=1%%&seed=%s' "$1" "$2"; }

# check NAME PREFILL SEED FLAG…: sets CODE and VERDICT.
check() {
    local name=$1 url
    url=$(server "$2" "$3")
    shift 3
    CODE=0
    "$GATE" check "$SPEC" --endpoint "$url" --yes --quiet --out "$OUT/$name" "$@" >"$OUT/$name.out" 2>"$OUT/$name.err" || CODE=$?
    VERDICT=$(jq -r .verdict "$OUT/$name/verdict.json") || die "$name has no verdict: $(tail -n 5 "$OUT/$name.err")"
}

for run in $(seq "$STORED"); do
    check "stored-$run" 100ms "$run" --baseline none
    [ "$CODE" = 0 ] || die "the stored run $run ended with $CODE: $(head -n 20 "$OUT/stored-$run.out")"
    "$GATE" baseline accept --reason "a run of the unchanged server" --dir "$OUT/baselines" --quiet "$OUT/stored-$run/run.jsonl.zst" >"$OUT/save-$run.out" 2>&1 ||
        die "the stored run $run could not be saved: $(tail -n 5 "$OUT/save-$run.out")"
done

declare -A counts=()
for run in $(seq "$UNCHANGED"); do
    check "unchanged-$run" 100ms "$((100 + run))" --baseline "$OUT/baselines" --require-baseline
    [ "$CODE" = 0 ] || die "unchanged $run ended with $CODE: $(head -n 20 "$OUT/unchanged-$run.out")"
    counts[$VERDICT]=$((${counts[$VERDICT]:-0} + 1))
done
say "unchanged: $UNCHANGED checks, ${counts[pass]:-0} pass, ${counts[inconclusive]:-0} inconclusive, 0 fail"

for run in $(seq "$SLOWER"); do
    check "slower-$run" 150ms "$((200 + run))" --baseline "$OUT/baselines" --require-baseline
    [ "$CODE" = 11 ] || die "slower $run ended with $CODE instead of 11: $(head -n 20 "$OUT/slower-$run.out")"
done
say "time to first token x 1.5: $SLOWER checks, all fail as a regression"
say "ok"
