"""Characters of the Python package: files, arrays, and what of them can be deformed."""

import base64
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import warnings
from unittest import mock

import command_line

arguments, rest = command_line.read("package")

import numpy as np  # noqa: E402
import sinew  # noqa: E402


def gltf_of(arrays, **rest):
    """A glTF file as JSON, with an accessor for each array of float32 or uint8, (N, 3), (N, 4), (N, 16) or (N,)."""
    views, accessors, data = [], [], b""
    for array in arrays:
        views.append({"buffer": 0, "byteOffset": len(data), "byteLength": array.nbytes})
        kind = {1: "SCALAR", 3: "VEC3", 4: "VEC4", 16: "MAT4"}[array[0].size]
        accessors.append({"bufferView": len(accessors), "componentType": 5126 if array.dtype == np.float32 else 5121,
                          "type": kind, "count": len(array)})
        if kind in ("SCALAR", "VEC3"):
            flat = array.reshape(len(array), -1)
            accessors[-1].update(min=flat.min(axis=0).tolist(), max=flat.max(axis=0).tolist())
        data += array.tobytes()
    uri = "data:application/octet-stream;base64," + base64.b64encode(data).decode()
    return {"asset": {"version": "2.0"}, "bufferViews": views, "accessors": accessors,
            "buffers": [{"byteLength": len(data), "uri": uri}], **rest}


JOINTS = [{"name": "root", "children": [1]}, {"name": "tip", "translation": [0, 1, 0]}]


def strip(weights):
    """A strip of four vertices and two joints."""
    binds = np.float32([np.eye(4).ravel()] * 2)
    binds[1, 13] = -1
    arrays = [np.float32([[0, 0, 0], [1, 0, 0], [0, 2, 0], [1, 2, 0]]), np.uint8([[0, 1, 0, 0]] * 4), np.float32(weights), binds]
    attributes = {"POSITION": 0, "JOINTS_0": 1, "WEIGHTS_0": 2}
    return gltf_of(arrays, scene=0, scenes=[{"nodes": [0, 2]}], nodes=[*JOINTS, {"mesh": 0, "skin": 0}],
                   skins=[{"joints": [0, 1], "inverseBindMatrices": 3}],
                   meshes=[{"primitives": [{"attributes": attributes, "mode": 5}]}])


def motion(name, **joints):
    """Joints without a mesh, of which the second moves to x = 1, 2, 3 within a second. joints: other names for them."""
    nodes = [{**JOINTS[0], "name": joints.get("root", "root")}, {**JOINTS[1], "name": joints.get("tip", "tip")}]
    arrays = [np.float32([0, 0.5, 1]), np.float32([[1, 0, 0], [2, 0, 0], [3, 0, 0]])]
    return gltf_of(arrays, scene=0, scenes=[{"nodes": [0]}], nodes=nodes,
                   animations=[{"name": name, "samplers": [{"input": 0, "output": 1}],
                                "channels": [{"sampler": 0, "target": {"node": 1, "path": "translation"}}]}])


class Rigs(unittest.TestCase):

    def test_model_has_meshes_joints_and_clips(self):
        hand = sinew.load("model:hand")
        poses = hand.clips["fist"].poses()
        self.assertEqual(hand.vertices, 9140)
        self.assertEqual(hand.joints[0], "wrist")
        self.assertEqual(hand.parents[0], -1)
        self.assertTrue((hand.parents[1:] < np.arange(1, 20)).all())
        mesh = hand.meshes[0]
        self.assertEqual(mesh.positions.shape, (9140, 3))
        self.assertFalse(mesh.positions.flags.writeable)
        self.assertEqual(mesh.face_sizes.sum(), len(mesh.face_vertices))
        self.assertEqual(len(mesh.triangles), (mesh.face_sizes - 2).sum())
        np.testing.assert_allclose(mesh.weights.sum(axis=1), 1, atol=1e-3)
        self.assertEqual((len(poses), poses.joints.shape), (48, (48, 20, 3, 4)))
        self.assertEqual(len(hand.clips["fist"].poses(fps=120)), 236)
        self.assertEqual(len(hand.clips["fist"].poses(first=3, last=20, step=4)), 5)

    def test_views_keep_the_rig_alive(self):
        positions = sinew.load("model:tube").meshes[0].positions
        joints = sinew.load("model:cylinder").clips["bend"].poses().joints
        self.assertTrue(np.isfinite(positions).all() and np.isfinite(joints).all())

    def test_saved_rig_is_read_again(self):
        arm = sinew.load("model:arm")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "arm.sinewrig")
            arm.save(path)
            again = sinew.load(path)
        self.assertEqual((again.joints, again.controls), (arm.joints, ["biceps_tension"]))
        np.testing.assert_array_equal(again.rest_pose, arm.rest_pose)
        self.assertEqual(again.clips, {})

    def test_rig_from_arrays_deforms_like_linear_blending(self):
        rng = np.random.default_rng(7)
        points = rng.normal(size=(30, 3))
        rest = np.tile(np.eye(3, 4), (2, 1, 1))
        rest[1, :, 3] = 0, 1, 0
        weights = rng.dirichlet((1, 1), 30)
        rig = sinew.Rig.from_arrays(points, rng.integers(0, 30, (10, 3)), ["a", "b"], [-1, 0], rest, weights,
                                    np.tile([0, 1], (30, 1)))
        pose = rest.copy()
        pose[1, :, :3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
        with sinew.local() as client:
            got = client.character(rig, "lbs").deform(pose).positions
        moved = []
        for joint in range(2):
            bind = np.linalg.inv(np.vstack([rest[joint], [0, 0, 0, 1]]))
            skin = np.vstack([pose[joint], [0, 0, 0, 1]]) @ bind
            moved.append(points @ skin[:3, :3].T + skin[:3, 3])
        need = weights[:, :1] * moved[0] + weights[:, 1:] * moved[1]
        np.testing.assert_allclose(got, need, atol=1e-6)

    def test_clip_of_a_function_is_evaluated_at_each_frame(self):
        def pose(seconds):
            joints = np.tile(np.eye(3, 4), (2, 1, 1))
            joints[:, 0, 3] = seconds, 2 * seconds
            return joints, [seconds]

        rig = self.two_joints(controls={"smile": 0.0}, clips=[sinew.ClipData("slide", 0.5, pose)],
                              shapes={"smile": [sinew.ShapeData([[0, 1, 0]], 0.25, [1]), sinew.ShapeData([[0, 2, 0]], 1, [1])]})
        poses = rig.clips["slide"].poses(fps=8)
        np.testing.assert_allclose(poses.joints[:, :, 0, 3], np.arange(5)[:, None] / 8 * [1, 2])
        np.testing.assert_allclose(poses.controls[:, 0], np.arange(5) / 8)
        with sinew.local() as client:
            frames = client.character(rig, "shapes | lbs").clip(poses)
        # An in-between at 0.25, then on to the target at 1.
        np.testing.assert_allclose(frames[:, 1, 1], np.interp(np.arange(5) / 8, (0, 0.25, 1), (0, 1, 2)), atol=1e-6)

    def test_errors_of_a_clip_function_reach_the_caller(self):
        class Mine(Exception):
            pass

        def raise_mine(seconds):
            raise Mine(seconds)

        good = np.tile(np.eye(3, 4), (2, 1, 1))
        with self.assertRaises(Mine):
            self.two_joints(clips=[sinew.ClipData("c", 1, raise_mine)]).clips["c"].poses()
        for wrong, message in ((good[:1], "clips[0].pose(): got an array of shape (1, 3, 4), need (2, 3, 4)"),
                               ((good, [1]), "clips[0].pose(), controls: got an array of shape (1,), need (0,)"),
                               ("text", "clips[0].pose(): got str, need an array of numbers"),
                               (good * np.nan, "clip 'c': a joint or control leaves the range of float32")):
            with self.assertRaises(sinew.InvalidArgument) as raised:
                self.two_joints(clips=[sinew.ClipData("c", 1, lambda seconds, wrong=wrong: wrong)]).clips["c"].poses()
            self.assertIn(message, str(raised.exception))
        for clips, message in (([sinew.ClipData("c", -1, raise_mine)], "clips[0].end: got -1"),
                               ([sinew.ClipData("c", 1, 3)], "clips[0].pose: need a function"),
                               ([sinew.ClipData("c", 1, raise_mine)] * 2, 'clips[1].name: "c" is there already')):
            with self.assertRaises(sinew.InvalidArgument) as raised:
                self.two_joints(clips=clips)
            self.assertIn(message, str(raised.exception))

    def test_mesh_has_inverse_binds_of_its_own(self):
        bind = np.eye(3, 4)[None] * 2.0
        bind[0, :, 3] = 1, 2, 3
        rig = self.two_joints(joints=[1], inverse_bind=bind, influences=[[1]] * 3)
        pose = np.tile(np.eye(3, 4), (2, 1, 1))
        with sinew.local() as client:
            got = client.character(rig, "lbs").deform(pose).positions
        np.testing.assert_allclose(got, rig.meshes[0].positions * 2 + [1, 2, 3], atol=1e-6)
        for wrong, message in ((dict(joints=[1]), "meshes[0].influences[0][0]: got 0, need one of the mesh's joints"),
                               (dict(joints=[1, 1]), "meshes[0].joints: joint 1 is named twice"),
                               (dict(joints=[2]), "meshes[0].joints: got 2"),
                               (dict(inverse_bind=bind), "meshes[0].inverse_bind: got an array of shape (1, 3, 4), need (2, 3, 4)"),
                               (dict(uvs=np.zeros((2, 2))), "meshes[0].uvs: got an array of shape (2, 2), need (3, 2)"),
                               (dict(normals=np.zeros((2, 3))), "meshes[0].normals: got"),
                               (dict(shapes={"s": [sinew.ShapeData([[0, 0, 0]], 1, [3])]}), 'meshes[0].shapes["s"][0].vertices: got 3')):
            with self.assertRaises(sinew.InvalidArgument) as raised:
                self.two_joints(**wrong)
            self.assertIn(message, str(raised.exception))

    def two_joints(self, controls=None, clips=(), **more):
        """A triangle that joint 0 moves, unless `more` says otherwise."""
        fields = {"weights": np.ones((3, 1)), "influences": [[0]] * 3, **more}
        mesh = sinew.MeshData("m", [[0, 0, 0], [1, 0, 0], [0, 0, 1]], [[0, 1, 2]], **fields)
        return sinew.Rig.from_meshes([mesh], ["a", "b"], [-1, 0], np.tile(np.eye(3, 4), (2, 1, 1)), controls=controls or {},
                                     clips=clips)

    def test_usd_names_the_package_that_it_needs(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(sys.modules, pxr=None):
            for name in ("hero.usd", "hero.usda", "hero.usdc", "hero.USDZ"):
                with self.assertRaisesRegex(ImportError, "needs usd-core and numpy: pip install usd-core numpy"):
                    sinew.load(os.path.join(folder, name))
            code = "import runpy, sys; sys.modules['pxr'] = None; sys.argv[1:] = ['hero.usd', 'out.sinewrig']\n" \
                   "runpy.run_module('sinew.usd', run_name='__main__')"
            done = subprocess.run([sys.executable, "-B", "-c", code], cwd=folder, capture_output=True, text=True, check=False,
                                  env={**os.environ, "PYTHONPATH": os.path.abspath(arguments.package)})
        self.assertEqual(done.returncode, 69)
        self.assertRegex(done.stderr, "^sinew: .*pip install usd-core")

    def test_wrong_arrays_are_named(self):
        good = dict(positions=np.zeros((3, 3)), faces=[[0, 1, 2]], joints=["a"], parents=[-1],
                    rest_pose=np.eye(3, 4)[None], weights=np.ones((3, 1)), influences=np.zeros((3, 1), int))
        sinew.Rig.from_arrays(**good)
        rows = [("positions", np.zeros((3, 2)), "positions: got an array of shape (3, 2)"),
                ("parents", [0], "parents[0]: got 0"), ("parents", [], "parents: got 0 numbers"),
                ("rest_pose", np.eye(3, 4), "rest_pose: got an array of shape (3, 4)"),
                ("weights", np.ones((2, 1)), "weights: got an array of shape (2, 1)"),
                ("influences", np.ones((3, 1), int), "influences[0][0]: got 1"),
                ("influences", np.zeros((3, 1)), "influences: got an array of float64, need an array of integers"),
                ("faces", [[0, 1, 9]], "faces: got 9, need a vertex from 0 to 2"),
                ("faces", np.array([[0, 1, 3]]), "faces: got 3"), ("faces", [[0, 1, "a"]], "faces: got a"),
                ("faces", [[0, 1, -1]], "faces: got -1"), ("up_axis", "X", 'up_axis: got "X"')]
        with sinew.local() as client:
            for name, value, said in rows:
                with self.subTest(name):
                    with self.assertRaises(ValueError) as caught:
                        client.character(sinew.Rig.from_arrays(**{**good, name: value}), "lbs")
                    self.assertIn(said, str(caught.exception))
                    self.assertEqual(caught.exception.field, said[:said.index(": ")])

    def test_rig_from_meshes_has_what_the_file_had(self):
        hand = sinew.load("model:hand")
        poses = hand.clips["fist"].poses()
        file = hand.meshes[0]
        cut = 4000  # as if the hand had two meshes with the same faces and different vertices

        def part(name, vertices):
            weights = np.ascontiguousarray(file.weights)
            influences = np.argsort(-weights, axis=1)[:, :8]
            return sinew.MeshData(name, file.positions + vertices, file.face_vertices,
                                  np.take_along_axis(weights, influences, axis=1), influences,
                                  face_sizes=file.face_sizes)

        rig = sinew.Rig.from_meshes([part("one", 0), part("two", [0, 0, 0.5])], hand.joints, hand.parents, hand.rest_pose,
                                    label="two hands")
        self.assertEqual([mesh.first_vertex for mesh in rig.meshes], [0, 9140])
        with sinew.local() as client:
            both = client.character(rig, "lbs").deform(poses.joints[23]).positions
            one = client.character(hand, "lbs").deform(poses.joints[23]).positions
        np.testing.assert_allclose(both[:9140], one, atol=1e-6)
        self.assertGreater(np.abs(both[9140:] - one).max(), 0.1)

    def test_shapes_and_maps_of_meshes(self):
        points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], float)
        good = dict(name="m", positions=points, faces=[[0, 1, 2]], weights=np.ones((3, 1)), influences=np.zeros((3, 1), int),
                    shapes={"wide": points, "up": np.tile([0, 0, 2], (3, 1))}, maps={"stiff": [0, 0.5, 1]})
        skeleton = dict(joints=["root"], parents=[-1], rest_pose=np.eye(3, 4)[None], controls={"wide": 0, "up": 0.5})
        rig = sinew.Rig.from_meshes([sinew.MeshData(**good)], **skeleton)
        self.assertEqual(rig.controls, ["up", "wide"])
        with sinew.local() as client:
            character = client.character(rig, "shapes | lbs")
            np.testing.assert_allclose(character.deform(np.eye(3, 4)[None], [0, 1]).positions, 2 * points)
            np.testing.assert_allclose(character.deform(np.eye(3, 4)[None]).positions, points + [0, 0, 1])
            client.character(rig, "lbs | delta_mush(map=stiff)")
            with self.assertRaisesRegex(ValueError, "stifff"):
                client.character(rig, "lbs | delta_mush(map=stifff)")
            rows = [("shapes", {"wide": points[:2]}, 'meshes[0].shapes["wide"]: got an array of shape (2, 3)'),
                    ("shapes", {"thin": points}, "thin"), ("shapes", 3, "meshes[0].shapes: need a dict"),
                    ("maps", {"stiff": [1, 2]}, 'meshes[0].maps["stiff"]: got an array of shape (2,)'),
                    ("face_sizes", [4], "meshes[0].faces"), ("fallback_joint", 1, "meshes[0].fallback_joint: got 1"),
                    ("weights", "heavy", "meshes[0].weights")]
            for name, value, said in rows:
                with self.subTest(name), self.assertRaises(ValueError) as caught:
                    client.character(sinew.Rig.from_meshes([sinew.MeshData(**{**good, name: value})], **skeleton), "lbs")
                self.assertIn(said, str(caught.exception))

    def test_vertices_without_weights_do_what_is_asked(self):
        gltf = strip([[1, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]])
        with tempfile.TemporaryDirectory() as folder, sinew.local() as client:
            path = pathlib.Path(folder, "partly.gltf")
            path.write_text(json.dumps(gltf))
            with self.assertRaisesRegex(ValueError, "1 vertex has no weight, the first is 3"):
                sinew.load(path)
            with self.assertRaises(ValueError):
                sinew.load(path, unweighted="all")
            # The whole character moves by 6, then its second joint by 5.
            for choice, first, second in ("root", 6, 0), ("nearest", 6, 5), ("still", 0, 0):
                with self.assertWarnsRegex(sinew.FileWarning, "partly.gltf: .*1 vertex without weights"):
                    rig = sinew.load(path, unweighted=choice)
                character = client.character(rig, "lbs")
                poses = np.stack([rig.rest_pose] * 3)
                poses[1, :2, 0, 3] += 6
                poses[2, 1, 2, 3] += 5
                rest, both, tip = (character.deform(pose).positions[3] for pose in poses)
                with self.subTest(choice):
                    np.testing.assert_array_equal(both - rest, [first, 0, 0])
                    np.testing.assert_array_equal(tip - rest, [0, 0, second])

    def test_clips_of_other_files_move_joints_by_name(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = {}
            for name, gltf in {"hero": strip([[1, 0, 0, 0]] * 4), "walk": motion("Take"),
                               "run": motion("Take", root="rig:root", tip="rig:tip"),
                               "half": motion("half", root="elsewhere")}.items():
                paths[name] = pathlib.Path(folder, name + ".gltf")
                paths[name].write_text(json.dumps(gltf))
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                hero = sinew.load(paths["hero"], clips=[paths["walk"], str(paths["run"])], strict=True)
                self.assertEqual(list(hero.clips), ["Take", "run"])
                for each in hero.clips.values():
                    joints = each.poses(fps=2).joints
                    np.testing.assert_array_equal(joints[:, 1, :, 3], [[1, 0, 0], [2, 0, 0], [3, 0, 0]])
                with self.assertRaisesRegex(sinew.FileWarning, "half.gltf: 1 of 2 joints is missing"):
                    sinew.load(paths["hero"], clips=[paths["half"]])
            with self.assertWarnsRegex(sinew.FileWarning, "half.gltf: 1 of 2 joints is missing.*'root'") as caught:
                sinew.load(paths["hero"], clips=[paths["half"]])
            self.assertEqual(caught.filename, __file__)
            with self.assertRaisesRegex(sinew.InvalidArgument, "(?s)strict: .*half.gltf: 1 of 2 joints"):
                sinew.load(paths["hero"], clips=[paths["half"]], strict=True)
            with self.assertRaisesRegex(sinew.InvalidArgument, "has clips but no mesh.*clips="):
                sinew.load(paths["walk"])
            with self.assertRaisesRegex(sinew.NotFound, "no such file"):
                sinew.load(paths["hero"], clips=["/no/such.fbx"])
            with self.assertRaises(TypeError):
                sinew.load(paths["hero"], "", False, "refuse", [paths["walk"]])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
