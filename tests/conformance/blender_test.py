"""The Blender add-on against the conformance cases, in background Blender (tests/blender/run.py).

The objects of each rig are made in Blender: an armature, meshes with vertex groups and shape keys. Then
- the bones are posed, and what the add-on shows is compared with the reference in double;
- where the rig that the add-on reads has the bytes of the case, its character gets the poses of the case, whose frames
  must have the expected bits. Blender computes the matrices of bones itself, so they are equal to those of a case
  only up to rounding.
"""

import argparse
import importlib
import os
import pathlib
import sys
import unittest

import bpy
import mathutils
import numpy as np

sys.path.insert(0, os.path.dirname(__file__))
from cases import Judge, load  # noqa: E402

options = argparse.ArgumentParser()
for option in ("--cases", "--expected"):
    options.add_argument(option, type=pathlib.Path, required=True)
arguments, rest = options.parse_known_args(sys.argv[sys.argv.index("--") + 1:])

ADDON = next(name for name in bpy.context.preferences.addons.keys() if name.split(".")[-1] == "sinew_blender")
sinew_blender = importlib.import_module(ADDON)
import sinew  # noqa: E402  # the add-on has put it into sys.path

POSE_ERROR = 2e-6  # of the matrices of Blender's bones, relative to the pose that they were set to
# What an error of the matrices does to vertices: at most this factor, and the size of the rig.
POSE_FACTOR = 10


def make_armature(name, rig):
    """Bones whose rest matrices are those of the joints, which are not turned."""
    armature = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    for name, parent, matrix in zip(rig.joints, rig.parents, rig.rest_pose):
        bone = armature.data.edit_bones.new(name)
        bone.head = matrix[:, 3]
        bone.tail = matrix[:, 3] + 0.5 * matrix[:, 1]
        bone.parent = armature.data.edit_bones[parent] if parent >= 0 else None
        bone.inherit_scale = "NONE"
    bpy.ops.object.mode_set(mode="OBJECT")
    return armature


def make_mesh(rig, mesh, armature, shapes):
    """A mesh object with vertex groups, shape keys and an Armature modifier."""
    corners = np.split(mesh.face_vertices, np.cumsum(mesh.face_sizes)[:-1])
    data = bpy.data.meshes.new(mesh.name)
    data.from_pydata(mesh.positions.tolist(), [], [face.tolist() for face in corners])
    made = bpy.data.objects.new(mesh.name, data)
    bpy.context.scene.collection.objects.link(made)
    for joint, name in enumerate(rig.joints):
        group = made.vertex_groups.new(name=name)
        for vertex in np.flatnonzero(mesh.weights[:, joint]):
            group.add([int(vertex)], float(mesh.weights[vertex, joint]), "REPLACE")
    for control, offsets in shapes.items():
        owner, key_name = control.split("/")
        if owner == mesh.name:
            made.shape_key_add(name="Basis")
            key = made.shape_key_add(name=key_name)
            own = offsets[mesh.first_vertex:mesh.first_vertex + mesh.vertices]
            key.data.foreach_set("co", (mesh.positions + own).ravel())
    made.parent = armature
    made.modifiers.new("Armature", "ARMATURE").object = armature
    return made


class BlenderTest(unittest.TestCase):

    def setUp(self):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        bpy.context.preferences.addons[ADDON].preferences.server = "LOCAL"

    def make(self, case):
        rig = sinew.load(case.rig_path)
        armature = make_armature(case.rig, rig)
        meshes = [make_mesh(rig, mesh, armature, case.shapes) for mesh in rig.meshes]
        for each in bpy.context.scene.objects:
            each.select_set(False)
        bpy.context.view_layer.objects.active = armature
        armature.sinew.first.set_text("lbs")
        self.assertEqual(bpy.ops.sinew.bind(), {"FINISHED"})
        return rig, armature, meshes

    def set_recipe(self, armature, recipe):
        if recipe in sinew_blender.methods.METHODS or "(" in recipe or "|" in recipe:
            armature.sinew.first.set_text(recipe)
        else:
            self.assertEqual(bpy.ops.sinew.preset(recipe="first", preset=recipe), {"FINISHED"})

    def set_pose(self, case, k, armature, meshes):
        """Poses the bones and lets the add-on update. Returns the error of their matrices."""
        with sinew_blender.live.suspend():
            for bone, matrix in zip(armature.pose.bones, case.poses[k].reshape(-1, 3, 4)):
                bone.matrix = mathutils.Matrix(matrix.tolist() + [[0, 0, 0, 1]])
                bpy.context.view_layer.update()  # children are set relative to their parents
            for control, value in enumerate(() if case.controls is None else case.controls[k]):
                owner, key = list(case.shapes)[control].split("/")
                bpy.data.objects[owner].data.shape_keys.key_blocks[key].value = value
        bpy.context.scene.frame_set(bpy.context.scene.frame_current)
        got = np.array([bone.matrix for bone in armature.pose.bones])[:, :3]
        return np.abs(got - case.poses[k].reshape(-1, 3, 4)).max()

    def shown(self, armature):
        """(V, 3): the vertices of the output objects, which are where model space is."""
        points = []
        for part in armature.sinew.parts:
            own = np.empty(len(part.output.data.vertices) * 3, np.float32)
            part.output.data.vertices.foreach_get("co", own)
            points.append(own.reshape(-1, 3))
        return np.concatenate(points)

    def test_all(self):
        cases = load(arguments.cases, arguments.expected)
        posed, given = Judge("Blender, posed bones"), Judge("Blender, poses of the cases")
        skipped = {case.not_in_blender for case in cases if case.not_in_blender}
        unequal = []
        rigs = list(dict.fromkeys(case.rig for case in cases if not case.not_in_blender))
        for name in rigs:
            self.setUp()
            own = [case for case in cases if case.rig == name]
            rig, armature, meshes = self.make(own[0])
            size = np.linalg.norm(np.ptp(np.concatenate([mesh.positions for mesh in rig.meshes]), axis=0))
            for case in own:
                with self.subTest(case.name):
                    self.set_recipe(armature, case.recipe)
                    self.check_posed(case, posed, armature, meshes, size)
                    if not self.check_given(case, given, armature) and name not in unequal:
                        unequal.append(name)
        print(f"conformance: Blender, posed bones: {posed.near} of {posed.references} cases near their reference")
        given.report()
        print(f"conformance: Blender: {sum(bool(case.not_in_blender) for case in cases)} cases cannot be made there: "
              f"{'; '.join(sorted(skipped))}")
        for name in unequal:
            print(f"conformance: Blender: the bits of {name} are not compared: the add-on reads a rig with other bytes")

    def check_posed(self, case, judge, armature, meshes, size):
        judge.cases += 1
        for k in range(len(case.frames)):
            error = self.set_pose(case, k, armature, meshes)
            self.assertLess(error, POSE_ERROR * max(1, np.abs(case.poses[k]).max()), case.frames[k])
            state = sinew_blender.live.runtime(armature)
            self.assertEqual(state.error, "")
            if case.reference is not None:
                judge.check_near(case, k, self.shown(armature), POSE_FACTOR * error * size)
        if case.reference is not None:
            judge.references += 1
            judge.near += 1

    def check_given(self, case, judge, armature):
        """Whether the rig that the add-on reads has the bytes of the case."""
        state = sinew_blender.live.runtime(armature)
        path = pathlib.Path(os.environ["SINEW_TEST_FOLDER"]) / "read.sinewrig"
        state.rest.rig.save(path)
        character = state.characters[armature.sinew.first.text]
        frames = character.clip(sinew.Poses(case.poses, case.controls))
        equal = path.read_bytes() == case.rig_path.read_bytes()
        judge.check(case, frames, character.determinism_digest if equal else "other bytes")
        return equal


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *rest])
