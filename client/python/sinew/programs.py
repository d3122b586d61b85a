"""The programs sinew and sinewd inside the package: commands of the wheel, and python -m sinew.programs NAME ...."""

import sys

from ._sinew import _run


def sinew() -> None:
    _run(["sinew", *sys.argv[1:]])


def sinewd() -> None:
    _run(["sinewd", *sys.argv[1:]])


if __name__ == "__main__":
    _run(sys.argv[1:])
