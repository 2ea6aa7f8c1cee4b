#!/usr/bin/env bash
# What the client costs and how exact it is, beside a plain client in the same run, as the table of docs/performance.md. Prints; judges
# nothing, and is no part of .ci/run: a busy machine would decide.
set -euo pipefail
RIG=bench
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need cargo

venv tools zstandard
need_gate
CARGO_TARGET_DIR=$CACHE/truth-target cargo build --release --locked --quiet --manifest-path "$RIGS/truth/Cargo.toml" ||
    die "the truth server does not build (crates.io out of reach?)"
mkdir -p "$CACHE/bench"
TRUTH=$CACHE/truth-target/release
"$PYTHON" "$RIGS/truth/bench.py" --gate "$GATE" --server "$TRUTH/truth-server" --plain "$TRUTH/plain-client" --out "$CACHE/bench"
