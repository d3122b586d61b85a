#!/usr/bin/env python3
"""Prints what half and double of tuned numbers of implicit skinning do, as rows of the table in tests/bench/README.md.

constants.py BUILD NAME... [--characters FILE...]

BUILD is a configured build folder, NAME a number of core/deform/implicit/constants.h or project/constants.h beside it.
For each row the header is changed, `sinew` built and the header restored. Columns, of `dqs | bulge_free | implicit` on model:hand, model:cylinder
and the characters: mean of the worst overlaps in % of the volume; bulge beyond `dqs | bulge_free` in points; roughest
edge; pop in 1/100 of the limb's radius per degree; rms edge distortion.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

import usage  # noqa: F401; answers --help

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "core/deform/implicit"
HEADERS = (FOLDER / "constants.h", FOLDER / "project/constants.h")
BUILT_IN = (("model:hand", "0-47x3"), ("model:cylinder", "0-150x10"))
BASE, JUDGED = "dqs | bulge_free", "dqs | bulge_free | implicit"


def header_of(name):
    for header in HEADERS:
        if re.search(rf"\b{name} = ", header.read_text(encoding="utf-8")):
            return header
    sys.exit(f"constants.py: {name}: in neither {HEADERS[0]} nor {HEADERS[1]}")


def scaled(text, name, factor):
    """The header with one number scaled; numbers of a whole type stay whole."""
    found = re.search(rf"\b{name} = ([^,;]+)", text)
    declared = text.rfind("inline constexpr ", 0, found.start())
    if text.startswith(("std::size_t", "int"), declared + len("inline constexpr ")):
        value = str(int(int(found[1]) * factor))
    else:
        value = f"{factor:.1f}{'f' if found[1].endswith('f') else ''} * {found[1]}"
    return text[:found.start(1)] + value + text[found.end(1):]


def figures(sinew, characters):
    rows = []
    for character, frames in characters:
        command = [sinew, "compare", character, "--deformers", BASE, JUDGED, "--json", "--local", "--quiet"]
        done = subprocess.run(command + (["--frames", frames] if frames else ["--clip", "0"]), capture_output=True,
                              text=True)
        if done.returncode != 0:
            sys.exit(f"constants.py: {character}: {done.stderr}")
        base, judged = json.loads(done.stdout)["methods"]
        worst = judged["worst"]
        bulge = max((mine["bulge"] or 0) - (theirs["bulge"] or 0)
                    for mine, theirs in zip(judged["frames"], base["frames"]))
        rows.append((100 * (worst["overlap"] or 0), 100 * max(0, bulge), worst["roughness"] or 0,
                     100 * (worst["pop"] or 0), worst["edge_distortion"]))
    return [sum(column) / len(rows) for column in zip(*rows)]


def main():
    parser = argparse.ArgumentParser(usage=__doc__.replace("%", "%%"))
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--characters", nargs="*", default=[])
    options = parser.parse_args()
    characters = [*BUILT_IN, *((character, None) for character in options.characters)]
    headers = {name: header_of(name) for name in options.names}

    def print_row(label):
        subprocess.run(["cmake", "--build", options.build, "--target", "sinew"], check=True, stdout=subprocess.DEVNULL)
        row = figures(options.build / "bin/sinew", characters)
        print(f"| {label} | " + " | ".join(f"{value:.3g}" for value in row) + " |", flush=True)

    print_row("as it is")
    for name, header in headers.items():
        text = header.read_text(encoding="utf-8")
        try:
            for factor in (0.5, 2):
                header.write_text(scaled(text, name, factor), encoding="utf-8")
                print_row(f"`{name}` x {factor:g}")
        finally:
            header.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
