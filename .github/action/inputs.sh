#!/usr/bin/env bash
# Masks the key, checks every input that is one of a few words, and decides whether the gate is to run.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "${BASH_SOURCE[0]%/*}/common.sh"

# First of all: from here on the runner hides it in every log.
if [ -n "${GATE_API_KEY:-}" ]; then
  case $GATE_API_KEY in
    *$'\n'* | *$'\r'*) usage_error "api-key holds a line break" ;;
  esac
  printf '::add-mask::%s\n' "$(escape_command "$GATE_API_KEY")"
fi

one_of() {
  local name=$1 value=$2 word
  shift 2
  for word in "$@"; do
    if [ "$value" = "$word" ]; then
      return
    fi
  done
  usage_error "the input $name is '$value'; it can be: $*"
}

one_of require-baseline "$GATE_REQUIRE_BASELINE" true false
one_of save-baseline "$GATE_SAVE_BASELINE" auto never
one_of comment "$GATE_COMMENT" always on-change on-fail never
one_of fail-on "$GATE_FAIL_ON" inconclusive fail never
one_of on-missing-endpoint "$GATE_ON_MISSING_ENDPOINT" fail skip
one_of install "$GATE_INSTALL" auto release source path

# `required: true` is not enforced by runners.
if [ -z "$GATE_SPEC" ]; then
  usage_error "the input spec is empty; it names a spec file or a preset"
fi
for value in "$GATE_SPEC" "$GATE_SPEC_REF" "$GATE_VERSION" "$GATE_WORKING_DIRECTORY"; do
  case $value in
    -*) usage_error "'$value' begins with a dash" ;;
    *$'\n'*) usage_error "spec, spec-ref, version and working-directory are one line each" ;;
  esac
done
if [ ! -d "$GATE_WORKING_DIRECTORY" ]; then
  usage_error "there is no folder '$GATE_WORKING_DIRECTORY' (working-directory); does actions/checkout come before this action?"
fi

if [ -n "$GATE_ENDPOINT" ] || [ "$GATE_ON_MISSING_ENDPOINT" = fail ]; then
  set_output run true
  exit 0
fi

# Not a pass: nothing was measured, and whoever reads the outputs can see it.
set_output run false
set_output verdict not_run
head=$(event_field .pull_request.head.repo.full_name)
author=$(event_field .pull_request.user.login)
if [ -n "$head" ] && [ "$head" != "${GITHUB_REPOSITORY:-}" ]; then
  why="pull requests from forks get no secrets, so there is no endpoint to measure"
  notice "not run: $why"
elif [ "$author" = "dependabot[bot]" ]; then
  why="Dependabot's pull requests get none of the Actions secrets, so there is no endpoint to measure"
  notice "not run: $why"
else
  why="the input endpoint is empty, and this is not a fork's pull request: is the secret set?"
  warning "not run: $why"
fi
printf '### goodput-gate: NOT RUN\n\n%s.\n' "$why" >> "${GITHUB_STEP_SUMMARY:-/dev/null}"
