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
ldd "$module" | grep -vE "$work|linux-vdso|ld-linux|/lib(c|m|dl|pthread|resolv|rt|gcc_s|stdc\+\+|z)\.so" >others || true
[[ ! -s others ]] || {
  echo "wheel_test: the module needs libraries of the system:" >&2
  cat others >&2
  exit 1
}
[[ $("$work/venv/bin/python" -c 'import sinew.v1' 2>&1) == *"needs protobuf and grpcio"* ]] || {
  echo "wheel_test: sinew.v1 without protobuf and grpcio does not say what it needs" >&2
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

# The server of tests, and the programs, of the wheel alone.
cat >test_wheel.py <<'END'
import sinew
from sinew.testing import sinew_server


def test_server_is_in_the_wheel(sinew_server):
    with sinew.connect(sinew_server.address) as client:
        assert client.stats().version == sinew.__version__
END
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pytest
(unset SINEWD; PATH=/usr/bin:/bin "$work/venv/bin/python" -m pytest -q test_wheel.py)
"$work/venv/bin/sinew" --local bake model:tube --deformer lbs --out tube.npy -q && [[ -s tube.npy ]]
"$work/venv/bin/sinewd" --version
if [[ -d $build/share/sinew/web ]]; then  # else the wheel has no page
  "$work/venv/bin/python" "$here/../web/answers.py" --start "$work/venv/bin/sinewd"
fi

# sinew.v1, with the newest packages that pip chooses, and with Google's own messages of error details.
pip() { "$work/venv/bin/pip" install --quiet --disable-pip-version-check "$@"; }
pip "$(echo "$work"/wheels/*.whl)[v1]"
shipped=$("$work/venv/bin/python" -c 'from sinew.v1 import google_rpc; print(google_rpc.status_pb2.__name__)')
[[ $shipped == sinew.v1._shipped.google.rpc.status_pb2 ]]
pip googleapis-common-protos
SINEWD=$build/bin/sinewd "$work/venv/bin/python" - <<'END'
from importlib import metadata

import grpc
import sinew
from sinew.testing import Server
from sinew.v1 import google_rpc, info_service_pb2, info_service_pb2_grpc

assert google_rpc.status_pb2.__name__ == "google.rpc.status_pb2", google_rpc.status_pb2
with Server() as server, grpc.insecure_channel(server.address) as channel, sinew.connect(server.address) as client:
    info = info_service_pb2_grpc.InfoServiceStub(channel).GetServerInfo(info_service_pb2.GetServerInfoRequest())
    assert info.version == client.stats().version, info
print("sinew.v1 with", *(f"{name} {metadata.version(name)}" for name in ("protobuf", "grpcio")))
END

# sinew.usd, with the usd-core that pip chooses.
[[ $("$work/venv/bin/python" -m sinew.usd hero.usda hero.sinewrig 2>&1) == *"pip install usd-core"* ]]
pip "$(echo "$work"/wheels/*.whl)[usd]"
PYTHONPATH=$here/../usd "$work/venv/bin/python" -c 'import characters; characters.blend_shapes("hero.usda").Save()'
"$work/venv/bin/python" -m sinew.usd hero.usda hero.sinewrig
[[ -s hero.sinewrig && -s hero.Talk.poses.npy && -s hero.Talk.controls.npy ]]
