"""The Python package: every class of it, against a server in this process and a real sinewd."""

import ast
import asyncio
import contextlib
import functools
import json
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest
import warnings
from unittest import mock

import command_line

arguments, rest = command_line.read("package", "sinewd", "sinew")

import numpy as np  # noqa: E402
import sinew  # noqa: E402
from sinew.testing import Server, digest  # noqa: E402


def hand_and_poses():
    return (hand := sinew.load("model:hand")), hand.clips["fist"].poses()


def start(*options, **more):
    return Server(*options, program=arguments.sinewd, **more)


def statue():
    """An .obj of cubes along the bones of a person: chest, hips, head, legs and arms."""
    limbs = [((0, .5, 0), (0, 0, 0), .13), ((0, .5, 0), (0, .72, 0), .12)]
    for side in (1, -1):
        limbs += [((side * .1, 0, 0), (side * .15, -.8, 0), .06), ((side * .15, -.8, 0), (side * .15, -.8, .1), .06),
                  ((0, .5, 0), (side * .2, .5, 0), .07), ((side * .2, .5, 0), (side * .6, 0, .15), .06)]
    lines, corners = [], 0
    for start_of, end_of, half in limbs:
        for part in np.linspace(0, 1, 12):
            middle = (1 - part) * np.array(start_of) + part * np.array(end_of)
            for k in range(8):
                x, y, z = middle + half * (2 * np.array([k & 1, k >> 1 & 1, k >> 2]) - 1)
                lines.append(f"v {x} {y} {z}")
            for face in ((1, 3, 4, 2), (5, 6, 8, 7), (1, 2, 6, 5), (3, 7, 8, 4), (1, 5, 7, 3), (2, 4, 8, 6)):
                lines.append("f " + " ".join(str(corners + c) for c in face))
            corners += 8
    return "\n".join(lines) + "\n"


class LocalServer(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.client = sinew.local()
        cls.hand, cls.poses = hand_and_poses()
        cls.character = cls.client.character(cls.hand, "ddm")
        cls.frames = cls.character.clip(cls.poses)

    @classmethod
    def tearDownClass(cls):
        cls.client.close()

    def test_clip_stream_and_single_poses_have_equal_bits(self):
        self.assertEqual((self.frames.shape, self.frames.dtype), ((48, 9140, 3), np.float32))
        with self.character.stream() as stream:
            with self.assertRaisesRegex(ValueError, "timeout"):
                stream.next(float("nan"))
            for pose in self.poses.joints:
                stream.send(pose)
            stream.finish()
            streamed = [frame.positions for frame in stream]
        np.testing.assert_array_equal(streamed, self.frames)
        rows = sinew.Poses(self.poses.joints.reshape(48, 20, 12))
        np.testing.assert_array_equal(self.character.clip(rows), self.frames)
        one = self.character.deform(self.poses.joints[7].reshape(20, 12).astype(float))
        np.testing.assert_array_equal(one.positions, self.frames[7])
        out = np.empty((9140, 3), np.float32)
        one.copy_positions(out)
        np.testing.assert_array_equal(out, self.frames[7])
        np.testing.assert_allclose(one.bounds, [out.min(0), out.max(0)])

    def test_a_published_stream_is_watched(self):
        with self.assertRaises(sinew.NotFound):
            self.client.watch("hero")
        with self.character.stream(publish="hero") as stream, self.client.watch("hero") as watch:
            self.assertEqual((watch.rig, watch.recipe), (self.character.rig_name, "ddm"))
            for timeout in (0, 0.01):
                with self.assertRaises(sinew.Timeout):
                    watch.next(timeout)
            for pose, frame in zip(self.poses.joints[:5], self.frames):
                stream.send(pose)
                np.testing.assert_array_equal(stream.next().positions, frame)
                np.testing.assert_array_equal(watch.next().positions, frame)
            stream.cancel()
            self.assertEqual(list(watch), [])
            with self.assertRaisesRegex(sinew.Unavailable, "hero") as raised:
                watch.next()
            self.assertEqual(raised.exception.reason, "PUBLISHER_ENDED")

    def test_command_line_has_equal_bits(self):
        with tempfile.TemporaryDirectory() as folder:
            by_program = os.path.join(folder, "program.npy")
            subprocess.run([arguments.sinew, "--local", "-q", "bake", "model:hand", "--deformer", "ddm", "--out",
                            by_program], check=True, stdout=subprocess.DEVNULL)
            np.testing.assert_array_equal(np.load(by_program), self.frames)
            paths = self.character.bake(self.poses, os.path.join(folder, "{mesh}.npy"), split=True)
            self.assertEqual(paths, [os.path.join(folder, "hand.npy")])
            np.testing.assert_array_equal(np.load(paths[0]), self.frames)
            mine, other = (json.loads(pathlib.Path(path + ".json").read_text()) for path in (paths[0], by_program))
            self.assertEqual(mine, other)

    def test_cache_in_the_space_of_an_object(self):
        turn = np.array([[0, -1, 0, 1], [2, 0, 0, 2], [0, 0, 1, 3]], np.float32)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "hand.npy")
            self.character.bake(self.poses, path, spaces={"hand": turn})
            np.testing.assert_allclose(np.load(path), self.frames @ turn[:, :3].T + turn[:, 3], rtol=2e-6, atol=1e-6)
            self.assertNotIn("up_axis", json.loads(pathlib.Path(path + ".json").read_text()))
            for wrong, message in (({"foot": turn}, "names of meshes"), ({"hand": turn[:2]}, r'spaces\["hand"\]')):
                with self.assertRaisesRegex(ValueError, message):
                    self.character.bake(self.poses, path, spaces=wrong)
            with self.assertRaisesRegex(ValueError, "axes"):
                self.character.bake(self.poses, path, spaces={"hand": turn}, axes="blender")

    def test_an_interrupted_bake_in_chunks_continues(self):
        class Stop(Exception):
            pass

        def stop(fraction):
            if fraction > 0.5:
                raise Stop

        with tempfile.TemporaryDirectory() as folder:
            whole, out = os.path.join(folder, "whole.npy"), os.path.join(folder, "out.npy")
            self.character.bake(self.poses, whole, normals=True)
            with self.assertRaises(Stop):
                self.character.bake(self.poses, out, normals=True, chunk=4, progress=stop)
            kept = len(os.listdir(out + ".parts"))
            self.assertGreater(kept, 0)
            self.assertEqual(self.character.bake(self.poses, out, normals=True, chunk=4, resume=True), [out])
            self.assertFalse(os.path.exists(out + ".parts"))
            for suffix in ("", ".normals.npy"):
                with open(whole + suffix, "rb") as one, open(out + suffix, "rb") as other:
                    self.assertEqual(one.read(), other.read())
            for chunk in (0, -1):
                with self.assertRaisesRegex(ValueError, f"chunk: got {chunk}, need 1 or more"):
                    self.character.bake(self.poses, out, chunk=chunk)
            with self.assertRaisesRegex(ValueError, "need them without part"):
                self.character.bake(self.poses, out, part=True, resume=True)

    def test_resume_takes_no_part_of_another_space_or_other_texture_coordinates(self):
        still, moved = np.eye(3, 4), np.eye(3, 4)
        moved[0, 3] = 100
        poses = sinew.Poses(np.tile(np.eye(4), (4, 1, 1, 1)))

        def plane(scale):
            return sinew.Rig.from_meshes([sinew.MeshData(
                "plane", [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], [[0, 1, 2, 3]], np.ones((4, 1)), np.zeros((4, 1), int),
                uvs=np.array([[0, 0], [1, 0], [1, 1], [0, 1]]) * scale)], ["root"], [-1], [np.eye(4)])

        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)

            def bake(out, scale=1.0, **more):
                self.client.character(plane(scale), "lbs").bake(poses, folder / out, **more)

            for space in (still, moved):
                for part in (poses[:2], poses[2:]):  # as a run leaves them that is stopped before it joins
                    self.client.character(plane(1.0), "lbs").bake(part, folder / "a.npy", spaces={"plane": still}, part=True)
                bake("a.npy", spaces={"plane": space}, resume=True, chunk=2)
                np.testing.assert_array_equal(np.load(folder / "a.npy")[:, 0, 0], 4 * [space[0, 3]])
                bake("whole.npy", spaces={"plane": space})
                self.assertEqual((folder / "a.npy.json").read_bytes(), (folder / "whole.npy.json").read_bytes())
            (folder / "whole").mkdir()
            for scale in (1.0, 0.5):
                bake("b.usda", scale, resume=True, chunk=2)
                bake("whole/b.usda", scale)
                self.assertEqual((folder / "b.usda").read_text(), (folder / "whole/b.usda").read_text())
            self.assertIn("(0.5, 0.5)", (folder / "b.usda").read_text())

    def test_clips_that_may_be_wrong_are_warned_of_once(self):
        rig = sinew.Rig.from_meshes([sinew.MeshData(
            "m", [[0, 0, 0], [1, 0, 0], [0, 0, 1]], [[0, 1, 2]], np.ones((3, 1)), np.zeros((3, 1), int),
            shapes={"smile": np.ones((3, 3))})], ["root"], [-1], [np.eye(4)], controls={"smile": 0})
        still = np.tile(np.eye(4), (3, 1, 1, 1))
        smiles = sinew.Poses(still, np.ones((3, 1)))
        with tempfile.TemporaryDirectory() as folder:
            for call in (lambda own: own.clip(smiles), lambda own: own.bake(smiles, os.path.join(folder, "a.npy"))):
                own = self.client.character(rig, "lbs")
                said = "clip 'poses' sets morph targets, which stay at rest under 'lbs.*put \"shapes"
                with self.assertWarnsRegex(UserWarning, said) as caught:
                    call(own)
                self.assertEqual(caught.filename, __file__)
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    call(own)
                    call(self.client.character(rig, "shapes | lbs"))
        large = still.copy()
        large[:, 0, :3] *= 100
        with self.assertWarnsRegex(UserWarning, "poses the character 141 across, at rest it is 1.41: .* by a factor of 100"):
            self.client.character(rig, "shapes | lbs").clip(large)

    def test_unknown_clip_says_which_there_are(self):
        with self.assertRaisesRegex(KeyError, "fst: no clip of model:hand, which has fist; did you mean fist?"):
            self.hand.clips["fst"]
        with self.assertRaisesRegex(KeyError, "no clip of .*, which has none"):
            pickle.loads(pickle.dumps(self.hand)).clips["walk"]
        self.assertIsNone(self.hand.clips.get("fst"))
        self.assertEqual(list(self.hand.clips), ["fist"])

    def test_bakes_have_the_numbers_of_a_shot(self):
        clip = self.hand.clips["fist"]
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "hand.pc2")
            part, = self.character.bake(clip.poses(last=3), out, part=True, start_frame=1001)
            self.assertTrue(part.endswith("hand.pc2.parts/1001-1004.npy"), part)
            self.character.bake(clip.poses(first=5, last=9), out, part=True, start_frame=1001)
            with self.assertRaisesRegex(ValueError, "1 of 10 frames is missing: 1005"):
                sinew.join(out, range(1001, 1011))
            self.character.bake(clip.poses(first=4, last=4), out, part=True, start_frame=1001)
            sinew.join(out, range(1001, 1011))
            data = pathlib.Path(out).read_bytes()
            self.assertEqual(np.frombuffer(data, "<f4", 2, 20).tolist(), [1001, 1])
            np.testing.assert_array_equal(np.frombuffer(data, "<f4", offset=32).reshape(10, 9140, 3), self.frames[:10])
            manifest = json.loads(pathlib.Path(out + ".json").read_text())
            self.assertEqual((manifest["first_frame"], manifest["start_frame"]), (1001, 1001))
            self.assertEqual(clip.poses(last=3).first_frame, 0)
            for start in (-1, 1048577):
                with self.assertRaisesRegex(ValueError, f"start_frame: got {start}, need 0 to 1048576"):
                    self.character.bake(self.poses, out, start_frame=start)

    def test_parts_are_joined_to_the_cache_of_one_bake(self):
        clip = self.hand.clips["fist"]
        with tempfile.TemporaryDirectory() as folder:
            whole, out = os.path.join(folder, "whole.pc2"), os.path.join(folder, "parts.pc2")
            self.character.bake(clip.poses(fps=24), whole)
            part, = self.character.bake(clip.poses(fps=24, first=20), out, part=True)
            self.assertTrue(part.endswith("parts.pc2.parts/20-47.npy"), part)
            with self.assertRaisesRegex(ValueError, "20 of 48 frames are missing: 0-19"):
                sinew.join(out, range(48))
            self.character.bake(clip.poses(fps=24, last=19), out, part=True)
            self.assertEqual(sinew.join(out, range(48)), out)
            self.assertEqual(sorted(os.listdir(folder)), ["parts.pc2", "parts.pc2.json", "whole.pc2", "whole.pc2.json"])
            for ending in ("", ".json"):
                with open(whole + ending, "rb") as expected, open(out + ending, "rb") as joined:
                    self.assertEqual(expected.read(), joined.read())
            self.assertEqual(sinew.join(out, np.arange(48)), out)  # once more is no error
            with self.assertRaisesRegex(ValueError, "overwrite"):
                self.character.bake(clip.poses(fps=24), out, part=True, overwrite=False)
            with self.assertRaises(sinew.NotFound):
                sinew.join(os.path.join(folder, "other.pc2"))
            with self.assertRaisesRegex(ValueError, "frames: need numbers of 0 or more"):
                sinew.join(out, [-1])

    def test_normals_have_length_one(self):
        frame = self.character.deform(self.poses.joints[20], normals=True)
        np.testing.assert_allclose(np.linalg.norm(frame.normals, axis=1), 1, atol=1e-5)
        self.assertIsNone(frame.tangents)

    def test_controls_reach_muscles(self):
        arm = sinew.load("model:arm")
        poses = arm.clips["curl"].poses()
        character = self.client.character(arm, "lbs | muscle")
        tensed = character.deform(poses.joints[10], [1.0]).positions
        relaxed = character.deform(poses.joints[10], [0.0]).positions
        self.assertGreater(np.abs(tensed - relaxed).max(), 1e-4)
        with self.assertRaisesRegex(ValueError, "controls"):
            character.deform(poses.joints[10], [1.0, 2.0])

    def test_progress_rises_and_may_end_a_call(self):
        seen = []
        self.client.character(self.hand, "cor", progress=seen.append)
        self.assertEqual(seen, sorted(seen))
        self.assertEqual(seen[-1], 1)

        def stop(_):
            raise KeyError("enough")

        with self.assertRaises(KeyError):
            self.client.character(self.hand, "implicit_skinning", progress=stop)

    def test_errors_carry_details(self):
        with self.assertRaises(sinew.InvalidArgument) as caught:
            self.client.character(self.hand, "dmd")
        self.assertIn("did you mean ddm?", str(caught.exception))
        self.assertEqual((caught.exception.code, caught.exception.exit_code), ("INVALID_ARGUMENT", 65))
        self.assertEqual(caught.exception.field, "source.recipe_text")
        with self.assertRaisesRegex(ValueError, "not finite"):
            self.character.deform(np.full((20, 3, 4), np.nan))
        with self.assertRaisesRegex(ValueError, r"need \(20, 3, 4\)") as caught:
            self.character.deform(np.zeros((3, 3, 4)))
        self.assertEqual(caught.exception.field, "pose")
        with self.assertRaises(sinew.NotFound):
            sinew.load("/no/such.glb")
        with self.assertRaises(sinew.Unavailable):
            sinew.connect("127.0.0.1:1", deadline=60).stats()
        with self.assertRaises(sinew.Error) as caught:
            self.character.bake(self.poses, "/proc/hand.npy")
        self.assertEqual(caught.exception.exit_code, 73)
        with self.assertRaisesRegex(sinew.NotFound, "the folder /no/such does not exist") as caught:
            self.character.bake(self.poses, "/no/such/hand.npy")
        self.assertEqual(caught.exception.exit_code, 73)
        client = sinew.local()
        client.close()
        with self.assertRaisesRegex(ValueError, "closed"):
            client.stats()

    def test_frames_depend_on_their_poses_alone(self):
        tube = sinew.load("model:tube")
        character = self.client.character(tube, "implicit_skinning")
        clip = next(iter(tube.clips.values()))
        whole = character.clip(clip.poses(last=6))
        np.testing.assert_array_equal(whole[2:], character.clip(clip.poses(first=2, last=6)))
        np.testing.assert_array_equal(whole[5], character.deform(clip.poses(first=5, last=5).joints[0]).positions)

    def test_the_file_of_a_character_is_not_overwritten(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "hand.sinewrig"
            self.hand.save(path)
            character = self.client.character(sinew.load(path), "lbs")
            with self.assertRaisesRegex(sinew.Error, "is read by this command"):
                character.bake(self.poses, path, format="npy")

    def test_weights(self):
        weighted = self.client.weights(self.hand, "capsule", max_influences=3)
        self.assertLessEqual((weighted.meshes[0].weights > 0).sum(axis=1).max(), 3)
        self.assertIn("fist", weighted.clips)
        with self.assertWarnsRegex(UserWarning, "^mesh: [0-9,]+ points follow the nearest bone, since none is visible"):
            self.client.weights(self.hand, "capsule", max_influences=1, joints=["wrist"])

    def test_fit_skeleton(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "statue.obj"
            path.write_text(statue())
            mesh = sinew.load(path, allow_no_skin=True)
            seen = []
            fit = self.client.fit_skeleton(mesh, "human", hints={"left_knee": (0.15, -0.4, 0)}, resolution=96,
                                           progress=seen.append)
            self.assertEqual(seen[-1], 1)
            self.assertLess(fit.residual, 0.1)
            self.assertEqual((list(fit.up), list(fit.forward)), ([0, 1, 0], [0, 0, 1]))
            self.assertEqual(len(fit.rig.joints), 22)
            knee = fit.rig.rest_pose[fit.rig.joints.index("left_knee")]
            np.testing.assert_allclose(knee[:, 3], (0.15, -0.4, 0), atol=1e-5)
            skinned = self.client.weights(fit.rig, "heat")
            character = self.client.character(skinned, "ddm")
            np.testing.assert_allclose(character.deform(skinned.rest_pose).positions,
                                       np.concatenate([m.positions for m in mesh.meshes]), atol=0.05)
            with self.assertRaisesRegex(sinew.InvalidArgument, "squid"):
                self.client.fit_skeleton(mesh, "squid")
            with self.assertRaisesRegex(sinew.InvalidArgument, "has a skin"):
                self.client.fit_skeleton(self.hand)
            hero = pathlib.Path(folder) / "hero.sinewrig"
            skinned.save(hero)
            with self.assertRaisesRegex(sinew.InvalidArgument, "joint_map: got it without"):
                sinew.load(hero, joint_map={"head": "Head"})
            with self.assertRaisesRegex(sinew.InvalidArgument, "retarget: got it without `clips`"):
                sinew.load(hero, retarget=True)

    def test_render(self):
        image = sinew.render(self.hand, {"rest": self.frames[0], "fist": self.frames[23]}, width=200, height=160,
                             heat_map=True)
        self.assertEqual((image.dtype, image.shape[2]), (np.uint8, 3))
        self.assertGreater(image.std(), 5)
        for name, value in (("width", 1), ("zoom", float("nan")), ("zoom", 0), ("elevation", float("inf")),
                            ("look_at", (1, 2)), ("look_at", (0, 0, float("nan")))):
            with self.assertRaisesRegex(ValueError, name):
                sinew.render(self.hand, self.frames[0], **{name: value})

    def test_stream_takes_frames_while_its_queue_is_full(self):
        poses = self.hand.clips["fist"].poses(fps=200)
        frames = []
        with self.character.stream() as stream:
            for pose in poses.joints:
                while stream.room == 0:
                    frames.append(stream.next().number)
                stream.send(pose)
            stream.finish()
            frames += [frame.number for frame in stream]
        self.assertEqual(frames, list(range(1, len(poses) + 1)))

    def test_compressed_frames_are_the_same(self):
        for compact in (False, True):
            options = {"normals": True, "compact": compact}
            with self.character.stream(**options, compressed=True) as stream:
                for pose in self.poses.joints[:9]:
                    stream.send(pose)
                stream.finish()
                frames = list(stream)
            for frame, pose in zip(frames, self.poses.joints):
                for other in (self.character.deform(pose, **options),
                              self.character.deform(pose, **options, compressed=True)):
                    self.assertEqual(frame.positions.tobytes(), other.positions.tobytes())
                    self.assertEqual(frame.normals.tobytes(), other.normals.tobytes())
            self.assertEqual(len(frames), 9)

    def test_compression_may_depend_on_the_line(self):
        with self.character.stream(compressed="auto") as stream:
            stream.send(self.poses.joints[0])
            self.assertEqual(stream.next().positions.tobytes(),
                             self.character.deform(self.poses.joints[0]).positions.tobytes())
        with self.assertRaisesRegex(ValueError, 'compressed: got "fast", need True, False or "auto"'):
            self.character.stream(compressed="fast")
        with self.assertRaisesRegex(TypeError, "^compressed: got list, need bool or str$"):
            self.character.stream(compressed=[])

    def test_many_streams_leave_room_for_calls(self):
        with contextlib.ExitStack() as streams:
            for _ in range(300):
                streams.enter_context(self.character.stream())
            self.assertEqual(self.client.stats().streams, 300)

    def test_asyncio(self):
        async def three():
            return await asyncio.gather(*(self.character.deform_async(self.poses.joints[k]) for k in range(3)))

        for k, frame in enumerate(asyncio.run(three())):
            np.testing.assert_array_equal(frame.positions, self.frames[k])

    def test_futures_have_the_bits_of_the_clip(self):
        with self.character.futures(max_queued=4) as stream:
            waiting = [stream.submit(pose) for pose in self.poses.joints[:20]]
            bad = stream.submit(np.full((20, 3, 4), np.nan))
            last = stream.submit(self.poses.joints[20])
        with self.assertRaisesRegex(sinew.Error, "it has ended"):
            stream.submit(self.poses.joints[0])
        for k, future in enumerate([*waiting, last]):
            np.testing.assert_array_equal(future.result(0).positions, self.frames[k])
        with self.assertRaisesRegex(ValueError, "not finite"):
            bad.result(0)
        with self.assertRaises(KeyError), self.character.futures() as stream:
            future = stream.submit(self.poses.joints[0])
            raise KeyError
        self.assertTrue(future.done())
        with self.assertRaises(sinew.Error):
            stream.submit(self.poses.joints[0])

    def test_compare(self):
        tube = sinew.load("model:tube")
        poses = next(iter(tube.clips.values())).poses(step=12)
        characters = [self.client.character(tube, deformer) for deformer in ("lbs", "ddm")]
        seen = []
        linear, mush = sinew.compare(characters, poses, progress=seen.append)
        self.assertEqual(seen[-1], 1)
        self.assertEqual(linear["frames"]["volume_ratio"].shape, (len(poses),))
        self.assertNotEqual(linear["mean"]["edge_distortion"], mush["mean"]["edge_distortion"])
        self.assertAlmostEqual(linear["frames"]["bulge"].mean(), linear["mean"]["bulge"])
        self.assertIsNotNone(linear["mean"]["overlap"])
        self.assertGreater(linear["worst"]["roughness"], 0)
        self.assertEqual(linear["worst"]["roughness"], linear["frames"]["roughness"].max())
        self.assertLessEqual(linear["worst"]["roughness_999"], linear["worst"]["roughness"])
        self.assertEqual(linear["worst"]["rough_fraction"], 0)
        fast, = sinew.compare(characters[:1], poses, self_intersections=False)
        self.assertIsNone(fast["mean"]["overlap"])
        self.assertTrue(np.isnan(fast["frames"]["self_intersections"]).all())
        with self.assertRaisesRegex(ValueError, "characters"):
            sinew.compare([], poses)
        with self.assertRaisesRegex(ValueError, "poses: got"):
            sinew.compare(characters, self.poses)
        with sinew.local() as other, self.assertRaisesRegex(ValueError, r"characters\[1\]: is of another client"):
            sinew.compare([characters[0], other.character(tube, "lbs")], poses)

    def test_other_threads_run_while_a_call_waits(self):
        ticks = []
        done = threading.Event()

        def tick():
            while not done.wait(0.001):
                ticks.append(time.monotonic())

        thread = threading.Thread(target=tick)
        thread.start()
        self.client.character(self.hand, "delta_mush").clip(self.poses)
        done.set()
        thread.join()
        self.assertGreater(len(ticks), 5)


class Types(unittest.TestCase):

    def test_types_name_what_the_module_has(self):
        def public(names):
            return {name for name in names if not name.startswith("_") or name in (
                "_rig_of_file", "_rig_of_bytes", "_poses", "_run", "_next_item", "_Cancellation")}

        module = sinew._sinew
        tree = ast.parse(pathlib.Path(sinew.__file__).with_name("_sinew.pyi").read_text())
        classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
        functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        self.assertEqual(functions | {node.name for node in classes}, public(vars(module)))
        for node in classes:
            members = {each.name for each in node.body if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))}
            self.assertEqual(public(members), public(vars(getattr(module, node.name))), node.name)

    def test_mypy_knows_the_types(self):
        code = """import sinew
            hand = sinew.load("model:hand")
            poses = hand.clips["fist"].poses(fps=24)
            with sinew.local() as client:
                character = client.character(hand, "ddm", progress=print)
                frames = character.clip(poses) * 2
                with character.futures() as stream:
                    vertices: int = stream.submit(poses.joints[0]).result().num_vertices
                    cost: str = client.methods()["dqs"].cost
                frames += [frame for frame in map(character.deform, poses)][0].positions
                wrong: str = character.deform(poses[0]).num_vertices
            """
        try:
            from mypy import api
        except ImportError as error:
            self.skipTest(f"{error}; install mypy")
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, MYPYPATH=arguments.package):
            program = pathlib.Path(folder) / "program.py"
            program.write_text(textwrap.dedent("            " + code))
            said, errors, code = api.run(["--strict", "--cache-dir", folder, str(program)])
        self.assertEqual(errors, "")
        self.assertIn("program.py:11: error: Incompatible types in assignment", said)
        self.assertIn("Found 1 error in 1 file", said)


class RemoteServer(unittest.TestCase):

    def test_server_that_restarts_is_used_again(self):
        hand, poses = hand_and_poses()
        server = start()
        character = sinew.connect(server.address).character(hand, "lbs", progress=lambda fraction: None)
        before = character.deform(poses.joints[5]).positions
        server.stop(signal.SIGKILL)
        server = start(listen=server.address)
        self.addCleanup(server.stop)
        np.testing.assert_array_equal(character.deform(poses.joints[5]).positions, before)

    def test_killed_server_is_given_up_after_the_deadline(self):
        hand, poses = hand_and_poses()
        server = start()
        client = sinew.connect(server.address)
        character = client.character(hand, "lbs")
        server.stop(signal.SIGKILL)
        for deadline in (0.1, 1):
            begun = time.monotonic()
            with self.assertRaisesRegex(sinew.Timeout, "the last failure: "):
                character.deform(poses.joints[5], deadline=deadline)
            self.assertLess(time.monotonic() - begun, deadline + 0.3)
        with self.assertRaises(sinew.Unavailable):
            client.watch("hero")

    def test_frozen_server_opens_no_stream(self):
        hand, _ = hand_and_poses()
        server = start()
        self.addCleanup(server.stop, signal.SIGKILL)
        client = sinew.connect(server.address)
        character = client.character(hand, "lbs")
        with self.assertRaisesRegex(sinew.NotFound, 'no stream "" is published now'):
            client.watch("")
        calls = (character.stream, character.futures, functools.partial(client.watch, "hero"))
        for call in calls:
            with self.assertRaisesRegex(ValueError, "deadline: got -1"):
                call(deadline=-1)
        server.process.send_signal(signal.SIGSTOP)
        os.waitpid(server.process.pid, os.WUNTRACED)  # until all its threads have stopped
        for call in calls:
            begun = time.monotonic()
            with self.assertRaisesRegex(sinew.Timeout, "not accepted by the server within the deadline"):
                call(deadline=0.3)
            self.assertLess(time.monotonic() - begun, 3)

    def test_frozen_server_is_given_up_after_the_deadline(self):
        hand, poses = hand_and_poses()
        server = start()
        self.addCleanup(server.stop)
        character = sinew.connect(server.address).character(hand, "lbs")
        server.process.send_signal(signal.SIGSTOP)
        os.waitpid(server.process.pid, os.WUNTRACED)  # until all its threads have stopped
        begun = time.monotonic()
        with self.assertRaises(sinew.Timeout) as caught:
            character.deform(poses.joints[5], deadline=0.3)
        self.assertLess(time.monotonic() - begun, 3)
        self.assertIsInstance(caught.exception, TimeoutError)
        self.assertNotIsInstance(caught.exception, sinew.Unavailable)
        server.process.send_signal(signal.SIGCONT)
        self.assertEqual(character.deform(poses.joints[5]).vertices, 9140)
        for wrong in (-1, float("nan")):
            with self.assertRaisesRegex(ValueError, "deadline: got"):
                character.deform(poses.joints[5], deadline=wrong)

    def test_server_of_a_killed_program_ends(self):
        code = "import sys; sys.path.insert(0, sys.argv[1]); import sinew.testing, time\n" \
               "print(sinew.testing.Server(program=sys.argv[2]).process.pid, flush=True); time.sleep(1000)"
        folder = self.enterContext(tempfile.TemporaryDirectory())
        process = subprocess.Popen([sys.executable, "-c", code, arguments.package, arguments.sinewd], cwd=folder,
                                   env={**os.environ, "TMPDIR": folder}, stdout=subprocess.PIPE, text=True)
        server = int(process.stdout.readline())
        process.kill()
        process.communicate()
        deadline = time.monotonic() + 60
        while self.runs(server):
            self.assertLess(time.monotonic(), deadline, "the server still runs after a minute")
            time.sleep(0.1)
        self.assertEqual(os.listdir(folder), [])

    def runs(self, process):
        try:
            return "State:\tZ" not in pathlib.Path(f"/proc/{process}/status").read_text()
        except OSError:  # it has ended
            return False

    def test_wrong_option_of_a_server(self):
        with self.assertRaisesRegex(RuntimeError, "exit code 64"):
            start("--no-such-option")
        with self.assertRaises(FileNotFoundError):
            Server(program="/no/such/sinewd")
        for options in (["--log-format", "json"], ["--listen", "127.0.0.1:0"]):
            with start(*options) as server:
                self.assertRegex(server.address, r"^127\.0\.0\.1:\d+$")

    def test_digest_is_of_the_bits(self):
        hand, poses = hand_and_poses()
        with start() as server:
            character = sinew.connect(server.address).character(hand, "lbs")
            one, two = (character.deform(poses.joints[k]) for k in (3, 4))
        self.assertEqual(digest(one), digest(one.positions.astype(">f4")))
        self.assertNotEqual(digest(one), digest(two))

    def test_ctrl_c_ends_a_call(self):
        code = """if True:
            import sys; sys.path.insert(0, sys.argv[1])
            import sinew
            hand = sinew.load("model:hand")
            client = sinew.connect(sys.argv[2])
            character = client.character(hand, "implicit_skinning")
            poses = hand.clips["fist"].poses(fps=5000)
            print("ready", flush=True)
            character.clip(poses)
        """
        server = start()
        self.addCleanup(server.stop)
        process = subprocess.Popen([sys.executable, "-c", code, arguments.package, server.address],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(process.stdout.readline(), "ready\n")
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        interrupted = time.monotonic()
        _, errors = process.communicate(timeout=300)
        # The whole clip takes a minute.
        self.assertLess(time.monotonic() - interrupted, 15)
        self.assertIn("KeyboardInterrupt", errors)
        self.assertEqual(process.returncode, -signal.SIGINT)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
