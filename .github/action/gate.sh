#!/usr/bin/env bash
# Runs `goodput-gate check`. Ends well whatever the verdict is, so that outputs are whole; conclude.sh sets the job's exit code.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "${BASH_SOURCE[0]%/*}/common.sh"

if [ -n "${GATE_API_KEY:-}" ]; then
  export GOODPUT_API_KEY=$GATE_API_KEY
fi
unset GATE_API_KEY

arguments=(check --github --github-comment "$GATE_COMMENT" --yes)

# A flag with its value, where there is one. One word, so that a value can never become a flag.
with_value() {
  if [ -n "$2" ]; then
    arguments+=("$1=$2")
  fi
}

# A flag for each line that is not empty.
with_each_line() {
  local line
  while IFS= read -r line || [ -n "$line" ]; do
    line=${line%$'\r'}
    with_value "$1" "$line"
  done <<< "$2"
}

with_value --endpoint "$GATE_ENDPOINT"
with_value --model "$GATE_MODEL"
with_value --baseline "$GATE_BASELINE"
with_value --against "$GATE_AGAINST"
with_value --rounds "$GATE_ROUNDS"
with_each_line --allow-env "$GATE_ALLOW_ENV"
with_each_line --allow-host "$GATE_ALLOW_HOST"
if [ "$GATE_REQUIRE_BASELINE" = true ]; then
  arguments+=(--require-baseline)
fi

# Only what is on the default branch becomes a baseline. A pull request's ref is refs/pull/N/merge, and a branch of a fork that is
# called like ours does not run here.
on_default_branch() {
  local default
  default=$(event_field .repository.default_branch)
  case ${GITHUB_EVENT_NAME:-} in
    push | schedule | workflow_dispatch) ;;
    *) return 1 ;;
  esac
  [ "${GITHUB_REF:-}" = "refs/heads/${default:-main}" ]
}
# A run that was made beside another deployment is no baseline for runs that are made alone.
if [ "$GATE_SAVE_BASELINE" = auto ] && [ "$GATE_BASELINE" != none ] && [ -z "$GATE_AGAINST" ] && on_default_branch; then
  arguments+=(--save-baseline)
fi

# As they are: no word splitting, no globbing, no evaluation.
while IFS= read -r line || [ -n "$line" ]; do
  line=${line%$'\r'}
  if [ -n "$line" ]; then
    arguments+=("$line")
  fi
done <<< "$GATE_EXTRA_ARGS"

code=0
"$GATE_BINARY" "${arguments[@]}" -- "$GATE_SPEC" || code=$?

if ! grep -q '^verdict[=<]' "$GITHUB_OUTPUT"; then
  set_output verdict error
fi
set_output exit-code "$code"
# The binary names its files from the working directory; later steps may run elsewhere.
for name in report-json report-html report-md; do
  path=$(sed -n "s/^$name=//p" "$GITHUB_OUTPUT" | tail -n 1)
  case $path in
    '' | /* | [A-Za-z]:*) ;;
    *) set_output "$name" "$PWD/$path" ;;
  esac
done
