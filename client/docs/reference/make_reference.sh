#!/usr/bin/env bash
# Makes the reference of the protocol, of the C++ client and of the Python package from their comments.
#
# usage: client/docs/reference/make_reference.sh BUILD [protocol|cpp|python]...     (default: all)
# Writes BUILD/reference/PART/index.html. Exit code: 1 something public has no description (buf lint tells for the
# protocol), 77 a tool is missing: deploy/install-deps.sh reference. Tools that Debian does not have go into
# BUILD/reference/tools: from the Go module proxy, checked by Go against sum.golang.org, and from PyPI.
set -euo pipefail
[[ $# -ge 1 ]] || {
  sed -n '2,7s/^# \{0,1\}//p' "$0" >&2
  exit 64
}
out=$(realpath "$1")/reference
package=$(realpath "$1")/python
shift
[[ $# -ge 1 ]] || set -- protocol cpp python
here=$(realpath "$(dirname "$0")")
cd "$here/../../.."

# Skips, as a test, unless the program is there.
need() {
  command -v "$1" >/dev/null && return
  echo "skipped: $1 is not installed (deploy/install-deps.sh reference)"
  exit 77
}

make_protocol() {
  local plugin=$out/tools/bin/protoc-gen-doc
  if [[ ! -x $plugin ]]; then
    PATH=$PATH:/usr/local/go/bin:/usr/lib/go/bin
    need go
    GOPATH=$out/tools GOFLAGS=-modcacherw go install github.com/pseudomuto/protoc-gen-doc/cmd/protoc-gen-doc@v1.5.1
  fi
  need protoc
  protoc -I proto --plugin="$plugin" --doc_out="$out/protocol" --doc_opt=html,index.html proto/sinew/v1/*.proto
}

make_cpp() {
  need doxygen
  doxygen - <<END
$(<"$here/Doxyfile")
OUTPUT_DIRECTORY = $out
HTML_OUTPUT = cpp
WARN_LOGFILE = $out/cpp.log
END
  # A variable that its name, its type and the description of its struct explain needs no other.
  ! grep -v ' (variable) of struct .* is not documented' "$out/cpp.log" >&2
}

make_python() {
  local tools=$out/tools/python
  if [[ ! -x $tools/bin/pdoc ]]; then
    /usr/bin/python3 -m venv --system-site-packages "$tools"  # numpy is Debian's
    "$tools/bin/pip" install --quiet --disable-pip-version-check --require-hashes -r "$here/requirements.txt"
  fi
  "$tools/bin/python" -B "$here/python_reference.py" "$package" "$out/python"
}

for part in "$@"; do
  rm -rf "${out:?}/$part"
  mkdir -p "$out/$part"
  "make_$part"
  echo "$out/$part/index.html"
done
