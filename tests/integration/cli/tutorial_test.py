#!/usr/bin/env python3
"""Runs the steps of client/docs/tutorial.md as they are written, in an empty folder.

usage: tutorial_test.py --bin FOLDER [--python FOLDER]     FOLDER: of the programs, and of the Python package
"""
import argparse
import os
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
OUTPUTS = ("lbs.png", "methods.png", "compare.png", "radius.png", "stages.png", "status.png", "hand.pc2",
           "hand.pc2.json", "hand.usda", "parts.mdd")

parser = argparse.ArgumentParser()
parser.add_argument("--bin", required=True)
parser.add_argument("--python")
arguments = parser.parse_args()

text = (ROOT / "client/docs/tutorial.md").read_text()
shell = re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
python = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
assert len(shell) + len(python) == len(re.findall(r"^## \d+\. ", text, re.MULTILINE)) == 10
script = "set -eu\n" + "\n".join(shell)
if arguments.python:
    script += "\n/usr/bin/python3 -B step10.py\n"
# The server of step 1 runs until the script ends.
script = script.replace("ready.json &\n", "ready.json 2>sinewd.log &\ntrap 'kill -TERM '$!'; wait' EXIT\n", 1)

with tempfile.TemporaryDirectory() as folder:
    (pathlib.Path(folder) / "step10.py").write_text(python[0])
    environment = os.environ | {"PATH": arguments.bin + ":" + os.environ["PATH"], "PYTHONPATH": arguments.python or ""}
    done = subprocess.run(["bash", "-c", script], cwd=folder, env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=300, check=False)
    print(done.stdout)
    missing = [name for name in OUTPUTS if not (pathlib.Path(folder) / name).is_file()]
    assert done.returncode == 0, f"exit code {done.returncode}"
    assert not missing, missing
    assert "nothing is baked" in done.stdout, "step 9 found something to do"
    if arguments.python:
        assert "(48, 9140, 3) 0.0" in done.stdout, "step 10"
