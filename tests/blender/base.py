"""What the tests of the add-on share: the installed add-on, and a test case that binds and measures."""

import importlib
import os
import pathlib
import sys
import unittest

import bpy
import numpy as np

sys.path.insert(0, os.path.dirname(__file__))
from characters import add_shape, animate, chain, new_scene, select, tube, world_points  # noqa: E402

FRAMES = (1, 4, 7, 10)
FOLDER = pathlib.Path(os.environ["SINEW_TEST_FOLDER"])
# "sinew_blender", or "bl_ext.user_default.sinew_blender" as an extension.
ADDON = next(name for name in bpy.context.preferences.addons.keys() if name.split(".")[-1] == "sinew_blender")
sinew_blender = importlib.import_module(ADDON)


def preferences():
    return bpy.context.preferences.addons[ADDON].preferences


def state(armature):
    return sinew_blender.live.runtime(armature)


def outputs(armature):
    return [part.output for part in armature.sinew.parts]


def diagonal(points):
    """Of the box around all arrays."""
    return np.linalg.norm(np.ptp(np.concatenate(points), axis=0))


def farthest(one, other):
    """The largest distance between points of two lists of arrays."""
    return max(np.linalg.norm(a - b, axis=1).max() for a, b in zip(one, other, strict=True))


def reopened(name):
    """Saves the file and opens it from the disk. Objects must be looked up again; returns the scene."""
    path = str(FOLDER / name)
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    return bpy.context.scene


class AddonTest(unittest.TestCase):

    def setUp(self):
        self.scene = new_scene()
        preferences().server = "LOCAL"

    def bind(self, armature, recipe):
        select(armature)
        armature.sinew.first.set_text(recipe)
        self.assertEqual(bpy.ops.sinew.bind(), {"FINISHED"})

    def bake(self, armature, **settings):
        for name, value in {"folder": str(FOLDER), "scene_range": False, "first": 1, "last": 10, **settings}.items():
            setattr(armature.sinew, "bake_" + name, value)
        self.assertEqual(bpy.ops.sinew.bake(), {"FINISHED"})

    def at_frames(self, objects, frames=FRAMES):
        """World points by frame, one array for each object."""
        points = {}
        for frame in frames:
            self.scene.frame_set(frame)
            points[frame] = [world_points(each) for each in objects]
        return points

    def distance(self, got, expected):
        """The largest of all frames, in parts of the diagonal at the first frame."""
        size = diagonal(next(iter(expected.values())))
        return max(farthest(got[frame], points) for frame, points in expected.items()) / size

    def assert_close(self, got, expected, tolerance):
        self.assertLessEqual(self.distance(got, expected), tolerance)


class CharacterTest(AddonTest):

    def make(self):
        """Two meshes, of which one is scaled and has a shape key."""
        armature = chain()
        meshes = [tube(armature, "Body", 0.5), tube(armature, "Cloth", 0.6)]
        meshes[1].scale, meshes[1].location = (1.1, 1.3, 0.9), (0.1, 0, 0.1)
        add_shape(meshes[0])
        animate(armature)
        self.scene.frame_set(1)
        return armature, meshes


def run():
    """Runs the tests of a script of Blender. Exit code: 1 if one failed."""
    arguments = sys.argv[sys.argv.index("--") + 1:] if "--" in sys.argv else sys.argv[1:]
    result = unittest.main(module="__main__", argv=[sys.argv[0], *arguments], exit=False, verbosity=2).result
    if not result.wasSuccessful():
        sys.exit(1)
