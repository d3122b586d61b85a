#!/usr/bin/env bash
# The add-on in another version of Blender, the package bpy of PyPI, with our wheel. Needs PyPI.
#
# usage: tests/blender/bpy_test.sh BUILD VERSION
set -euo pipefail
build=$(realpath "$1")
root=$(realpath "$(dirname "$0")/../..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$root/client/python/make_wheel.sh" "$build" "$work/wheels"
/usr/bin/python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check "bpy==$2" "$work"/wheels/*.whl
SINEWD=$build/bin/sinewd "$work/venv/bin/python" "$root/tests/blender/bpy_run.py" "$root/client/blender"
