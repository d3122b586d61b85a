#!/usr/bin/env python3
"""Prints every table that implicit skinning is judged by, as Markdown: of one program, or of two versions.

implicit_tables.py SINEW [BEFORE]

SINEW and BEFORE are programs. The first table has whole clips in `dqs | bulge_free | implicit`, each figure of the
worst frame; with BEFORE a cell is "before → now":
  roughness  of the moves from `dqs | bulge_free`, the distance between those of an edge's ends over its length at rest,
             measured from baked points and not by the product: the largest / the 99.9th percentile
  overlap    in % of the volume (that of `dqs | bulge_free`)
  inverted   faces in % of the area (those of `dqs | bulge_free`)
  pop        second difference in 1/1000 of the limb's radius per degree
  ms         a frame, mean
The tables of judge.py, projections.py and rounding.py follow. Needs the Python package, as rounding.py does; files are
those of quality.py.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import usage  # noqa: F401; answers --help

import generated_characters
import numpy
import quality
import sinew

BASE, JUDGED = "dqs | bulge_free", "dqs | bulge_free | implicit"
BUILT_IN = (("model:cylinder", "0-120"), ("model:cylinder", "120-150"), ("model:hand", None))
FILES = ("CesiumMan.glb", "Horse.glb", "MakeHumanBody.glb", "mannequiny.glb")
SEEDS = (1, 3)
OTHERS = (("judge.py", [str(seed) for seed in SEEDS]), ("projections.py", []), ("rounding.py", []))


def edges(character):
    """Edges of the welded mesh, as pairs of vertices, and their lengths at rest."""
    meshes = sinew.load(str(character)).meshes
    points = numpy.concatenate([numpy.asarray(mesh.positions, dtype=float).reshape(-1, 3) for mesh in meshes])
    faces = numpy.concatenate([numpy.asarray(mesh.triangles).reshape(-1, 3) + mesh.first_vertex for mesh in meshes])
    _, first, welded = numpy.unique(points, axis=0, return_index=True, return_inverse=True)
    corners = welded.ravel()[faces]
    pairs = numpy.unique(numpy.sort(numpy.concatenate([corners[:, [a, b]] for a, b in ((0, 1), (1, 2), (2, 0))])), axis=0)
    pairs = first[pairs]
    lengths = numpy.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1)
    kept = lengths > 1e-7 * numpy.linalg.norm(points.max(axis=0) - points.min(axis=0))
    return pairs[kept], lengths[kept]


def bake(program, character, options, recipe, folder):
    out = folder / "points.npy"
    quality.run(program, "bake", character, *options, "--deformer", recipe, "--out", out, "--local", "--quiet")
    return numpy.load(out).astype(float)


def figures(program, character, frames, folder):
    options = ("--frames", frames) if frames else ()
    pairs, lengths = edges(character)
    moves = bake(program, character, options, JUDGED, folder) - bake(program, character, options, BASE, folder)
    gradients = [numpy.linalg.norm(move[pairs[:, 0]] - move[pairs[:, 1]], axis=1) / lengths for move in moves]
    out = quality.run(program, "compare", character, *options, "--deformers", BASE, JUDGED, "--json", "--local", "--quiet")
    base, judged = json.loads(out)["methods"]
    mine, theirs = judged["worst"], base["worst"]
    return (f"{max(g.max() for g in gradients):.2f} / {max(numpy.quantile(g, .999) for g in gradients):.2f}",
            f"{quality.percent(mine['overlap'])} ({quality.percent(theirs['overlap'])})",
            f"{quality.percent(mine['flipped_fraction'])} ({quality.percent(theirs['flipped_fraction'])})",
            "-" if mine.get("pop") is None else f"{1000 * mine['pop']:.3g}",
            f"{1000 * judged['mean']['evaluate_seconds']:.2g}")


def clips(programs, folder):
    models = pathlib.Path(os.environ.get("SINEW_SHARED_DATA") or quality.ROOT.parent / "shared/data", "models")
    characters = [*BUILT_IN, *((models / file, None) for file in FILES if (models / file).exists())]
    for seed in SEEDS:
        characters += [(path, None) for path in generated_characters.make(folder, seed)]
    quality.head("character", "frames", "roughness", "overlap", "inverted", "pop", "ms")
    for character, frames in characters:
        # The program under test comes last, so that both take turns and a cell reads from before to now.
        rows = [figures(program, character, frames, folder) for program in reversed(programs)]
        quality.row(pathlib.Path(character).name, frames or "all", *map(" → ".join, zip(*rows)))
        sys.stdout.flush()


def main():
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    programs = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        clips(programs, pathlib.Path(folder))
    here = pathlib.Path(__file__).parent
    for script, options in OTHERS:
        for program in reversed(programs):
            print(f"\n`{script} {program} {' '.join(options)}`\n".replace(" `", "`"), flush=True)
            subprocess.run([sys.executable, "-B", str(here / script), program, *options], check=True)


if __name__ == "__main__":
    main()
