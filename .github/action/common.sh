# shellcheck shell=bash
# Shared by the action's scripts. Written for bash 3.2, which is what macOS runners have.

# Text for a workflow command: %, CR and LF would end it or start another.
escape_command() {
  local text=$1
  text=${text//'%'/%25}
  text=${text//$'\r'/%0D}
  text=${text//$'\n'/%0A}
  printf '%s' "$text"
}

# Says what is wrong with how the action was used, and ends as goodput-gate does for a usage error.
usage_error() {
  printf '::error title=goodput-gate::%s\n' "$(escape_command "$1")"
  exit 2
}

warning() {
  printf '::warning title=goodput-gate::%s\n' "$(escape_command "$1")"
}

notice() {
  printf '::notice title=goodput-gate::%s\n' "$(escape_command "$1")"
}

# A step output of one line. A line break in the value could add outputs of its own.
set_output() {
  case $2 in
    *$'\n'* | *$'\r'*) usage_error "the output $1 would hold a line break" ;;
  esac
  printf '%s=%s\n' "$1" "$2" >> "$GITHUB_OUTPUT"
}

# A field of the event's payload by a jq path; empty where there is none.
event_field() {
  if [ -r "${GITHUB_EVENT_PATH:-}" ]; then
    jq -r "($1) // empty" "$GITHUB_EVENT_PATH"
  fi
}
