#!/usr/bin/env bash
# What bash offers for sinew. Of the functions for zsh only the syntax is checked, where zsh is installed.
#
# usage: completion_test.sh FOLDER_OF_SINEW FOLDER_OF_COMPLETIONS
set -euo pipefail
PATH=$1:$PATH
completions=$2
failed=0

# check LINE WORD...: at the end of the line these words are offered, among others.
check() {
  local line=$1 offered word
  shift
  offered=$(offers "$line")
  for word in "$@"; do
    grep -qx -- "$word" <<<"$offered" && continue
    echo "'$line' offers no $word, but: $(tr '\n' ' ' <<<"$offered")"
    failed=1
  done
}

offers() {
  bash -c '
    source "$1"
    read -ra COMP_WORDS <<<"$2"
    [[ $2 != *" " ]] || COMP_WORDS+=("")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _sinew
    printf "%s\n" "${COMPREPLY[@]}"' - "$completions/sinew.bash" "$1"
}

check "sinew " bake inspect doctor help
check "sinew ba" bake
check "sinew help we" weights
check "sinew bake --s" --server --split --space
check "sinew --server here:1 bake --sp" --split --space
check "sinew bake hero.glb --space " model object
check "sinew bake --axes b" blender
check "sinew inspect --unweighted " refuse root nearest still
[[ $(offers "sinew ba") == bake ]] || failed=1
[[ -z $(offers "sinew bake he") ]] || failed=1  # files, by bash itself
if command -v zsh >/dev/null; then
  zsh -n "$completions/_sinew" || failed=1
fi
exit $failed
