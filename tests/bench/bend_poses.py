#!/usr/bin/env python3
"""Poses that bend one joint of a glTF character, for `sinew compare FILE --poses OUT.npy`.

bend_poses.py FILE.glb INSPECT.json OUT.npy UPPER JOINT LOWER X,Y,Z DEGREES[,DEGREES...]

INSPECT.json is what `sinew inspect FILE.glb --json` prints: the order of the joints. Frame 0 is the
bind pose; the others bend JOINT until the bones UPPER to JOINT and JOINT to LOWER make that angle,
0 = straight: about their common normal, or, where they are straight at rest, about X,Y,Z (bind space).
"""
import json
import math
import struct
import sys

import usage  # noqa: F401; answers --help

STRAIGHT = 12  # degrees


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def unit(a):
    return [x / math.sqrt(dot(a, a)) for x in a]


def inverse(rows):
    """Of an affine matrix of three rows of four."""
    columns = [[row[c] for row in rows] for c in range(4)]
    minors = [cross(columns[1], columns[2]), cross(columns[2], columns[0]), cross(columns[0], columns[1])]
    size = dot(columns[0], minors[0])
    return [[x / size for x in minor] + [-dot(minor, columns[3]) / size] for minor in minors]


def bind_matrices(path):
    """Joint name to joint-to-model matrix of the bind pose."""
    with open(path, "rb") as file:
        data = file.read()
    length = struct.unpack_from("<I", data, 12)[0]
    gltf, blob = json.loads(data[20:20 + length]), data[28 + length:]
    found = {}
    for skin in gltf["skins"]:
        accessor = gltf["accessors"][skin["inverseBindMatrices"]]
        view = gltf["bufferViews"][accessor["bufferView"]]
        begin = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        for k, node in enumerate(skin["joints"]):
            m = struct.unpack_from("<16f", blob, begin + 64 * k)
            found[gltf["nodes"][node]["name"]] = inverse([[m[4 * c + r] for c in range(4)] for r in range(3)])
    return found


def turn_about(point, axis, degrees):
    """Rodrigues' rotation about an axis through a point."""
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    across = [cross(axis, e) for e in ([1, 0, 0], [0, 1, 0], [0, 0, 1])]
    turn = [[c * (r == k) + (1 - c) * axis[r] * axis[k] + s * across[k][r] for k in range(3)] for r in range(3)]
    return [row + [point[r] - dot(row, point)] for r, row in enumerate(turn)]


def moved(by, matrix):
    return [[dot(row[:3], [m[k] for m in matrix]) + (row[3] if k == 3 else 0) for k in range(4)] for row in by]


def main(path, inspected, out, upper, joint, lower, hint, degrees):
    bind = bind_matrices(path)
    with open(inspected, encoding="utf-8") as file:
        joints = json.load(file)["joints"]
    origin = {name: [row[3] for row in bind[name]] for name in (upper, joint, lower)}
    above = unit([b - a for a, b in zip(origin[upper], origin[joint])])
    below = unit([b - a for a, b in zip(origin[joint], origin[lower])])
    bent = math.degrees(math.acos(dot(above, below)))
    axis = unit([float(x) for x in hint.split(",")])
    if bent > STRAIGHT:
        axis = unit(cross(above, below))
    else:
        bent = 0
    inside = []
    for j in joints:
        inside.append(j["name"] == joint or (j["parent"] >= 0 and inside[j["parent"]]))
    values = []
    angles = [bent] + [float(x) for x in degrees.split(",")]
    identity = [[float(r == k) for k in range(4)] for r in range(3)]
    for angle in angles:
        by = turn_about(origin[joint], axis, angle - bent)
        for j, follows in zip(joints, inside):
            matrix = bind.get(j["name"], identity)
            values += sum(moved(by, matrix) if follows else matrix, [])
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d, 12), }" % (len(angles), len(joints))
    header += " " * (-(11 + len(header)) % 64) + "\n"
    with open(out, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack("<%df" % len(values), *values))


if __name__ == "__main__":
    if len(sys.argv) != 9:
        sys.exit(__doc__)
    main(*sys.argv[1:])
