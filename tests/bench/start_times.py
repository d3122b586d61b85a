#!/usr/bin/env python3
"""How long the two ways to start a server for tests take until it listens.

usage: start_times.py BUILD [COUNT]       BUILD: build/release with sinewd, start_bench and the Python package
"""

import pathlib
import statistics
import subprocess
import sys
import time

import usage  # noqa: F401; answers --help

build = pathlib.Path(sys.argv[1])
count = int(sys.argv[2]) if len(sys.argv) > 2 else 50
sys.path.insert(0, str(build / "python"))
from sinew.testing import Server  # noqa: E402


def of_package():
    begun = time.perf_counter()
    with Server(program=str(build / "bin" / "sinewd")):
        return (time.perf_counter() - begun) * 1000


rows = {"sinew.testing.Server (Python)": [of_package() for _ in range(count)],
        "LocalServer (C++)": [float(line) for line in subprocess.run(
            [build / "bin" / "start_bench", str(count)], capture_output=True, text=True, check=True).stdout.split()]}
print(f"{count} starts")
print()
print(f"{'started by':<32}{'median ms':>10}{'longest ms':>12}")
for name, times in rows.items():
    print(f"{name:<32}{statistics.median(times):>10.1f}{max(times):>12.1f}")
