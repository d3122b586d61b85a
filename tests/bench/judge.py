#!/usr/bin/env python3
"""Prints how methods do on characters that nothing in core was tuned on, and on a joint that closes, as Markdown.

judge.py SINEW [SEED...]

SINEW is the program; SEED are odd seeds of generated_characters.py (default: 1 3 5). The characters of Debian's
assimp-testmodels are measured too where they are installed. A cell has overlap in % of the volume, bulge in % of the
limb's radius, pop in 1/1000 of the limb's radius per degree, roughness of the roughest edge (-: the program measures
none), each of the worst frame, and ms per frame. To compare two versions, run it with the program of each.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import usage  # noqa: F401; answers --help

import generated_characters

RECIPES = ("lbs", "dqs", "dqs | bulge_free", "ddm", "dqs | bulge_free | implicit", "implicit_skinning")
INSTALLED = tuple(pathlib.Path("/usr/share/assimp/models/FBX", name)
                  for name in ("animation_with_skeleton.fbx", "huesitos.fbx"))
SWEEP = (("model:cylinder", "0-130"), ("model:cylinder", "130-150"))
BASE, JUDGED = "dqs | bulge_free", RECIPES[4:]


def compare(sinew, character, frames):
    command = [sinew, "compare", character, "--deformers", *RECIPES, "--json", "--local", "--quiet"]
    done = subprocess.run([*map(str, command), *(["--frames", frames] if frames else [])], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"judge.py: {character}: {done.stderr}")
    return {method["deformer"]: method for method in json.loads(done.stdout)["methods"]}


def number(value, scale):
    return "-" if value is None else f"{scale * value:.3g}"


def cell(method):
    worst = method["worst"]
    return " / ".join((number(worst["overlap"], 100), number(worst["bulge"], 100), number(worst.get("pop"), 1000),
                       number(worst.get("roughness"), 1), number(method["mean"]["evaluate_seconds"], 1000)))


def missed(methods):
    """Recipes with a frame that bulges 3 points more than bulge_free, or a worst overlap above a third of bulge_free's."""
    wrong = []
    for recipe in JUDGED:
        pairs = zip(methods[recipe]["frames"], methods[BASE]["frames"])
        bulges = any((frame["bulge"] or 0) > (base["bulge"] or 0) + 0.03 for frame, base in pairs)
        mine, theirs = methods[recipe]["worst"]["overlap"] or 0, methods[BASE]["worst"]["overlap"] or 0
        if bulges or mine > max(theirs / 3, 1e-4):
            wrong.append(recipe.replace("|", r"\|") + (" bulges" if bulges else " overlaps"))
    return "; ".join(wrong) or "-"


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    seeds = [int(seed) for seed in sys.argv[2:]] or [1, 3, 5]
    print("| character | " + " | ".join(f"`{r}`".replace("|", r"\|") for r in RECIPES) + " | misses its targets |")
    print("|---" * (len(RECIPES) + 2) + "|")
    with tempfile.TemporaryDirectory() as folder:
        characters = [(path, None) for path in INSTALLED if path.exists()]
        for seed in seeds:
            characters += [(path, None) for path in generated_characters.make(folder, seed)]
        for character, frames in (*SWEEP, *characters):
            methods = compare(sys.argv[1], character, frames)
            name = f"{pathlib.Path(character).name}{', ' + frames if frames else ''}"
            print(f"| {name} | " + " | ".join(cell(methods[r]) for r in RECIPES) + f" | {missed(methods)} |", flush=True)


if __name__ == "__main__":
    main()
