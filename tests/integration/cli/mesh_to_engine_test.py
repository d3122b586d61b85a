#!/usr/bin/env python3
"""Runs the commands of client/docs/mesh-to-engine.md as they are written, on a mesh and a clip that others made.

usage: mesh_to_engine_test.py --bin FOLDER     of the programs
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
OUTPUTS = ("dwarf.sinewrig", "dwarf.png", "methods.png", "worst.png", "dwarf.glb", "engine.png")
SKIP = 77

parser = argparse.ArgumentParser()
parser.add_argument("--bin", required=True)
arguments = parser.parse_args()

models = pathlib.Path(os.environ.get("SINEW_SHARED_DATA") or ROOT.parent / "shared/data", "models")
inputs = {"dwarf.obj": models / "maya_kenney_character_4.obj", "walk.fbx": models / "maya_kenney_character_7700_binary.fbx"}
absent = [str(path) for path in inputs.values() if not path.is_file()]
if absent:
    print(f"skipped: {absent[0]} is not there")
    sys.exit(SKIP)

text = (ROOT / "client/docs/mesh-to-engine.md").read_text()
commands = re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)[0]
assert commands.count("\n") == 5, commands
script = """set -eu
sinewd --listen "unix:$PWD/sinew.sock" --ready-file ready.json 2>sinewd.log &
trap 'kill -TERM '$!'; wait' EXIT
until [ -s ready.json ]; do sleep 0.1; done
export SINEW_SERVER="unix:$PWD/sinew.sock"
""" + commands

with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    for to, path in inputs.items():
        shutil.copy(path, folder / to)
    environment = os.environ | {"PATH": arguments.bin + ":" + os.environ["PATH"]}
    done = subprocess.run(["bash", "-c", script], cwd=folder, env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=300, check=False)
    print(done.stdout)
    missing = [output for output in OUTPUTS if not (folder / output).is_file()]
    assert done.returncode == 0, f"exit code {done.returncode}"
    assert not missing, missing
    gain = re.search(r"gain: ([\d.]+) % of the rms", done.stdout)
    assert gain and float(gain[1]) > 50, "distil"
