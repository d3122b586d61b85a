#!/usr/bin/env python3
"""Prints how far vertices move when skin weights are rounded to 8 bits, as Markdown.

rounding.py SINEW [CHARACTER...]

SINEW is the program, CHARACTER a file or a model of it (default: the hand, the cylinder and the characters of seeds 1
and 3 of generated_characters.py). Needs the Python package (PYTHONPATH=build/release/python). Every fourth frame of
the first clip is baked with the weights of the file and with the same weights rounded to steps of 1/255 that still sum
to 1. A row has the largest distance between both, in 1/1000 of the size of the character, behind `dqs` and behind
`dqs | bulge_free | implicit`, and their ratio, which should be at most 10.
"""
import pathlib
import subprocess
import sys
import tempfile

import usage  # noqa: F401; answers --help

import generated_characters
import numpy
import sinew

BASE, JUDGED = "dqs", "dqs | bulge_free | implicit"
BUILT_IN = ("model:hand", "model:cylinder")


def rounded(weights):
    """Rows in steps of 1/255 with the sum 1: the largest remainders are rounded up."""
    steps = 255 * weights / weights.sum(axis=1, keepdims=True)
    whole = numpy.floor(steps)
    missing = numpy.rint(255 - whole.sum(axis=1)).astype(int)
    order = numpy.argsort(whole - steps, axis=1, kind="stable")
    for place in range(weights.shape[1]):
        rows = numpy.flatnonzero(place < missing)
        whole[rows, order[rows, place]] += 1
    return whole / 255


def bake(program, rig, poses, recipe, folder):
    out = folder / "out.npy"
    command = [program, "bake", rig, "--poses", poses, "--deformer", recipe, "--out", out, "--local", "--quiet"]
    done = subprocess.run([str(argument) for argument in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"rounding.py: {recipe}: {done.stderr}")
    return numpy.load(out).astype(float)


def distances(program, character, folder):
    """The largest distance for each recipe, relative to the size of the character."""
    rig = sinew.load(str(character))
    joints = len(rig.joints)
    clip = next(iter(rig.clips.values()))
    poses = numpy.asarray(clip.poses().joints)[::4].reshape(-1, joints, 12)
    numpy.save(folder / "poses.npy", poses)
    positions = numpy.concatenate([numpy.asarray(mesh.positions).reshape(-1, 3) for mesh in rig.meshes])
    triangles = numpy.concatenate([numpy.asarray(mesh.triangles).reshape(-1, 3) + mesh.first_vertex
                                   for mesh in rig.meshes])
    dense = numpy.concatenate([numpy.asarray(mesh.weights, dtype=float).reshape(mesh.vertices, -1)
                               for mesh in rig.meshes])
    influences = max(1, int((dense > 0).sum(axis=1).max()))
    indices = numpy.argsort(-dense, axis=1, kind="stable")[:, :influences]
    weights = numpy.take_along_axis(dense, indices, 1)
    weights /= weights.sum(axis=1, keepdims=True)
    files = []
    for name, table in (("whole", weights), ("rounded", rounded(weights))):
        files.append(folder / f"{name}.sinewrig")
        sinew.Rig.from_arrays(positions, triangles, list(rig.joints), list(rig.parents),
                              numpy.asarray(rig.rest_pose).reshape(joints, 3, 4), table, indices).save(str(files[-1]))
    size = numpy.linalg.norm(positions.max(axis=0) - positions.min(axis=0))
    largest = []
    for recipe in (BASE, JUDGED):
        whole, other = (bake(program, file, folder / "poses.npy", recipe, folder) for file in files)
        largest.append(numpy.linalg.norm(whole - other, axis=2).max() / size)
    return largest


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    print(f"| character | `{BASE}` | `{JUDGED}` | ratio |".replace(" | b", r" \| b").replace(" | i", r" \| i"))
    print("|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        characters = sys.argv[2:] or [*BUILT_IN, *(path for seed in (1, 3)
                                                   for path in generated_characters.make(name, seed))]
        for character in characters:
            base, judged = distances(sys.argv[1], character, folder)
            print(f"| {pathlib.Path(character).name} | {1000 * base:.3g} | {1000 * judged:.3g} | "
                  f"{judged / base if base > 0 else 0:.1f} |", flush=True)


if __name__ == "__main__":
    main()
