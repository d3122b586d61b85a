"""Times of scene.frame_set: Sinew's live update beside Blender's own modifiers, in one run, taking turns.

usage, on an idle machine:
  SINEWD=build/release/bin/sinewd /usr/bin/python3 tests/blender/run.py --blender blender \
    --zip build/release/sinew_blender.zip --script tests/blender/speed.py [--vertices V] [--rounds R] [--recipe TEXT]
"""

import argparse
import contextlib
import os
import statistics
import sys
import tempfile
import time

import bpy
import numpy as np

sys.path.insert(0, os.path.dirname(__file__))
from base import preferences, state  # noqa: E402
from characters import new_scene, select  # noqa: E402
from sinew.testing import Server  # noqa: E402

BONES = 50
SEGMENTS = 400  # vertices around the tube
FRAMES = 10  # timed in each turn, after two others


def tube_mesh(vertices):
    """An open tube of quads along Z, one unit for each bone; and the height of each ring."""
    rings = vertices // SEGMENTS
    angle, height = np.meshgrid(np.linspace(0, 2 * np.pi, SEGMENTS, endpoint=False), np.linspace(0, BONES, rings))
    points = np.stack([2 * np.cos(angle), 2 * np.sin(angle), height], axis=-1).astype("f4")
    around = np.arange(SEGMENTS)
    after = np.roll(around, -1)
    quads = (np.stack([around, after, after + SEGMENTS, around + SEGMENTS], axis=1)[None] +
             SEGMENTS * np.arange(rings - 1)[:, None, None]).astype("i4")
    mesh = bpy.data.meshes.new("Tube")
    mesh.vertices.add(rings * SEGMENTS)
    mesh.vertices.foreach_set("co", points.ravel())
    mesh.loops.add(quads.size)
    mesh.loops.foreach_set("vertex_index", quads.ravel())
    mesh.polygons.add(quads.size // 4)
    mesh.polygons.foreach_set("loop_start", np.arange(0, quads.size, 4, dtype="i4"))
    mesh.polygons.foreach_set("loop_total", np.full(quads.size // 4, 4, "i4"))
    mesh.update(calc_edges=True)
    return mesh, height[:, 0]


def make_armature():
    armature = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    parent = None
    for k in range(BONES):
        bone = armature.data.edit_bones.new(f"bone{k}")
        bone.head, bone.tail, bone.parent = (0, 0, k), (0, 0, k + 1), parent
        parent = bone
    bpy.ops.object.mode_set(mode="OBJECT")
    for k, bone in enumerate(armature.pose.bones):
        bone.rotation_mode = "XYZ"
        for frame, share in ((1, 0.0), (100, 1.0)):
            bone.rotation_euler = (0.1 * share, 0.05 * share * (-1)**k, 0)
            bone.keyframe_insert("rotation_euler", frame=frame)
    return armature


def add_weights(tube, heights):
    """Four influences for each vertex."""
    groups = [tube.vertex_groups.new(name=f"bone{k}") for k in range(BONES)]
    centres = np.arange(BONES) + 0.5
    for ring, height in enumerate(heights):
        nearest = np.argsort(np.abs(centres - height))[:4]
        weights = np.exp(-(centres[nearest] - height)**2)
        vertices = range(ring * SEGMENTS, (ring + 1) * SEGMENTS)
        for bone, weight in zip(nearest, weights / weights.sum()):
            groups[bone].add(vertices, float(weight), "REPLACE")


class Peer:
    """A scene with the tube, deformed by modifiers or, with a recipe, by Sinew."""

    def __init__(self, name, vertices, smooth=0, armature_modifier=True, recipe="", server=""):
        self.name, self.times, self.waits, self._recipe, self._server = name, [], [], recipe, server
        self._frame = 1
        self.scene = bpy.context.window.scene = bpy.data.scenes.new(name)
        self.armature = make_armature()
        mesh, heights = tube_mesh(vertices)
        self._tube = bpy.data.objects.new("Tube", mesh)
        self.scene.collection.objects.link(self._tube)
        self._tagged = not armature_modifier
        if armature_modifier:
            add_weights(self._tube, heights)
            self._tube.modifiers.new("Armature", "ARMATURE").object = self.armature
        if smooth:
            self._tube.modifiers.new("Smooth", "CORRECTIVE_SMOOTH").iterations = smooth

    def start_turn(self):
        bpy.context.window.scene = self.scene
        if not self._recipe:
            return
        if self._server:
            preferences().address = self._server
        preferences().server = "REMOTE" if self._server else "LOCAL"
        if not self.armature.sinew.bound:
            select(self.armature)
            self.armature.sinew.first.set_text(self._recipe)
            bpy.ops.sinew.bind()

    def step(self):
        """Seconds for the next frame."""
        self._frame = self._frame % 100 + 1
        if self._tagged:
            self._tube.data.update()  # evaluated again, without a change
        start = time.perf_counter()
        self.scene.frame_set(self._frame)
        seconds = time.perf_counter() - start
        if self._recipe and state(self.armature).error:
            raise RuntimeError(state(self.armature).error)
        return seconds

    def turn(self):
        self.start_turn()
        for k in range(FRAMES + 2):
            seconds = self.step()
            if k >= 2:
                self.times.append(seconds * 1000)
                if self._recipe:
                    self.waits.append(state(self.armature).milliseconds)


def main():
    options = argparse.ArgumentParser(prog="speed.py")
    options.add_argument("--vertices", type=int, default=200_000)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--recipe", default="ddm")
    arguments = options.parse_args(sys.argv[sys.argv.index("--") + 1:])
    new_scene()
    with contextlib.ExitStack() as servers:
        folder = servers.enter_context(tempfile.TemporaryDirectory())
        tcp = servers.enter_context(Server()).address
        unix = servers.enter_context(Server(listen=f"unix:{folder}/sinewd")).address
        sinew = [(f"Sinew {arguments.recipe}, {place}", {"recipe": arguments.recipe, "server": address})
                 for place, address in (("in Blender", ""), ("sinewd, TCP", tcp), ("sinewd, Unix socket", unix))]
        peers = [Peer(name, arguments.vertices, **settings) for name, settings in
                 [("no deformation, evaluated again", {"armature_modifier": False}),
                  ("Armature", {}),
                  ("Armature, Corrective Smooth 10", {"smooth": 10}),
                  ("Armature, Corrective Smooth 30", {"smooth": 30}), *sinew]]
        for _ in range(arguments.rounds):
            for peer in peers:
                peer.turn()
        print(f"\nBlender {bpy.app.version_string}, {arguments.vertices:,} vertices, {BONES} bones, 4 influences, "
              f"{arguments.rounds * FRAMES} frames each, ms\n")
        print("| | median | minimum | of it, waiting for vertices and writing them |\n|---|---:|---:|---:|")
        for peer in peers:
            waits = f"{statistics.median(peer.waits):.1f}" if peer.waits else ""
            print(f"| {peer.name} | {statistics.median(peer.times):.1f} | {min(peer.times):.1f} | {waits} |")
        preferences().server = "LOCAL"


main()
