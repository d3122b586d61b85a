#!/usr/bin/env python3
"""Writes skinned characters with random proportions, tessellation and weights as .glb, each with a clip of 49 frames.

generated_characters.py FOLDER SEED [SEED...]

Writes FOLDER/limb-SEED.glb, tail-SEED.glb, hand-SEED.glb and body-SEED.glb. Nothing in core is tuned on odd seeds: judge
on those. Each character is one closed surface around its bones; in the middle of the clip its joints are bent most.
"""
import json
import pathlib
import struct
import sys

import usage  # noqa: F401; answers --help

import numpy

FRAMES, FPS = 49, 24


class Bone:
    def __init__(self, parent, head, tail, radii, axis=(1, 0, 0), degrees=0.0):
        self.parent, self.head, self.tail = parent, numpy.array(head, float), numpy.array(tail, float)
        self.radii, self.axis, self.degrees = radii, numpy.array(axis, float), degrees


def chain(bones, parent, head, direction, lengths, radii, axis, degrees):
    """Appends bones in a row, whose radii are given at their ends."""
    at = numpy.array(head, float)
    for length, from_radius, to_radius, angle in zip(lengths, radii, radii[1:], degrees):
        end = at + length * numpy.array(direction, float)
        bones.append(Bone(parent, at, end, (from_radius, to_radius), axis, angle))
        parent, at = len(bones) - 1, end
    return parent


def limb(random):
    radius, bones = random.uniform(0.12, 0.25), []
    taper = random.uniform(0.6, 1.0)
    chain(bones, -1, (0, 0, 0), (0, 1, 0), random.uniform(0.7, 1.3, 3) * (1, 1, 0.6),
          radius * numpy.array([1, taper ** 0.5, taper, 0.8 * taper]), (1, 0, 0),
          (0, random.uniform(90, 140), random.uniform(20, 70)))
    return bones


def tail(random):
    count, bones = random.integers(6, 11), []
    axis = numpy.array([random.uniform(-1, 1), 0, random.uniform(-1, 1)])
    chain(bones, -1, (0, 0, 0), (0, 1, 0), random.uniform(0.25, 0.5, count),
          numpy.geomspace(random.uniform(0.2, 0.35), random.uniform(0.08, 0.15), count + 1),
          axis / numpy.linalg.norm(axis), [0, *random.uniform(15, 40, count - 1)])
    return bones


def hand(random):
    fingers, radius = random.integers(3, 6), random.uniform(0.09, 0.13)
    gap = radius * random.uniform(2.4, 3.0)
    width = gap * (fingers - 1)
    bones = [Bone(-1, (0, 0, 0), (0, 0.9, 0), (0.6 * width, 0.6 * width))]
    for k in range(fingers):
        length = random.uniform(0.28, 0.45)
        chain(bones, 0, (gap * k - width / 2, 0.95 + 0.55 * width, 0), (0, 1, 0), length * numpy.array([1.1, 0.9, 0.7]),
              radius * numpy.array([1.05, 1, 0.9, 0.8]), (1, 0, 0), random.uniform(50, 95, 3))
    return bones


def body(random):
    tall, broad = random.uniform(0.8, 1.2), random.uniform(0.8, 1.25)
    bones = []
    waist = chain(bones, -1, (0, 0.95 * tall, 0), (0, 1, 0), numpy.array([0.16, 0.2, 0.22]) * tall,
                  numpy.array([0.15, 0.12, 0.14, 0.09]) * broad, (1, 0, 0), (0, random.uniform(10, 30), 10))
    chain(bones, waist, bones[waist].tail, (0, 1, 0), numpy.array([0.08, 0.2]) * tall,
          numpy.array([0.06, 0.07, 0.1]) * broad, (1, 0, 0), (10, 15))
    elbow, knee, hip, shoulder = random.uniform(80, 135), random.uniform(80, 135), random.uniform(30, 80), 40
    for side in (1, -1):
        arm = numpy.array([0.05, 0.045, 0.035, 0.03]) * broad
        chain(bones, waist, (0.17 * side * broad, bones[waist].tail[1] - 0.05 * tall, 0),
              (0.8 * side, -0.6, 0), numpy.array([0.28, 0.26, 0.16]) * tall, arm, (0, -side, 0),
              (shoulder, elbow, 20))
        leg = numpy.array([0.085, 0.06, 0.045, 0.035]) * broad
        chain(bones, 0, (0.1 * side * broad, 0.92 * tall, 0), (0.06 * side, -0.998, 0),
              numpy.array([0.42, 0.42, 0.14]) * tall, leg, (-1, 0, 0), (hip, 0, 0))
        bones[-2].axis, bones[-2].degrees = numpy.array([1.0, 0, 0]), knee
    return bones


def distance(bones, points):
    """Smoothly joined signed distance of round cones, [N]."""
    total = None
    for bone in bones:
        d, _ = from_bone(bone, points)
        if total is None:
            total = d
            continue
        k = 0.3 * min(bone.radii)
        e = numpy.maximum(0, 1 - numpy.abs(total - d) / k)
        total = numpy.minimum(total, d) - k / 4 * e * e
    return total


def from_bone(bone, points):
    """Signed distance from a bone's round cone, and that from its axis over the radius there."""
    along = bone.tail - bone.head
    t = numpy.clip((points - bone.head) @ along / (along @ along), 0, 1)
    radius = bone.radii[0] + t * (bone.radii[1] - bone.radii[0])
    reach = numpy.linalg.norm(points - bone.head - t[:, None] * along, axis=1)
    return reach - radius, reach / radius


def surface(bones, cell):
    """Vertices and quads of the zero set: surface nets on a grid, moved onto the set."""
    ends = numpy.array([p + s * max(b.radii) for b in bones for p in (b.head, b.tail) for s in (-1, 1)])
    low = ends.min(0) - 2 * cell
    shape = numpy.ceil((ends.max(0) + 2 * cell - low) / cell).astype(int) + 1
    grid = numpy.stack(numpy.meshgrid(*(numpy.arange(n) for n in shape), indexing="ij"), -1)
    values = distance(bones, (low + cell * grid).reshape(-1, 3)).reshape(shape)
    inside = values < 0
    corners = [(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)]

    def shifted(array, by):
        return array[tuple(slice(b, n - 1 + b) for b, n in zip(by, shape))]

    count = sum(shifted(inside, c).astype(int) for c in corners)
    mixed = (count > 0) & (count < 8)
    number = numpy.full(mixed.shape, -1)
    number[mixed] = numpy.arange(mixed.sum())
    points = low + cell * (numpy.argwhere(mixed) + 0.5)
    for _ in range(4):
        f = distance(bones, points)
        steps = numpy.eye(3) * cell * 1e-3
        gradient = numpy.stack([(distance(bones, points + s) - f) / (cell * 1e-3) for s in steps], -1)
        move = -f[:, None] * gradient / numpy.maximum((gradient ** 2).sum(1), 1e-9)[:, None]
        points += numpy.clip(move, -cell / 2, cell / 2)
    quads = []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        step = numpy.zeros(3, int)
        step[axis] = 1
        start = numpy.argwhere(inside[tuple(slice(0, n - s) for n, s in zip(shape, step))]
                               != inside[tuple(slice(s, n) for n, s in zip(shape, step))])
        start = start[(start[:, u] > 0) & (start[:, v] > 0)]
        around = []
        for du, dv in ((-1, -1), (0, -1), (0, 0), (-1, 0)):
            at = start.copy()
            at[:, u] += du
            at[:, v] += dv
            around.append(number[tuple(at.T)])
        quad = numpy.stack(around, -1)
        flip = ~inside[tuple(start.T)]
        quad[flip] = quad[flip][:, ::-1]
        quads.append(quad)
    return points, numpy.concatenate(quads)


def weights_of(bones, points, quads, sharpness, passes):
    """[N, bones]: falls with the distance from bones beside the nearest one, smoothed over the mesh."""
    depth, relative = zip(*(from_bone(b, points) for b in bones))
    depth, relative = numpy.stack(depth, -1), numpy.stack(relative, -1)
    nearest = depth.argmin(1)
    beside = numpy.eye(len(bones), dtype=bool)
    for k, bone in enumerate(bones):
        if bone.parent >= 0:
            beside[k, bone.parent] = beside[bone.parent, k] = True
    weights = numpy.exp(-sharpness * (relative ** 2 - relative.min(1, keepdims=True) ** 2)) * beside[nearest]
    weights /= weights.sum(1, keepdims=True)
    edges = numpy.concatenate([quads[:, [k, (k + 1) % 4]] for k in range(4)])
    degree = numpy.maximum(1, numpy.bincount(edges.ravel(), minlength=len(points)))[:, None]
    for _ in range(passes):
        sums = numpy.zeros_like(weights)
        numpy.add.at(sums, edges[:, 0], weights[edges[:, 1]])
        numpy.add.at(sums, edges[:, 1], weights[edges[:, 0]])
        weights = 0.5 * (weights + sums / degree)
    weights = numpy.pad(weights, ((0, 0), (0, max(0, 4 - len(bones)))))
    order = numpy.argsort(-weights, axis=1)[:, :4]
    kept = numpy.take_along_axis(weights, order, 1)
    kept[kept < 0.01] = 0
    order[kept == 0] = 0
    return order, kept / kept.sum(1, keepdims=True)


def write(path, bones, points, quads, joints, weights):
    blob, views, accessors = bytearray(), [], []

    def add(array, kind, component, bounds=False):
        views.append({"buffer": 0, "byteOffset": len(blob), "byteLength": array.nbytes})
        accessor = {"bufferView": len(views) - 1, "componentType": component, "count": len(array), "type": kind}
        if bounds:
            accessor["min"] = numpy.atleast_1d(array.min(0)).tolist()
            accessor["max"] = numpy.atleast_1d(array.max(0)).tolist()
        accessors.append(accessor)
        blob.extend(array.tobytes())
        blob.extend(b"\0" * (-len(blob) % 4))
        return len(accessors) - 1

    triangles = numpy.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]], 1).reshape(-1)
    inverse = numpy.tile(numpy.eye(4, dtype="<f4"), (len(bones), 1, 1))
    inverse[:, 3, :3] = -numpy.array([b.head for b in bones])
    attributes = {"POSITION": add(points.astype("<f4"), "VEC3", 5126, True),
                  "JOINTS_0": add(joints.astype("<u2"), "VEC4", 5123),
                  "WEIGHTS_0": add(weights.astype("<f4"), "VEC4", 5126)}
    mesh = {"primitives": [{"attributes": attributes, "indices": add(triangles.astype("<u4"), "SCALAR", 5125)}]}
    skin = {"joints": list(range(len(bones))), "inverseBindMatrices": add(inverse.reshape(-1, 16), "MAT4", 5126)}
    times = add((numpy.arange(FRAMES) / FPS).astype("<f4"), "SCALAR", 5126, True)
    bend = 0.5 - 0.5 * numpy.cos(2 * numpy.pi * numpy.arange(FRAMES) / (FRAMES - 1))
    channels, samplers, nodes = [], [], []
    for k, bone in enumerate(bones):
        parent = bones[bone.parent].head if bone.parent >= 0 else 0
        children = [c for c, child in enumerate(bones) if child.parent == k]
        nodes.append({"name": f"bone{k}", "translation": (bone.head - parent).tolist(),
                      **({"children": children} if children else {})})
        half = numpy.radians(bone.degrees) * bend / 2
        turns = numpy.concatenate([numpy.sin(half)[:, None] * bone.axis, numpy.cos(half)[:, None]], 1)
        samplers.append({"input": times, "output": add(turns.astype("<f4"), "VEC4", 5126)})
        channels.append({"sampler": k, "target": {"node": k, "path": "rotation"}})
    nodes.append({"mesh": 0, "skin": 0})
    gltf = {"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0, len(nodes) - 1]}], "nodes": nodes,
            "meshes": [mesh], "skins": [skin], "animations": [{"name": "bend", "channels": channels,
                                                               "samplers": samplers}],
            "buffers": [{"byteLength": len(blob)}], "bufferViews": views, "accessors": accessors}
    text = json.dumps(gltf).encode()
    text += b" " * (-len(text) % 4)
    with open(path, "wb") as file:
        file.write(struct.pack("<4sII", b"glTF", 2, 28 + len(text) + len(blob)))
        file.write(struct.pack("<I4s", len(text), b"JSON") + text)
        file.write(struct.pack("<I4s", len(blob), b"BIN\0") + blob)


def make(folder, seed):
    """The paths of the characters of one seed."""
    paths = []
    for k, kind in enumerate((limb, tail, hand, body)):
        random = numpy.random.default_rng(4 * seed + k)
        bones = kind(random)
        thinnest = min(min(b.radii) for b in bones)
        points, quads = surface(bones, thinnest * random.uniform(0.3, 0.6))
        joints, weights = weights_of(bones, points, quads, random.uniform(1, 4), int(random.integers(0, 8)))
        paths.append(pathlib.Path(folder, f"{kind.__name__}-{seed}.glb"))
        write(paths[-1], bones, points, quads, joints, weights)
    return paths


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    for seed in sys.argv[2:]:
        for path in make(sys.argv[1], int(seed)):
            print(path)


if __name__ == "__main__":
    main()
