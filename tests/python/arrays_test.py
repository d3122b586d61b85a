"""What the Python package takes as arrays and arguments, and what it says of others."""

import asyncio
import contextlib
import copy
import io
import pydoc
import sys
import unittest

import command_line

arguments, rest = command_line.read("package")

import numpy as np  # noqa: E402
import sinew  # noqa: E402


def square(matrices):
    """As 4x4 matrices."""
    return np.concatenate([matrices, np.broadcast_to(np.float32([[0, 0, 0, 1]]), (*matrices.shape[:-2], 1, 4))], axis=-2)


class Arrays(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.client = cls.enterClassContext(sinew.local())
        cls.hand = sinew.load("model:hand")
        cls.poses = cls.hand.clips["fist"].poses(fps=24)
        cls.character = cls.client.character(cls.hand, "lbs")
        cls.frames = cls.character.clip(cls.poses)

    def assert_raises(self, kind, said, call, *given, **named):
        with self.assertRaises(kind) as caught:
            call(*given, **named)
        self.assertEqual(str(caught.exception), said)

    def test_frame_is_an_array(self):
        frame = self.character.deform(self.poses[3])
        np.testing.assert_array_equal(np.asarray(frame), self.frames[3])
        self.assertEqual(np.asarray(frame, np.float64).dtype, np.float64)
        self.assertEqual(np.array(self.poses).shape, (48, 20, 3, 4))

    def test_poses_are_a_sequence(self):
        walk = self.hand.clips["fist"].poses(fps=48, first=4, step=2)
        some = walk[3:9:2]
        self.assertEqual((len(some), some.first_frame, some.step, some.fps), (3, 10, 4, 48))
        np.testing.assert_array_equal(some.matrices, walk.matrices[3:9:2])
        np.testing.assert_array_equal(walk[-1].matrices, walk.matrices[-1:])
        np.testing.assert_array_equal(np.stack([self.character.deform(pose) for pose in self.poses[:3]]), self.frames[:3])
        np.testing.assert_array_equal(self.character.clip(self.poses[40:]), self.frames[40:])
        for wrong in (48, -49):
            with self.assertRaisesRegex(IndexError, "poses: have 48 frames"):
                self.poses[wrong]
        for wrong in (slice(5, 5), slice(None, None, -1)):
            with self.assertRaisesRegex(ValueError, "got a slice of 48 frames that is empty or goes backwards"):
                self.poses[wrong]
        with self.assertRaisesRegex(TypeError, "need a number or a slice"):
            self.poses[1, 2]

    def test_one_pose_has_its_controls(self):
        arm = sinew.load("model:arm")
        character = self.client.character(arm, "lbs | muscle")
        pose = arm.clips["curl"].poses()[20]
        self.assertNotEqual(pose.controls.item(), 0)
        with character.stream() as stream, character.futures() as futures:
            stream.send(pose)
            for frame in (character.deform(pose), stream.next(), futures.submit(pose).result()):
                np.testing.assert_array_equal(frame, character.deform(pose.matrices[0], pose.controls[0]))
        self.assertTrue((np.asarray(character.deform(pose, [0])) != np.asarray(character.deform(pose))).any())
        said = "pose: got Poses of 48 frames, need one frame, such as poses[0]; clip() takes all of them"
        self.assert_raises(ValueError, said, self.character.deform, self.poses)

    def test_square_matrices_of_column_vectors(self):
        poses = square(self.poses.matrices)
        np.testing.assert_array_equal(self.character.clip(poses), self.frames)
        np.testing.assert_array_equal(self.character.clip(self.poses.matrices), self.frames)
        np.testing.assert_array_equal(self.character.clip(sinew.Poses(poses.tolist())), self.frames)
        np.testing.assert_array_equal(self.character.deform(poses[7]), self.frames[7])
        rows = np.swapaxes(poses, -1, -2)  # of row vectors
        for call, given, name in ((self.character.deform, rows[7], "pose"), (self.character.clip, rows, "poses"),
                                  (sinew.Poses, rows, "matrices")):
            self.assert_raises(ValueError, f"{name}: got 4x4 matrices whose last row is not 0 0 0 1, need those of column "
                               "vectors, with the translation in the last column", call, given)

    def test_wrong_arrays_are_refused(self):
        pose = self.poses.matrices[0]
        for wrong, got in ((pose.astype(complex), "an array of complex64"), ("fist", "str"), (None, "NoneType"),
                           ([["a"] * 12] * 20, "list"), ({}, "dict")):
            got = got.replace("complex64", str(getattr(wrong, "dtype", "")))
            self.assert_raises(ValueError, f"pose: got {got}, need an array of numbers", self.character.deform, wrong)
        masked = np.ma.masked_less(pose, -1)
        mesh = dict(positions=np.zeros((3, 3)), faces=[[0, 1, 2]], joints=["a"], parents=[-1], rest_pose=np.eye(3, 4)[None],
                    weights=None, influences=None)
        for call, name in ((lambda: self.character.deform(masked), "pose"),
                           (lambda: self.character.deform(pose, np.ma.array([])), "controls"),
                           (lambda: self.character.clip([masked]), "poses"), (lambda: sinew.Poses(masked[None]), "matrices"),
                           (lambda: sinew.render(self.hand, np.ma.array(self.frames[0])), "frames"),
                           (lambda: sinew.Rig.from_arrays(**{**mesh, "positions": np.ma.zeros((3, 3))}), "positions"),
                           (lambda: sinew.Rig.from_arrays(**{**mesh, "rest_pose": masked[:1]}), "rest_pose")):
            self.assert_raises(ValueError, f"{name}: got a masked array, need one without a mask; its filled() makes one", call)
        with self.assertRaisesRegex(ValueError, r"got an array of shape \(792,\), need \(20, 3, 4\), \(20, 4, 4\) or \(20, 12\)"):
            self.character.deform(np.zeros(792))
        with self.assertRaisesRegex(ValueError, r"controls: got an array of shape \(2,\), need \(0,\)"):
            self.character.deform(pose, [1, 2])
        frame = self.character.deform(pose)
        for wrong in (np.empty((9140, 3)), np.empty((1, 3), np.float32), [[0.0] * 3] * 9140, np.empty((9140, 6), np.float32)[:, ::2]):
            self.assert_raises(ValueError, "out: need a writable, contiguous array of float32 and shape (9140, 3)",
                               frame.copy_positions, wrong)

    def test_type_errors_name_the_argument(self):
        rows = [(self.client.character, ("hand.glb", "lbs"), {}, "rig: got str, need sinew.Rig"),
                (self.client.character, (self.hand, 3), {}, "deformer: got int, need str"),
                (self.client.character, (self.hand,), {}, "character(): missing a required argument: 'deformer'"),
                (self.character.bake, (self.poses.matrices, "x.pc2"), {}, "poses: got ndarray, need sinew.Poses"),
                (self.character.bake, (self.poses, 3), {}, "out: got int, need path"),
                (self.character.bake, (self.poses, "x.pc2"), {"meshes": "hand"}, "meshes: got str, need list of str"),
                (self.character.deform, (self.poses[0],), {"deadline": "1"}, "deadline: got str, need float or None"),
                (self.character.deform, (self.poses[0],), {"normal": 1},
                 "deform(): got an unexpected keyword argument 'normal'"),
                (self.character.stream, (), {"max_queued": -1}, "max_queued: got -1, need 0 or more"),
                (sinew.compare, (self.character, self.poses), {}, "characters: got Character, need list of sinew.Character"),
                (sinew.load, (), {}, "load(): missing a required argument: 'path'"),
                (sinew.load, (3,), {}, "path: got int, need path"),
                (sinew.load, ("a.glb",), {"clips": "b.fbx"}, "clips: got str, need list of path"),
                (sinew.connect, (50051,), {}, "address: got int, need str"),
                (sinew.join, ("a.pc2", ["1"]), {}, "frames: got list, need list of int"),
                (sinew.render, (self.hand, self.frames[0]), {"width": 1.5}, "width: got float, need int"),
                (sinew.Poses, (self.poses.matrices,), {"fps": "24"}, "fps: got str, need float"),
                (sinew.Poses, (), {}, "Poses(): missing a required argument: 'matrices'"),
                (sinew.Rig.from_arrays, ([[0, 0, 0]], [[0, 0, 0]], "ab", [-1], np.eye(3, 4)[None], None, None), {},
                 "joints: got str, need list of str"),
                (sinew.Rig.from_meshes, ([], ["a"], [-1], np.eye(3, 4)[None]), {"controls": ["smile"]},
                 "controls: got list, need Dict[str, float]")]
        for call, given, named, said in rows:
            with self.subTest(said):
                self.assert_raises(TypeError, said, call, *given, **named)
        with self.assertRaisesRegex(TypeError, "^pose: |deadline: got str"):
            asyncio.run(self.character.deform_async(self.poses[0], deadline="1"))

        def wrong(_):
            raise TypeError("mine(): incompatible function arguments")

        self.assert_raises(TypeError, "mine(): incompatible function arguments", self.character.clip, self.poses, progress=wrong)

    def test_objects_say_what_they_are(self):
        client = sinew.local()
        rows = [(self.hand, "<sinew.Rig 'model:hand', 9140 vertices, 20 joints, 1 clip>"), (self.poses[0], "<sinew.Poses, 1 frame at 24 fps>"),
                (self.character, "<sinew.Character 'lbs' on 'model:hand'>"), (client, "<sinew.Client of this process>"),
                (sinew.connect("127.0.0.1:1"), "<sinew.Client of 127.0.0.1:1>"),
                (self.character.stream(), "<sinew.Stream of 'lbs' on 'model:hand'>")]
        for value, said in rows:
            self.assertEqual(repr(value), said)
        client.close()
        self.assertEqual(repr(client), "<sinew.Client of this process, closed>")

    def test_names_of_0_1_are_there(self):
        self.assertEqual((self.hand.vertices, self.hand.joints), (self.hand.num_vertices, self.hand.joint_names))
        np.testing.assert_array_equal(self.poses.joints, self.poses.matrices)
        self.assertEqual(self.hand.meshes[0].vertices, self.hand.meshes[0].num_vertices)
        self.assertEqual(self.client.methods()["dqs"]["parameters"]["blend"]["maximum"], 1)

    def test_listed_values_have_types(self):
        method = self.client.methods()["dqs"]
        self.assertIsInstance(method, sinew.Method)
        self.assertEqual((method.parameters["blend"].type, method.parameters["blend"].maximum), ("number", 1))
        self.assertEqual(self.client.presets()["bulge_free_dqs"].recipe, "dqs | bulge_free")
        stats = self.client.stats()
        self.assertEqual((stats.version, type(stats.limits)), (sinew.__version__, dict))
        with self.assertRaises(AttributeError):
            stats.version = "2"

    def test_rigs_do_not_change_so_that_copies_share_them(self):
        self.assertEqual(list(copy.deepcopy(self.hand).clips), ["fist"])
        self.assertEqual(len(copy.copy(self.poses)), 48)

    def test_help_begins_with_what_a_newcomer_needs(self):
        self.assertFalse({"asyncio", "functools", "typing", "inspect", "os"} & set(dir(sinew)))
        with contextlib.redirect_stdout(io.StringIO()) as said:
            pydoc.doc(sinew)
        lines = said.getvalue().splitlines()
        self.assertLess(len(lines), 200)
        self.assertTrue(any("sinew.load(" in line for line in lines[:12]), lines[:12])
        for function in ("load", "local", "connect", "compare", "join", "render"):
            self.assertIn(f"    {function}(", said.getvalue())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
