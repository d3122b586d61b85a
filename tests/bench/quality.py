#!/usr/bin/env python3
"""Prints the quality figures of client/docs/figures.md as Markdown, measured by `sinew compare` and `sinew weights`.

quality.py SINEW [FOLDER]

SINEW is the program, FOLDER holds the characters of deploy/fetch-models.sh (default: $SINEW_SHARED_DATA/models, else
../shared/data/models beside the repository). Characters that are missing are left out.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import usage  # noqa: F401; answers --help

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECIPES = ("lbs", "dqs", "ddm", "implicit_skinning")
WEIGHT_METHODS = ("capsule", "heat", "geodesic")
# Built-in characters: (name, what it shows, frames).
BUILT_IN = tuple(("model:cylinder", f"{k} degrees", str(k)) for k in (60, 90, 120, 150)) + (
    ("model:arm", "elbow, frame 15", "15"), ("model:hand", "fist, frame 18", "18"))
# Joints of characters from files: (file, joint, its bones, axis where they are straight at rest).
BENT = (
    ("CesiumMan.glb", "elbow",
     ("Skeleton_arm_joint_L__4_", "Skeleton_arm_joint_L__3_", "Skeleton_arm_joint_L__2_"), "0,0,1"),
    ("CesiumMan.glb", "knee", ("leg_joint_L_1", "leg_joint_L_2", "leg_joint_L_3"), "1,0,0"),
)
# Clips: (file, frames).
CLIPS = (("RiggedFigure.glb", "0-x2"), ("CesiumMan.glb", "0-x4"), ("Horse.glb", "0-x4"), ("mannequiny.glb", "0-x4"),
         ("maya_kenney_character_7700_binary.fbx", "0-x2"), ("model:hand", "0-x2"))


def run(*arguments):
    """Standard output of a command; ends this program if it fails."""
    done = subprocess.run([str(a) for a in arguments], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"quality.py: {' '.join(map(str, arguments))}: {done.stderr}")
    return done.stdout


def compare(sinew, character, *options):
    """The worst frame of each recipe."""
    out = run(sinew, "compare", character, "--deformers", *RECIPES, *options, "--json", "--local", "--quiet")
    return [method["worst"] for method in json.loads(out)["methods"]]


def percent(value):
    return "-" if value is None else f"{100 * value:.3g}"


def plain(value):
    return "-" if value is None else f"{value:.2f}"


def pair(worst, first, second):
    return f"{percent(worst.get(first))} / {percent(worst.get(second))}"


def closed(worst):
    return f"{pair(worst, 'overlap', 'bulge')} / {plain(worst.get('roughness'))}"


def head(*columns):
    print("| " + " | ".join(columns) + " |")
    print("|" + "---|" * len(columns))


def row(*cells):
    print("| " + " | ".join(cells) + " |")


def closing(sinew, folder):
    print("## Joints that close\n\nOverlap in % of the volume / bulge in % of the limb's radius / roughness of the roughest"
          "\nedge, which is 0 for `dqs`. Corrections of `dqs` have about 1 in a crease and more at ledges; of methods that"
          "\nblend joints in another way it is also their difference from `dqs`.\n")
    head("character", "pose", *(f"`{recipe}`" for recipe in RECIPES))
    for character, pose, frames in BUILT_IN:
        figures = compare(sinew, character, "--frames", frames)
        row(f"`{character}`", pose, *(closed(worst) for worst in figures))
    with tempfile.TemporaryDirectory() as scratch:
        for file, joint, bones, axis in BENT:
            path = folder / file
            if not path.exists():
                continue
            listed = pathlib.Path(scratch, "joints.json")
            listed.write_text(run(sinew, "inspect", path, "--json"), encoding="utf-8")
            for degrees in ("90", "120"):
                poses = pathlib.Path(scratch, "poses.npy")
                run(ROOT / "tests/bench/bend_poses.py", path, listed, poses, *bones, axis, degrees)
                figures = compare(sinew, path, "--poses", poses, "--frames", "1")
                row(file, f"{joint}, {degrees} degrees", *(closed(worst) for worst in figures))


def inverted(sinew, folder):
    print("\n## Inverted faces\n\nWorst frame of the first clip, % of the rest area: inverted / of these, the part that"
          " linear blending\nneither inverts nor shrinks below half.\n")
    head("character", *(f"`{recipe}`" for recipe in RECIPES))
    for file, frames in CLIPS:
        path = file if file.startswith("model:") else folder / file
        if path == file or path.exists():
            figures = compare(sinew, path, "--frames", frames, "--no-self-intersections")
            row(file, *(pair(worst, "flipped_fraction", "flipped_beyond_linear") for worst in figures))


def moved(sinew, path, method):
    """How much of the weight the computed weights place on other joints."""
    out = run(sinew, "weights", path, "--method", method, "--json", "--local")
    return percent(json.loads(out)["difference"]["moved"])


def weights(sinew, folder):
    print("\n## Computed weights\n\nDifference from the weights in the file: % of a vertex's weight that lies on other"
          " joints.\n")
    head("character", *WEIGHT_METHODS)
    for file, _ in CLIPS:
        path = file if file.startswith("model:") else folder / file
        if path == file or path.exists():
            row(file, *(moved(sinew, path, method) for method in WEIGHT_METHODS))


def main():
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    data = os.environ.get("SINEW_SHARED_DATA") or ROOT.parent / "shared" / "data"
    folder = pathlib.Path(sys.argv[2]) if len(sys.argv) == 3 else pathlib.Path(data, "models")
    for table in (closing, inverted, weights):
        table(sys.argv[1], folder)


if __name__ == "__main__":
    main()
