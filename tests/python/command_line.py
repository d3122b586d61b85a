"""What every test of the Python package or of generated stubs begins with: its paths, and what it cannot do without."""

import argparse
import importlib.util
import sys

_SKIP = 77  # what ctest takes as skipped
_PACKAGES = {"google.protobuf": "python3-protobuf", "grpc": "python3-grpcio", "numpy": "python3-numpy"}
FOR_STUBS = tuple(_PACKAGES)


def _is_missing(module):
    try:
        return importlib.util.find_spec(module) is None
    except ModuleNotFoundError:  # google, of google.protobuf
        return True


def read(*names, modules=("numpy",)):
    """The options --NAME, all required, and the rest of the command line. Makes --package or --stubs importable.

    Skips the test where a module is missing.
    """
    missing = [_PACKAGES[module] for module in modules if _is_missing(module)]
    if missing:
        print(f"skipped: install {' '.join(missing)}")
        sys.exit(_SKIP)
    options = argparse.ArgumentParser(allow_abbrev=False)
    for name in names:
        options.add_argument(f"--{name}", required=True)
    arguments, rest = options.parse_known_args()
    sys.path.insert(0, getattr(arguments, "package", None) or arguments.stubs)
    return arguments, rest
