#!/usr/bin/env bash
# The wheel, as a user installs it: into a new virtual environment, for a first frame. Needs PyPI.
#
# usage: tests/python/wheel_test.sh BUILD
set -euo pipefail
build=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$here/../../client/python/make_wheel.sh" "$build" "$work/wheels"
/usr/bin/python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check "$work"/wheels/*.whl
cd "$work"  # nothing of the tree is in the path
# No library but those of the wheel itself and those that every Linux has, as the manylinux policy lists them.
module=$(echo "$work"/venv/lib/python3*/site-packages/sinew/_sinew.*.so)
ldd "$module" | grep -vE "$work|linux-vdso|ld-linux|/lib(c|m|dl|pthread|rt|gcc_s|stdc\+\+|z)\.so" >others || true
[[ ! -s others ]] || {
  echo "wheel_test: the module needs libraries of the system:" >&2
  cat others >&2
  exit 1
}
time "$work/venv/bin/python" - <<'END'
import numpy as np
import sinew

hand = sinew.load("model:hand")
poses = hand.clips["fist"].poses(fps=24)
with sinew.local() as client:
    frames = client.character(hand, "ddm").clip(poses)
assert frames.shape == (48, 9140, 3) and np.isfinite(frames).all()
image = sinew.render(hand, {"rest": frames[0], "fist": frames[23]}, width=100, height=100)
assert image.std() > 10
print("first frame", frames[23].mean(axis=0))
END
