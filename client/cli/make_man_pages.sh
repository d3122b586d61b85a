#!/usr/bin/env bash
# Makes man pages from --help, by help2man: sinew(1), a page for each of its commands, and sinewd(8).
#
# usage: client/cli/make_man_pages.sh FOLDER SINEW SINEWD    SINEW, SINEWD: the programs
set -euo pipefail
folder=$1 sinew=$2 sinewd=$3
version=$("$sinew" --version | cut -d ' ' -f 2)

# page SECTION NAME PURPOSE PROGRAM ARGUMENT...
page() {
  local section=$1 name=$2 purpose=$3
  shift 3
  # Each example becomes a paragraph, as help2man fills the lines of one.
  printf '#!/bin/sh\n%s "$@" | awk %s\n' "$*" "'/^Examples:/ { print \"\"; apart = 1 } { print } apart { print \"\" }'" >"$work/$name"
  chmod +x "$work/$name"
  help2man --no-info --section "$section" --name "$purpose" --version-string "$version" --output "$work/man/man$section/$name.$section" \
    "$work/$name"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/man/man{1,8}
page 1 sinew "deform rigged characters with a Sinew server" "$sinew"
page 8 sinewd "serve skin deformation over gRPC" "$sinewd"
"$sinew" --help | sed -nE 's/^  ([a-z]+)  +(.*)/\1 \2/p' | while read -r command purpose; do
  page 1 "sinew-$command" "$purpose" "$sinew" "$command"
done
mkdir -p "$folder"
cp -r "$work"/man/* "$folder"
