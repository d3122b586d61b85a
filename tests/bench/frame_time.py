#!/usr/bin/env python3
"""Where the processor time of a streamed frame goes: microseconds a frame at both ends, by perf.

usage: frame_time.py STREAM_BENCH [VERTICES...]          default: 2000 50000

Each row is a run of stream_bench under `perf record`. Its samples are sorted by the function that was running, and
their shares multiplied by the processor time of a frame that the run prints. Without perf it says so and succeeds.
"""
import collections
import re
import shutil
import subprocess
import sys
import tempfile

import usage  # noqa: F401; answers --help

# A sample belongs to the first part whose pattern is found in "LIBRARY FUNCTION".
PARTS = {
    "switch threads": r"kernel.* (finish_task_switch|_raw_spin_unlock_irq|.*futex|.*schedule|.*wak[ei]|.*rseq|pick_|"
                      r"(en|de)queue_(task|entity)|update_(curr|load)|.*pv_queued_spin|prepare_to|exit_to_user|"
                      r"irqentry_exit)|libc.* .*(futex|lll_lock)",
    "copy to and from sockets": r"kernel.* (_copy_(to|from)_iter|copy_user|rep_movs|.*page|__check_object_size)",
    "rest of kernel": r"kernel|vdso|libc.* (epoll_wait|__libc_(send|recv)msg|.*asynccancel|syscall)",
    "checksum": r"xxhash|XXH",
    "deform": r"stream_bench.* sinew::(N_|Compose|IsThin|Determinant|ToDouble|ToFloat|PosedRig|Deformer|Lbs|Bound|"
              r"CheckPose|StageFrame)|libtbb",
    "rest of sinew": r"stream_bench.* .*sinew::|prometheus",
    "protobuf": r"protobuf",
    "malloc, memcpy": r"libc\.|operator (new|delete)",
    "gRPC": r"",
}
ROWS = ["raw gRPC", "lbs positions", "lbs positions, no checksum"]


def measure(bench, vertices, row):
    """Frames per second, microseconds a frame, and those by part."""
    with tempfile.NamedTemporaryFile() as data:
        output = subprocess.run(
            ["perf", "record", "-q", "-F", "4000", "-e", "cpu-clock", "-o", data.name, bench, "--vertices", vertices,
             "--positions", "--only", row, "--rounds", "1", "--seconds", "1.5", "--pauses", "0", "--polls", "0"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout
        report = subprocess.run(
            ["perf", "report", "-i", data.name, "--no-children", "--stdio", "-s", "dso,sym", "-n"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout
    fps, _, processor = re.search(re.escape(row[:-2]) + r" +\d +(\S+) +(\S+) +(\S+)", output).groups()
    samples = collections.Counter()
    for count, library, function in re.findall(r"^ +[\d.]+% +(\d+) +(\S+) +\[.\] (.*)$", report, re.MULTILINE):
        name = f"{library} {function}"
        samples[next(part for part, pattern in PARTS.items() if re.search(pattern, name))] += int(count)
    each = float(processor) / sum(samples.values())
    return fps, processor, [f"{each * samples[part]:.1f}" for part in PARTS]


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        print(__doc__.strip())
        sys.exit(64)
    if shutil.which("perf") is None:
        print("skipped: needs perf (linux-perf)")
        return
    print("  ".join(["row", "vertices", "depth", "fps", "CPU us", *PARTS]))
    for vertices in sys.argv[2:] or ["2000", "50000"]:
        for depth in "18":
            for row in ROWS:
                fps, processor, parts = measure(sys.argv[1], vertices, f"{row} {depth}")
                print("  ".join([row, vertices, depth, fps, processor, *parts]), flush=True)


if __name__ == "__main__":
    main()
