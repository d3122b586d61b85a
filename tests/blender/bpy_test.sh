#!/usr/bin/env bash
# The extension in another version of Blender, the package bpy of PyPI. Needs PyPI.
#
# usage: tests/blender/bpy_test.sh BUILD VERSION
set -euo pipefail
build=$(realpath "$1")
root=$(realpath "$(dirname "$0")/../..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --build "$build" --target sinew_blender_extension
/usr/bin/python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check "bpy==$2"
scripts=$(echo "$work"/venv/lib/python3*/site-packages/bpy/*/scripts)
"$work/venv/bin/python" "$scripts/addons_core/bl_pkg/cli/blender_ext.py" validate "$build/sinew_blender_extension.zip"
SINEWD=$build/bin/sinewd "$work/venv/bin/python" "$root/tests/blender/bpy_run.py" "$build/sinew_blender_extension.zip" \
  addon_test server_test render_test accuracy_test.Files
