#!/usr/bin/env bash
# Fails if a corpus does not have the valid inputs that fuzz_seeds writes: bound data of an older version is refused at
# its first number, and the target then tests nothing.
#
#   current.sh FUZZ_SEEDS CORPUS
set -euo pipefail
seeds=$(mktemp -d)
trap 'rm -r "$seeds"' EXIT
"$1" "$seeds"
old=$(diff -rq "$seeds" "$2" | grep -v "^Only in $2" || true)
[[ -z $old ]] || { printf '%s\n%s\n' "$old" "run: $1 $2"; exit 1; }
