# shellcheck shell=bash
# What every rig shares. Sourced after `set -euo pipefail`; leaves the shell in the repository's root.

RIGS=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
REPO=$(cd "$RIGS/../.." && pwd)
CACHE=$RIGS/.cache # ignored by git: environments, the model, build output, each rig's last files
GATE=${GATE:-$REPO/target/release/goodput-gate}
export CARGO_BUILD_JOBS="${CARGO_BUILD_JOBS:-2}" PIP_DISABLE_PIP_VERSION_CHECK=1
mkdir -p "$CACHE"
cd "$REPO" || exit

say() { printf '%s: %s\n' "${RIG:-rig}" "$*" >&2; }

# A rig that cannot run has failed: nobody reads "skipped".
die() {
    say "FAIL: $*"
    exit 1
}

need() {
    local tool
    for tool in "$@"; do
        command -v "$tool" >/dev/null || die "$tool is not installed here"
    done
}

need_gate() {
    [ -x "$GATE" ] && return
    say "building the release binary"
    cargo build --release --locked || die "the release binary does not build"
}

# Everything a rig starts goes through `start`, and is ended by its own pid however the rig ends.
STARTED=()
start() {
    local log=$1
    shift
    "$@" >"$log.out" 2>"$log.err" &
    STARTED+=("$!")
}
stop_all() {
    local pid
    for pid in ${STARTED[@]+"${STARTED[@]}"}; do
        kill "$pid" 2>/dev/null || true
    done
    for pid in ${STARTED[@]+"${STARTED[@]}"}; do
        # Ten seconds to leave, so that a hanging server cannot hold up CI.
        for _ in $(seq 100); do
            kill -0 "$pid" 2>/dev/null || break
            sleep 0.1
        done
        kill -9 "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
    STARTED=()
}
trap stop_all EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# venv NAME PACKAGE…: a Python environment of that name that holds these packages; sets PYTHON. Kept between runs, made anew
# where the list of packages changed.
venv() {
    local folder=$CACHE/$1-venv
    shift
    PYTHON=$folder/bin/python
    [ "$(cat "$folder/installed" 2>/dev/null)" = "$*" ] && return
    need python3
    say "installing $* into ${folder#"$REPO"/}"
    rm -rf "$folder"
    python3 -m venv "$folder" || die "python3 -m venv does not work here (Debian, Ubuntu: apt-get install python3-venv)"
    "$PYTHON" -m pip install --quiet --retries 2 --timeout 30 "$@" >&2 ||
        die "pip could not install $*: no package index in reach, or no build for this machine (its message stands above)"
    printf '%s' "$*" >"$folder/installed"
}

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# expect CODE LOG COMMAND…: runs it, shows its output, and dies unless it ends with that code.
expect() {
    local wanted=$1 log=$2 code=0
    shift 2
    say "\$ ${*#"$REPO"/}"
    "$@" >"$log.out" 2>"$log.err" || code=$?
    sed 's/^/    /' "$log.out" >&2
    [ "$code" = "$wanted" ] && return
    tail -n 40 "$log.err" | sed 's/^/    /' >&2
    die "exit code $code where $wanted was expected"
}
