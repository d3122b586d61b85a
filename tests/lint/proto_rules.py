"""Checks the protos with buf: `buf lint`, and that they have no breaking change against proto/baseline.binpb.

usage: proto_rules.py [--accept]      --accept: writes the baseline, which accepts a deliberate breaking change
buf is $SINEW_BUF, on the PATH, or installed by npm into build/buf. Exit code: 77 without buf and npm.
"""
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BASELINE = "proto/baseline.binpb"
FOLDER = ROOT / "build" / "buf"
PACKAGE = "@bufbuild/buf@1.75.0"


def find_buf():
    installed = FOLDER / "node_modules" / ".bin" / "buf"
    for candidate in (os.environ.get("SINEW_BUF"), shutil.which("buf"), installed if installed.exists() else None):
        if candidate:
            return str(candidate)
    npm = shutil.which("npm")
    if npm is None:
        return None
    FOLDER.mkdir(parents=True, exist_ok=True)
    done = subprocess.run([npm, "install", "--silent", "--prefix", str(FOLDER), PACKAGE], capture_output=True, text=True)
    if done.returncode != 0:
        print(done.stderr)
    return str(installed) if done.returncode == 0 and installed.exists() else None


def run(*command):
    print("$", *command, flush=True)
    return subprocess.run(command, cwd=ROOT).returncode


def main():
    buf = find_buf()
    if buf is None:
        print(f"skipped: needs buf (https://buf.build/docs/cli) or npm to install {PACKAGE}; or set SINEW_BUF")
        return 77
    if sys.argv[1:] == ["--accept"]:
        return run(buf, "build", "proto", "--exclude-source-info", "-o", BASELINE)
    lint = run(buf, "lint", "proto")
    breaking = run(buf, "breaking", "proto", "--against", BASELINE)
    if breaking != 0:
        print("A deliberate breaking change: tests/lint/proto_rules.py --accept, and a line in CHANGELOG.md.")
    return 1 if lint or breaking else 0


sys.exit(main())
