"""The programs sinew and sinewd inside the package: commands of the wheel, and python -m sinew.programs NAME ...."""

import os
import sys

from ._sinew import _run


def _run_as(name: str) -> None:
    _run([name, *map(os.fsencode, sys.argv[1:])])  # file names may have any encoding


def sinew() -> None:
    _run_as("sinew")


def sinewd() -> None:
    _run_as("sinewd")


if __name__ == "__main__":
    del sys.argv[0]
    _run_as(sys.argv[0])
