#!/usr/bin/env bash
# Gives the path of the spec that judges as the output `spec`: the checkout's, or the merge base's in a folder of its own.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "${BASH_SOURCE[0]%/*}/common.sh"

take_from_checkout() {
  set_output spec "$GATE_SPEC"
  exit 0
}

case $GATE_SPEC_REF in
  '' | head) take_from_checkout ;;
esac

# A preset is part of the binary: no pull request can change it.
case $GATE_SPEC in
  */* | *.*) ;;
  *) [ -e "$GATE_SPEC" ] || take_from_checkout ;;
esac

if [ "$GATE_SPEC_REF" = base ]; then
  base=$(event_field '.pull_request.base.sha // .merge_group.base_sha')
  head=$(event_field '.pull_request.head.sha // .merge_group.head_sha')
  if [ -z "$base" ] || [ -z "$head" ]; then
    echo "no pull request and no merge queue: the spec of the checkout judges"
    take_from_checkout
  fi
  for commit in "$base" "$head"; do
    if ! git cat-file -e "$commit^{commit}" 2> /dev/null; then
      usage_error "spec-ref: base needs the commit $commit, which is not in the checkout; give actions/checkout \`fetch-depth: 0\`"
    fi
  done
  if ! commit=$(git merge-base "$base" "$head"); then
    usage_error "spec-ref: base found no merge base of $base and $head; give actions/checkout \`fetch-depth: 0\`"
  fi
elif ! commit=$(git rev-parse --verify --quiet --end-of-options "$GATE_SPEC_REF^{commit}"); then
  usage_error "spec-ref '$GATE_SPEC_REF' is neither base, head nor a commit in the checkout"
fi

# The spec's path from the repository's top, with . and .. resolved as text. It may not exist in the checkout any more.
top=$(git rev-parse --show-toplevel)
case $GATE_SPEC in
  /*) path=${GATE_SPEC#"$top"/} ;;
  *) path=$(git rev-parse --show-prefix)$GATE_SPEC ;;
esac
normal=
IFS=/ read -r -a parts <<< "$path"
for part in "${parts[@]}"; do
  case $part in
    '' | .) ;;
    ..) usage_error "with spec-ref, spec lies in the repository and has no '..'" ;;
    *) normal=$normal/$part ;;
  esac
done
path=${normal#/}

if ! git cat-file -e "$commit:$path" 2> /dev/null; then
  if [ "$GATE_SPEC_REF" != base ]; then
    usage_error "commit $commit has no file $path"
  fi
  warning "$path is new: the merge base $commit does not have it, so this pull request is judged by its own spec"
  take_from_checkout
fi

# The whole folder, for a spec may name files at or below its own; git's index gives them without export attributes.
folder=$(mktemp -d "${RUNNER_TEMP:-/tmp}/goodput-gate-spec.XXXXXX")
case $path in
  */*) tree=$commit:${path%/*} ;;
  *) tree=$commit ;;
esac
index=$(mktemp -u "${RUNNER_TEMP:-/tmp}/goodput-gate-index.XXXXXX")
GIT_INDEX_FILE=$index git read-tree "$tree"
(cd "$top" && GIT_INDEX_FILE=$index git checkout-index --all --quiet --prefix="$folder/")
rm -f "$index"

if [ -f "$path" ] && ! cmp -s "$top/$path" "$folder/${path##*/}"; then
  notice "this pull request changes $path; the spec of $commit judges until it is merged"
fi
echo "the spec $path of commit $commit judges"
set_output spec "$folder/${path##*/}"
