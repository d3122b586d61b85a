#!/usr/bin/env python3
"""Draws how far vertices jump while a joint closes, as .svg.

pop_plot.py OUT.svg LABEL SINEW RECIPE [LABEL SINEW RECIPE ...]

Bakes model:cylinder, which bends by a degree per frame, with each program and recipe. The plot has the largest second
difference of a vertex at each angle, over the radius, on a logarithmic scale.
"""
import math
import pathlib
import subprocess
import sys
import tempfile

import usage  # noqa: F401; answers --help

import numpy

RADIUS, DEGREES = 0.1, 150
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 380, 70, 190, 20, 45
LOW, HIGH = 1e-4, 1
COLOURS = ("#888888", "#c08a2b", "#3b7dd8", "#d1495b", "#2a9d5c", "#7b4fa3")


def pops(sinew, recipe):
    """[DEGREES - 1]: at each angle from 1 degree on."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "sweep.npy")
        subprocess.run([sinew, "--local", "--quiet", "bake", "model:cylinder", "--deformer", recipe, "--frames",
                        f"0-{DEGREES}", "--out", out], check=True, stdout=subprocess.DEVNULL)
        frames = numpy.load(out).astype(float)
    second = numpy.linalg.norm(frames[2:] - 2 * frames[1:-1] + frames[:-2], axis=-1)
    return second.max(-1) / RADIUS


def x_of(degrees):
    return LEFT + (WIDTH - LEFT - RIGHT) * degrees / DEGREES


def y_of(value):
    share = math.log(min(max(value, LOW), HIGH) / LOW) / math.log(HIGH / LOW)
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share


def text(x, y, content, anchor="middle", extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {extra}>{content}</text>'


def main():
    if len(sys.argv) < 5 or len(sys.argv) % 3 != 2:
        sys.exit(__doc__)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
             f'font-size="13">', f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    for degrees in range(0, DEGREES + 1, 30):
        x = x_of(degrees)
        parts.append(f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{HEIGHT - BOTTOM}" stroke="#dddddd"/>')
        parts.append(text(x, HEIGHT - BOTTOM + 18, f"{degrees}°"))
    for power in range(-4, 1):
        y = y_of(10.0 ** power)
        parts.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="#dddddd"/>')
        parts.append(text(LEFT - 8, y + 4, f"{10.0 ** power:g}", "end"))
    parts.append(text(x_of(DEGREES / 2), HEIGHT - 8, "bend of the joint"))
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(text(16, middle, "largest jump, radii", extra=f'transform="rotate(-90 16 {middle})"'))
    rows = [sys.argv[k:k + 3] for k in range(2, len(sys.argv), 3)]
    for k, (label, sinew, recipe) in enumerate(rows):
        colour = COLOURS[k % len(COLOURS)]
        values = pops(sinew, recipe)
        line = " ".join(f"{x_of(i + 1):.1f},{y_of(v):.1f}" for i, v in enumerate(values))
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        y = TOP + 18 + 22 * k
        parts.append(f'<line x1="{WIDTH - RIGHT + 12}" y1="{y}" x2="{WIDTH - RIGHT + 36}" y2="{y}" stroke="{colour}" '
                     f'stroke-width="3"/>')
        parts.append(text(WIDTH - RIGHT + 42, y + 4, label, "start"))
        print(f"{label}: largest {values.max():.4f}")
    pathlib.Path(sys.argv[1]).write_text("\n".join([*parts, "</svg>", ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
