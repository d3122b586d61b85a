#!/usr/bin/env python3
"""Prints how fit-skeleton, fit-weights, distil and decompose do on characters, beside other programs, as Markdown.

character_tables.py BIN [--only] [FILE[=TEMPLATE]...]

BIN is the folder of sinew, fit_table and fit_weights_table. Characters are those of $SINEW_SHARED_DATA/models (default:
../shared/data/models beside the repository), skinned ones of Debian's assimp-testmodels if it is installed, and each
FILE, whose skeleton is fitted only if it has a TEMPLATE; with --only FILE alone. Distances are in % of the diagonal, in
the first table in % of the height. $DEM_BONES may name a program around dem-bones (github.com/electronicarts/dem-bones):
    $DEM_BONES CACHE.npy REST.obj BONES INFLUENCES
that prints `rms X% max Y%` of the diagonal. $SINEW_TABLES may name the tables to print, such as "distil decompose".
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import usage  # noqa: F401; answers --help

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = ("CesiumMan.glb", "mannequiny.glb", "MakeHumanBody.glb", "Horse.glb", "RiggedFigure.glb")
# File of assimp-testmodels, its template.
INSTALLED = (("BCN_Epileptic.X", "human"), ("Testwuson.X", "quadruped"))
# The library of Baran and Popovic, unmodified, on the meshes as closed solids of 80 cells: residual, errors in % of the
# height, mean / largest, and what is wrong.
PINOCCHIO = {"RiggedFigure.glb": ".008, 5.2 / 13.2", "CesiumMan.glb": ".008, 4.5 / 11.1",
             "mannequiny.glb": ".040, 4.7 / 8.9", "MakeHumanBody.glb": ".006, 3.8 / 9.1", "Horse.glb": ".062",
             "maya_kenney_character_4.obj": ".046", "maya_kenney_character_9.obj": ".159, wrong legs",
             "BCN_Epileptic.glb": ".106, hips 22 too low", "Testwuson.glb": ".082"}
JOINTS, INFLUENCES = 20, 4


def run(*command):
    """Standard output of a command and its seconds; None if it fails, which is printed."""
    start = time.monotonic()
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        print(f"character_tables.py: {' '.join(map(str, command))}: {done.stderr.strip()}", file=sys.stderr)
        return None, 0
    return done.stdout, time.monotonic() - start


def table(title, *columns):
    print(f"\n## {title}\n\n| " + " | ".join(columns) + " |\n|" + "---|" * len(columns), flush=True)


def row(*cells):
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def skeletons(tools, files):
    """What fit_table prints, with a column of the original program."""
    print("\n## Skeletons\n\n`Pinocchio`: residual, mean / largest error of the original library.\n")
    out, _ = run(tools / "fit_table",
                 *(f"{path}={template}" for path, template in files if template))
    for line in (out or "").splitlines():
        cells = line.split("|")
        if len(cells) == 11:
            more = {"character": "Pinocchio", "---": "---"}.get(cells[1].strip(), PINOCCHIO.get(cells[1].strip(), ""))
            line += f" {more} |"
        print(line)


def weights(tools, files):
    print("\n## Weights and coefficients from examples of `ddm`\n", flush=True)
    subprocess.run([tools / "fit_weights_table", *(path for path, _ in files)], check=True)


def distil(tools, path, deformer, kind, folder, *more):
    """The report and seconds of a character; None if it fails."""
    out, seconds = run(tools / "sinew", "distil", path, "--deformer", deformer, "--to", kind, *more, "--local", "--quiet",
                       "--json", "--out", folder / "distilled.glb")
    return (None if out is None else json.loads(out)), seconds


def rms(told, which, poses=None):
    """The root mean square in % of a report, over all poses or those of a kind; nan if there are none."""
    errors = told.get(which, {})
    return (errors.get(poses, {}) if poses else errors).get("rms", {}).get("percent", float("nan"))


def distilled(tools, files, folder):
    table("Distilled `ddm`, root mean square relative to that of the own weights", "character", "vertices", "held-out poses",
          "own weights, %", "`lbs` 4", "seconds", "shapes", "with shapes", "of random poses, of clips", "/ `lbs` 4",
          "normals, degrees", "without shapes", "MB", "seconds", "64 shapes", "animation space 8")
    for path, _ in files:
        told, seconds = distil(tools, path, "ddm", "lbs", folder)
        if told is None:
            continue
        own = rms(told, "own_weights")
        cells = [told["vertices"], told["poses"]["held_out"], f"{own:.3f}", f"{rms(told, 'fitted_weights') / own:.2f}",
                 f"{seconds:.1f}"]
        told, seconds = distil(tools, path, "ddm", "shapes", folder)
        if told is not None:
            of_kinds = (rms(told, "with_shapes", kind) / rms(told, "own_weights", kind)
                        for kind in ("random_poses", "clip_poses"))
            cells += [told["shapes"], f"{rms(told, 'with_shapes') / own:.3f}", ", ".join(f"{part:.3f}" for part in of_kinds),
                      f"{rms(told, 'with_shapes') / rms(told, 'fitted_weights'):.3f}",
                      *(f"{told['normals_degrees'][key]:.2f}" for key in ("mean", "mean_without_shapes")),
                      f"{(folder / 'distilled.glb').stat().st_size / 1e6:.1f}", f"{seconds:.1f}"]
        for told, which in ((distil(tools, path, "ddm", "shapes", folder, "--max-shapes", 64)[0], "with_shapes"),
                            (distil(tools, path, "ddm", "animation_space", folder)[0], "with_coefficients")):
            cells.append("-" if told is None else f"{rms(told, which) / own:.2f}")
        row(pathlib.Path(path).name, *cells)


def gains(tools, files, folder):
    table("Distilled to `lbs`, gain in %", "character", "`dqs`, random poses", "clips", "`cor`, random poses", "clips")
    for path, _ in files:
        cells = []
        for deformer in ("dqs", "cor"):
            told, _ = distil(tools, path, deformer, "lbs", folder)
            cells += ["-" if told is None else
                      f"{100 - 100 * rms(told, 'fitted_weights', kind) / rms(told, 'own_weights', kind):.0f}"
                      for kind in ("random_poses", "clip_poses")]
        row(pathlib.Path(path).name, *cells)


def welded(tools, path, deformer, folder):
    """Writes the rest mesh and a cache of the first clip, with one vertex for those that move alike, as dem-bones needs."""
    import sinew
    rest = numpy.asarray(sinew.load(str(path)).rest_pose, numpy.float32).reshape(1, -1, 12)
    numpy.save(folder / "rest.npy", rest)
    for extra, out in ((("--poses", folder / "rest.npy"), "rest.####.obj"), ((), "cache.npy")):
        if run(tools / "sinew", "bake", path, "--deformer", "lbs" if extra else deformer, *extra, "--local", "--quiet",
               "--out", folder / out)[0] is None:
            return None
    lines = [line.split() for line in (folder / "rest.0000.obj").read_text().splitlines()]
    points = numpy.array([line[1:4] for line in lines if line[:1] == ["v"]], numpy.float32)
    cache = numpy.load(folder / "cache.npy")
    grid = 1e-5 * numpy.linalg.norm(points.max(0) - points.min(0))
    rows = numpy.round(numpy.concatenate([points[None], cache]) / grid).transpose(1, 0, 2).reshape(len(points), -1)
    _, kept, of = numpy.unique(rows, axis=0, return_index=True, return_inverse=True)
    of = of.ravel()
    faces = [[of[int(corner.split("/")[0]) - 1] + 1 for corner in line[1:]] for line in lines if line[:1] == ["f"]]
    text = "".join(f"v {p[0]:.9g} {p[1]:.9g} {p[2]:.9g}\n" for p in points[kept])
    text += "".join("f " + " ".join(map(str, face)) + "\n" for face in faces if len(set(face)) == len(face))
    (folder / "rest.obj").write_text(text)
    numpy.save(folder / "welded.npy", cache[:, kept])
    return len(kept), len(cache)


def decomposed(tools, files, folder):
    sys.path.insert(0, str(tools.parent / "python"))
    table(f"Decomposed, {JOINTS} joints, {INFLUENCES} influences", "cache of the first clip", "vertices", "frames", "joints",
          "root mean square / largest", "seconds", "`--connected`", "seconds", "dem-bones", "seconds")
    for path, _ in files:
        for deformer in ("lbs", "ddm"):
            size = None if str(path).startswith("model:") else welded(tools, path, deformer, folder)
            if size is None:
                continue
            cells = []
            for more in ((), ("--connected",)):
                out, seconds = run(tools / "sinew", "decompose", folder / "welded.npy", "--rest", folder / "rest.obj",
                                   "--joints", JOINTS, "--influences", INFLUENCES, *more, "--quiet", "--json", "--out",
                                   folder / "out.sinewrig")
                told = {} if out is None else json.loads(out)
                cells += ["-", "-"] if out is None else (
                    f"{told['error']['rms']['percent']:.3g} / {told['error']['largest']['percent']:.3g}", f"{seconds:.1f}")
                if not more:
                    cells.insert(0, len(told.get("joints", ())))
            other, other_seconds = None, 0
            if os.environ.get("DEM_BONES"):
                other, other_seconds = run(os.environ["DEM_BONES"], folder / "welded.npy", folder / "rest.obj", JOINTS,
                                           INFLUENCES)
            found = re.search(r"rms ([0-9.]+)% max ([0-9.]+)%", other or "")
            row(f"{pathlib.Path(path).name}, `{deformer}`", *size, *cells,
                *((f"{float(found[1]):.3f} / {float(found[2]):.2f}", f"{other_seconds:.1f}") if found else ("-", "-")))


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    tools, only = pathlib.Path(sys.argv[1]).resolve(), "--only" in sys.argv
    given = [(path, template) for path, _, template in
             (text.partition("=") for text in sys.argv[2:] if text != "--only")]
    wanted = (os.environ.get("SINEW_TABLES") or "skeletons weights distil decompose").split()
    data = os.environ.get("SINEW_SHARED_DATA") or ROOT.parent / "shared" / "data"
    with tempfile.TemporaryDirectory() as scratch:
        folder, files = pathlib.Path(scratch), []
        if not only:
            files += [(path, None) for path in (pathlib.Path(data, "models", name) for name in MODELS) if path.exists()]
            files.append(("model:hand", None))
            for name, template in INSTALLED:
                path, glb = pathlib.Path("/usr/share/assimp/models/X", name), folder / f"{pathlib.Path(name).stem}.glb"
                if path.exists() and run("assimp", "export", path, glb, "-fglb2")[0] is not None:
                    files.append((glb, template))
        files += given
        if "skeletons" in wanted:
            skeletons(tools, files)
        if "weights" in wanted:
            weights(tools, files)
        if "distil" in wanted:
            distilled(tools, files, folder)
            gains(tools, files, folder)
        if "decompose" in wanted:
            decomposed(tools, files, folder)


if __name__ == "__main__":
    main()
