"""Which files the lint looks at: what git tracks or would track."""

import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


# Inputs of fuzz targets: any bytes, not written by anyone.
NOT_WRITTEN = "tests/fuzz/corpus/"


def files(root=ROOT):
    """Paths relative to `root`, '/'-separated and sorted: tracked, and new but not ignored."""
    command = ["git", "-c", "safe.directory=*", "-C", str(root), "ls-files", "-z", "--cached", "--others",
               "--exclude-standard"]
    try:
        listed = subprocess.run(command, check=True, capture_output=True).stdout.decode().split("\0")
    except (OSError, subprocess.CalledProcessError):  # an unpacked archive: no git, nothing ignored but build trees
        listed = [path.relative_to(root).as_posix() for path in root.rglob("*")
                  if path.relative_to(root).parts[0] not in (".git", "build") and "__pycache__" not in path.parts]
    return sorted({name for name in listed
                   if name and not name.startswith(NOT_WRITTEN) and (root / name).is_file()})


def report(findings, what):
    """Prints the findings and returns the exit code."""
    for finding in findings:
        print(finding)
    print(f"{what}: {len(findings)} findings" if findings else f"{what}: clean")
    return 1 if findings else 0
