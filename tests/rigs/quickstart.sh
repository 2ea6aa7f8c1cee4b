#!/usr/bin/env bash
# The README's examples, as they stand there (with --out, so that nobody's own goodput-out is touched): each must end with the
# exit code that its comment gives, and every file that it writes must be one that other parsers read.
set -euo pipefail
RIG=quickstart
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need cargo python3

venv tools zstandard
need_gate
OUT=$CACHE/quickstart
rm -rf "$OUT"
mkdir -p "$OUT"
mapfile -t EXAMPLES < <(python3 "$RIGS/readme.py" README.md)
codes=
for i in "${!EXAMPLES[@]}"; do
    read -r code example <<<"${EXAMPLES[i]}"
    words=()
    eval "words=($example)" # the README is ours: its quoting is read as a shell reads it
    SECONDS=0
    expect "$code" "$OUT/$i" "$GATE" "${words[@]}" --out "$OUT/$i.files"
    say "exit $code after $SECONDS s"
    "$PYTHON" "$RIGS/outputs.py" "$OUT/$i.files" "$code" || die "its files are not right (above)"
    codes+=" $code"
done
for code in 0 10 11; do
    [[ " $codes " == *" $code "* ]] || die "README.md has no example that ends with exit $code (found:$codes)"
done
say "ok"
