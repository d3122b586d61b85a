#!/usr/bin/env python3
"""Runs the tools that judge a whole file: clang-format 14 on C++, bash -n and shellcheck on scripts.

usage: tool_rules.py format|shell
Exit code 77: the tool is not installed, the test is skipped.
"""

import os
import re
import shutil
import subprocess
import sys

import sources

SKIPPED = 77
FORMAT_VERSION = "14"  # Debian 12's; other versions break lines elsewhere


def clang_format():
    """The program of the right version, or None."""
    for name in (f"clang-format-{FORMAT_VERSION}", "clang-format"):
        if shutil.which(name):
            said = subprocess.run([name, "--version"], capture_output=True, text=True).stdout
            if re.search(rf"version {FORMAT_VERSION}\.", said):
                return name
    return None


def check_format(paths):
    program = clang_format()
    if program is None:
        print(f"skipped: clang-format {FORMAT_VERSION} is not installed (deploy/install-deps.sh test)")
        return SKIPPED
    done = subprocess.run([program, "--dry-run", "-Werror", *paths], cwd=sources.ROOT, capture_output=True, text=True)
    wrong = sorted(set(re.findall(r"^(.+?):\d+:\d+: error", done.stderr, re.MULTILINE)))
    if done.returncode != 0 and not wrong:
        wrong = [done.stderr.strip()]
    return sources.report([f"{path}:1: run {program} -i {path}" for path in wrong], "format")


def is_script(path):
    if path.endswith(".sh"):
        return True
    full = sources.ROOT / path
    return os.access(full, os.X_OK) and full.read_bytes()[:32].startswith(b"#!/usr/bin/env bash")


def check_shell(paths):
    findings = []
    for path in paths:
        done = subprocess.run(["bash", "-n", path], cwd=sources.ROOT, capture_output=True, text=True)
        findings += done.stderr.strip().splitlines()
        if not os.access(sources.ROOT / path, os.X_OK):
            findings.append(f"{path}:1: not executable")
    if shutil.which("shellcheck") and paths:
        done = subprocess.run(["shellcheck", "--format", "gcc", *paths], cwd=sources.ROOT, capture_output=True,
                              text=True)
        findings += done.stdout.strip().splitlines() + done.stderr.strip().splitlines()
    return sources.report(findings, "shell")


def main(arguments):
    paths = sources.files()
    if arguments == ["format"]:
        return check_format([path for path in paths if path.endswith((".h", ".cc"))])
    if arguments == ["shell"]:
        return check_shell([path for path in paths if is_script(path)])
    print(__doc__, file=sys.stderr)
    return 64


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
