#!/usr/bin/env bash
# The README's examples, as they stand there, and every file that they write. A line of the README that begins with
# `cargo run --release -- check` is run; its comment `# exit N` says how it must end (0 without one).
set -euo pipefail
RIG=quickstart
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need cargo python3

venv tools zstandard
need_gate
mapfile -t EXAMPLES < <(sed -n 's/^ *\(\$ \)\{0,1\}cargo run --release -- check /check /p' README.md)
OUT=$CACHE/quickstart
rm -rf "$OUT"
mkdir -p "$OUT"
codes=
for i in "${!EXAMPLES[@]}"; do
    example=${EXAMPLES[i]}
    code=0
    [[ $example =~ \#.*exit\ (code\ )?([0-9]+) ]] && code=${BASH_REMATCH[2]}
    # The README is ours: its quoting is read as a shell reads it, and a comment is a comment.
    words=()
    eval "words=(${example%%  #*})"
    rm -rf goodput-out
    SECONDS=0
    expect "$code" "$OUT/$i" "$GATE" "${words[@]}"
    say "exit $code after $SECONDS s"
    "$PYTHON" "$RIGS/outputs.py" goodput-out "$code"
    mv goodput-out "$OUT/$i.files"
    codes+=" $code"
done
for code in 0 10 11; do
    [[ " $codes " == *" $code "* ]] || die "README.md has no example that ends with exit $code (found:$codes)"
done
say "ok"
