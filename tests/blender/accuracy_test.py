"""lbs and dqs of the add-on beside Blender's own Armature modifier: real characters with their clips, and files that
are authored here, saved and opened again. Prints distances in parts of the diagonal, for client/docs/blender.md.
"""

import os
import pathlib
import sys

import bpy
import mathutils
import numpy as np

sys.path.insert(0, os.path.dirname(__file__))
from authored import constrained, library, uses_library  # noqa: E402
from base import AddonTest, diagonal, farthest, outputs, reopened, run, sinew_blender, state  # noqa: E402
from characters import new_scene  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = pathlib.Path(os.environ.get("SINEW_SHARED_DATA") or ROOT.parent / "shared" / "data") / "models"
BOUND = 2e-6
FRAMES_OF_A_CLIP = 6
METHODS = {"lbs": False, "dqs": True}  # and Preserve Volume of the Armature modifier

if "bool" not in vars(np):
    np.bool = bool  # the glTF importer of Blender 3.4 needs it


def armature_of_scene():
    return next(each for each in bpy.context.scene.objects if each.type == "ARMATURE")


def meshes_of(armature):
    return [each for each in bpy.context.scene.objects
            if each.type == "MESH" and sinew_blender.operators.deforms(armature, each)]


class Blend:
    """What decides whether a character's dual quaternions are blended as in Blender."""

    def __init__(self, armature):
        self._rest = state(armature).rest
        rig = self._rest.rig
        weights = np.concatenate([mesh.weights for mesh in rig.meshes])
        self._joints = np.argsort(-weights, axis=1)[:, :8]  # the strongest first
        self._used = np.take_along_axis(weights, self._joints, axis=1) > 0
        rows = np.broadcast_to(np.eye(4), (len(rig.joints), 4, 4)).copy()
        rows[:, :3] = rig.rest_pose
        self._inverse_rest = np.linalg.inv(rows)

    def of_pose(self, armature):
        """How much joints stretch, shrink or shear: 0 if they only turn and move. And the smallest product of two
        quaternions that move one vertex, each on the side of its strongest joint: if it is negative, the sum depends on
        which sides are chosen."""
        pose = self._rest.pose(armature.evaluated_get(bpy.context.evaluated_depsgraph_get()))
        motion = pose.astype(np.float64) @ self._inverse_rest
        stretch = np.abs(np.linalg.svd(motion[:, :, :3], compute_uv=False) - 1).max()
        turns = np.array([mathutils.Matrix(each[:, :3]).to_quaternion() for each in motion])[self._joints]
        turns *= np.where(np.einsum("vkq,vq->vk", turns, turns[:, 0]) < 0, -1.0, 1.0)[:, :, None]
        products = np.einsum("vkq,vlq->vkl", turns, turns)
        return stretch, products[self._used[:, :, None] & self._used[:, None]].min()


class Accuracy(AddonTest):

    def clips(self, _armature):
        """Names, functions that choose the clip, and first and last frame."""
        return [("scene", lambda: None, 1, 10)]

    def shown(self, armature, objects, see=lambda: None):
        """World points of objects in the frames of all clips; and what see() returns in each."""
        points, seen = {}, {}
        for name, choose, first, last in self.clips(armature):
            choose()
            for frame in np.unique(np.linspace(first, last, FRAMES_OF_A_CLIP).round().astype(int)).tolist():
                points[name, frame] = self.at_frames(objects, [frame])[frame]
                seen[name, frame] = see()
        return points, seen

    def measure(self, name):
        """Compares the character of the scene, and leaves it bound to dqs."""
        armature = armature_of_scene()
        meshes = meshes_of(armature)
        expected = {}
        for method, preserve_volume in METHODS.items():
            for each in meshes:
                modifier = sinew_blender.snapshot.armature_modifier(each, armature)
                modifier.use_deform_preserve_volume = preserve_volume
            expected[method], _ = self.shown(armature, meshes)
        shapes = "shapes | " if any(each.data.shape_keys for each in meshes) else ""
        armature.sinew.unweighted = "STILL"
        distances = {}
        for method in METHODS:
            self.bind(armature, shapes + method)
            self.assertEqual([part.source for part in armature.sinew.parts], meshes)
            blend = Blend(armature)
            got, seen = self.shown(armature, outputs(armature), lambda: blend.of_pose(armature))
            self.assertEqual(state(armature).error, "")
            size = diagonal(next(iter(expected[method].values())))
            distances[method] = {frame: farthest(got[frame], expected[method][frame]) / size for frame in got}
        vertices = sum(len(each.data.vertices) for each in meshes)
        largest = {method: max(each.values()) for method, each in distances.items()}
        stretches, products = zip(*seen.values())
        print(f"| {name} | {vertices:,} | {len(seen)} | {largest['lbs']:.1e} | {largest['dqs']:.1e} | "
              f"{max(stretches):.1e} | {min(products):.2f} |", flush=True)
        self.assertLessEqual(largest["lbs"], BOUND)
        for frame, (stretch, product) in seen.items():
            if product > 0:  # where joints stretch, the two conventions differ by a part of it
                self.assertLessEqual(distances["dqs"][frame], BOUND + stretch, frame)


class Characters(Accuracy):

    def clips(self, armature):
        """Every action that the importer made, for bones or for shape keys."""
        keys = [each.data.shape_keys for each in meshes_of(armature) if each.data.shape_keys]
        for each in (armature, *keys):
            each.animation_data_create().use_nla = False

        def choose(action):
            for bone in armature.pose.bones:
                bone.matrix_basis.identity()  # nothing is left of the clip before
            for block in (block for each in keys for block in each.key_blocks):
                block.value = 0
            for each in (armature, *keys):
                own = action.id_root == ("OBJECT" if each == armature else "KEY")
                each.animation_data.action = action if own else None

        return [(action.name, lambda action=action: choose(action), *action.frame_range) for action in bpy.data.actions]

    def test_characters_with_their_clips(self):
        files = sorted(each for each in MODELS.glob("*") if each.suffix in (".glb", ".gltf", ".fbx"))
        if not files:
            self.skipTest(f"no characters in {MODELS}")
        for file in files:
            with self.subTest(file.name):
                self.scene = new_scene()
                if file.suffix == ".fbx":
                    bpy.ops.import_scene.fbx(filepath=str(file))
                else:
                    bpy.ops.import_scene.gltf(filepath=str(file))
                self.measure(file.name)


class Files(Accuracy):

    def measure_file(self, name):
        self.measure(name)
        # Bound, saved and opened again.
        recipe = "shapes | ddm(iterations=7)"
        armature = armature_of_scene()
        armature.sinew.first.set_text(recipe)
        before, _ = self.shown(armature, outputs(armature))
        self.scene = reopened(name)
        armature = armature_of_scene()
        self.assertEqual(armature.sinew.first.text, recipe)
        after, _ = self.shown(armature, outputs(armature))
        self.assert_close(after, before, 0)

    def test_constraints_driver_shapes_and_scaled_parents(self):
        constrained()
        self.scene = reopened("constrained.blend")
        self.measure_file("constrained.blend")

    def test_ngons_non_uniform_scale_and_library(self):
        library()
        path = bpy.data.filepath
        new_scene()
        uses_library(path)
        self.scene = reopened("linked.blend")
        armature = armature_of_scene()
        self.assertIsNotNone(armature.override_library)
        self.measure_file("linked.blend")


if __name__ == "__main__":
    run()
