#!/usr/bin/env bash
# Is what the gate reports true? Its P50 of TTFT and TPOT at 64 streams against the log of a server that paces exactly.
set -euo pipefail
RIG=truth
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
need cargo

venv tools zstandard
need_gate
CARGO_TARGET_DIR=$CACHE/truth-target cargo build --release --locked --quiet --manifest-path "$RIGS/truth/Cargo.toml" ||
    die "the truth server does not build (crates.io out of reach?)"
mkdir -p "$CACHE/truth"
"$PYTHON" "$RIGS/truth/measure.py" --gate "$GATE" --server "$CACHE/truth-target/release/truth-server" --out "$CACHE/truth" ||
    die "see the line above"
say "ok"
