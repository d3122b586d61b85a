#!/usr/bin/env python3
"""Prints the table of client/docs/methods.md that compares the projections of `implicit`, measured by `sinew compare`.

projections.py SINEW [FOLDER]

SINEW is the program, FOLDER holds the characters of deploy/fetch-models.sh (default as in quality.py). Characters that
are missing are left out.
"""

import json
import os
import pathlib
import sys

import usage  # noqa: F401; answers --help

import quality

RECIPES = ("dqs | implicit", "dqs | implicit(projection=march)")
# (character, frames): bends up to and beyond what both resolve, and whole clips.
CASES = (("model:cylinder", "0-130"), ("model:cylinder", "130-150"), ("model:hand", None), ("CesiumMan.glb", None),
         ("Horse.glb", None))


def both(figures, show, key, of="worst"):
    return " / ".join("-" if figure[of].get(key) is None else show(figure[of][key]) for figure in figures)


def main():
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    data = os.environ.get("SINEW_SHARED_DATA") or quality.ROOT.parent / "shared" / "data"
    folder = pathlib.Path(sys.argv[2]) if len(sys.argv) == 3 else pathlib.Path(data, "models")
    quality.head("character", "frames", "overlap, %", "bulge, %", "pop, largest", "pop, 99.9 % of vertices", "roughness",
                 "ms a frame")
    for character, frames in CASES:
        path = character if character.startswith("model:") else folder / character
        if path != character and not path.exists():
            continue
        chosen = ("--frames", frames) if frames else ()
        out = quality.run(sys.argv[1], "compare", path, "--deformers", *RECIPES, *chosen, "--json", "--local", "--quiet")
        figures = json.loads(out)["methods"]
        quality.row(f"`{character}`", frames or "all", both(figures, quality.percent, "overlap"),
                    both(figures, quality.percent, "bulge"), both(figures, "{:.2g}".format, "pop"),
                    both(figures, "{:.2g}".format, "pop_999"), both(figures, quality.plain, "roughness"),
                    both(figures, lambda seconds: f"{1000 * seconds:.2g}", "evaluate_seconds", of="mean"))


if __name__ == "__main__":
    main()
