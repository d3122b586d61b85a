"""Packages of PyPI at pinned versions for a test, in a virtual environment that later runs use again.

A test script puts this folder on sys.path and calls `install`, or `enter` where it cannot import what it needs.
"""

import os
import pathlib
import subprocess
import sys

SKIP = 77  # what ctest takes as skipped


def install(folder: pathlib.Path, packages: list[str], *, system: bool = True) -> bool:
    """Makes the environment in `folder`, unless it is there. False: PyPI cannot be reached.

    system: with Debian's packages.
    """
    python = folder / "bin/python"
    if not python.exists():
        more = ["--system-site-packages"] if system else []
        subprocess.run(["/usr/bin/python3", "-m", "venv", *more, folder], check=True)
    return subprocess.run([python, "-m", "pip", "-q", "install", *packages], check=False).returncode == 0


def enter(folder: pathlib.Path, packages: list[str], *, system: bool = True) -> None:
    """Runs the script again in the environment. Exits with SKIP if PyPI cannot be reached."""
    if pathlib.Path(sys.prefix).resolve() == folder.resolve():
        raise ImportError(f"{folder}: the packages are installed, and cannot be imported")
    if install(folder, packages, system=system):
        os.execv(folder / "bin/python", [str(folder / "bin/python"), "-B", *sys.argv])
    print(f"skipped: {', '.join(packages)} cannot be installed: PyPI cannot be reached")
    sys.exit(SKIP)
