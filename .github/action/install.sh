#!/usr/bin/env bash
# Puts goodput-gate somewhere and gives its absolute path to later steps as the output `binary`; nothing is added to PATH.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "${BASH_SOURCE[0]%/*}/common.sh"

here=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
root=$(cd "$here/../.." && pwd)
table=$here/releases.tsv

sha256_of() {
  if command -v sha256sum > /dev/null; then
    sha256sum "$1" | cut -d ' ' -f 1
  else
    shasum -a 256 "$1" | cut -d ' ' -f 1
  fi
}

executable_name() {
  if [ "${RUNNER_OS:-}" = Windows ]; then echo goodput-gate.exe; else echo goodput-gate; fi
}

# The rows are: version, RUNNER_OS, RUNNER_ARCH, SHA-256 of the archive, its URL. The first that fits is the newest.
from_release() {
  local version=$1 row_version row_os row_arch row_sha row_url url="" sha=""
  while read -r row_version row_os row_arch row_sha row_url; do
    case $row_version in '#'* | '') continue ;; esac
    if [ "$row_os" = "${RUNNER_OS:-}" ] && [ "$row_arch" = "${RUNNER_ARCH:-}" ] &&
      { [ -z "$version" ] || [ "$row_version" = "$version" ]; }; then
      version=$row_version sha=$row_sha url=$row_url
      break
    fi
  done < "$table"
  if [ -z "$url" ]; then
    usage_error "no released binary${version:+ $version} for ${RUNNER_OS:-?} ${RUNNER_ARCH:-?} in this revision of the action; use \`install: source\`, which needs a Rust toolchain"
  fi
  local folder archive actual
  folder=$(mktemp -d "${RUNNER_TEMP:-/tmp}/goodput-gate.XXXXXX")
  archive=$folder/archive.tar.gz
  curl --fail --silent --show-error --location --retry 3 --max-time 300 --max-filesize 268435456 \
    --proto '=http,https' --output "$archive" -- "$url"
  actual=$(sha256_of "$archive")
  if [ "$actual" != "$sha" ]; then
    printf '::error title=goodput-gate::%s\n' "$(escape_command "the downloaded archive has SHA-256 $actual, not $sha as this action's table says; it was not unpacked")"
    exit 70
  fi
  tar -xzf "$archive" -C "$folder" "$(executable_name)"
  rm -f "$archive"
  set_output binary "$folder/$(executable_name)"
  echo "goodput-gate $version, SHA-256 of its archive checked"
}

# Built in the action's own folder: a .cargo/config.toml of the repository under test must not have a say.
from_source() {
  if ! command -v cargo > /dev/null; then
    usage_error "\`install: source\` needs a Rust toolchain, and there is no cargo on the runner's PATH"
  fi
  (cd "$root" && cargo build --release --locked --bin goodput-gate --target-dir "$root/target")
  set_output binary "$root/target/release/$(executable_name)"
}

from_path() {
  local found
  if ! found=$(command -v goodput-gate); then
    usage_error "\`install: path\`, and there is no goodput-gate on the runner's PATH"
  fi
  set_output binary "$found"
}

case $GATE_INSTALL in
  release) from_release "${GATE_VERSION#v}" ;;
  source) from_source ;;
  path) from_path ;;
  auto)
    if [ -z "$GATE_VERSION" ] && [ "$root" -ef "${GITHUB_WORKSPACE:-/nowhere}" ]; then
      from_source
    else
      from_release "${GATE_VERSION#v}"
    fi
    ;;
esac
