"""Calls of the Python package that end before their work is done, and objects that cannot be used."""

import asyncio
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest

import command_line

arguments, rest = command_line.read("package", "sinewd")

import numpy as np  # noqa: E402
import sinew  # noqa: E402
from sinew.testing import Server, digest  # noqa: E402

WHOLE = 5000  # frames a second: the clip takes a minute with this recipe
RECIPE = "implicit_skinning"
SOON = 15  # seconds, far less than that

# The beginning of programs with a call that takes a minute. Arguments: folder of the package, address.
BEGINNING = """
import os, sys, threading
sys.path.insert(0, sys.argv[1])
import sinew
hand = sinew.load("model:hand")
character = sinew.connect(sys.argv[2]).character(hand, "implicit_skinning")
poses = hand.clips["fist"].poses(fps=5000)
started = threading.Event()
"""


def whole_clip():
    hand = sinew.load("model:hand")
    return hand, hand.clips["fist"].poses(fps=WHOLE)


class Calls(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(Server(program=arguments.sinewd))
        cls.client = cls.enterClassContext(sinew.connect(cls.server.address))
        cls.hand, cls.poses = whole_clip()
        cls.character = cls.client.character(cls.hand, RECIPE)

    @staticmethod
    def bare_mesh():
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "cube.obj"
            corners = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
            faces = ("1 2 4 3", "5 7 8 6", "1 5 6 2", "3 4 8 7", "1 3 7 5", "2 6 8 4")
            path.write_text("".join("v %g %g %g\n" % corner for corner in corners) +
                            "".join(f"f {face}\n" for face in faces))
            return sinew.load(path, allow_no_skin=True)

    def assert_soon(self, begun):
        self.assertLess(time.monotonic() - begun, SOON)

    def test_cancelled_coroutine_ends_its_call(self):

        async def cancelled():
            loop, started = asyncio.get_running_loop(), asyncio.Event()
            call = asyncio.create_task(self.character.clip_async(
                self.poses, progress=lambda _: loop.call_soon_threadsafe(started.set)))
            await started.wait()
            call.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await call
            await loop.shutdown_default_executor()  # waits for the thread of the call

        begun = time.monotonic()
        asyncio.run(cancelled())
        self.assert_soon(begun)

    def test_other_calls_of_a_pool_are_not_cancelled(self):

        async def two():
            loop, started = asyncio.get_running_loop(), asyncio.Event()
            long = asyncio.create_task(self.character.clip_async(
                self.poses, progress=lambda _: loop.call_soon_threadsafe(started.set)))
            await started.wait()
            short = asyncio.create_task(self.character.deform_async(self.poses.joints[0]))
            long.cancel()
            frame = await short
            with self.assertRaises(asyncio.CancelledError):
                await long
            return frame, await self.character.deform_async(self.poses.joints[0])

        frames = asyncio.run(two())
        self.assertEqual(digest(frames[0]), digest(frames[1]))

    def test_deadline_of_a_clip(self):
        with tempfile.TemporaryDirectory() as folder:
            for call in (lambda: self.character.clip(self.poses, deadline=0.5),
                         lambda: self.character.bake(self.poses, pathlib.Path(folder) / "hand.npy", deadline=0.5)):
                begun = time.monotonic()
                with self.assertRaises(sinew.Timeout) as caught:
                    call()
                self.assert_soon(begun)
                self.assertEqual(caught.exception.code, "DEADLINE_EXCEEDED")
            self.assertEqual(list(pathlib.Path(folder).iterdir()), [])
        for call in (lambda: self.client.weights(self.hand, "geodesic", deadline=1e-4),
                     lambda: self.client.fit_skeleton(self.bare_mesh(), resolution=384, deadline=1e-4)):
            with self.assertRaises(sinew.Timeout):
                call()
        with self.assertRaisesRegex(ValueError, "deadline: got -1"):
            self.client.fit_skeleton(self.bare_mesh(), deadline=-1)
        with self.assertRaisesRegex(ValueError, "deadline: got -1"):
            self.character.clip(self.poses, deadline=-1)
        short = sinew.Poses(self.poses.joints[:2])
        self.assertEqual(self.character.clip(short, deadline=60).shape, (2, 9140, 3))

    def test_interpreter_ends_calls_of_daemon_threads(self):
        """With a progress function, in a stream that waits, and in futures."""
        code = BEGINNING + textwrap.dedent("""\
            stream, futures = character.stream(), character.futures()
            for call in (lambda: character.clip(poses, progress=lambda _: started.set()), stream.next):
                threading.Thread(target=call, daemon=True).start()
            started.wait()
            print("ended")
        """)
        begun = time.monotonic()
        done = subprocess.run([sys.executable, "-c", code, arguments.package, self.server.address],
                              capture_output=True, text=True, timeout=300, check=False)
        self.assert_soon(begun)
        self.assertEqual((done.returncode, done.stdout), (0, "ended\n"), done.stderr)
        self.assertEqual(done.stderr, "")

    def test_forked_child_ends_while_its_parent_calls(self):
        # The call ends with the process; its thread must not hold stderr then.
        code = BEGINNING + textwrap.dedent("""\
            threading.excepthook = lambda _: None
            threading.Thread(target=lambda: character.clip(poses, progress=lambda _: started.set()), daemon=True).start()
            if not started.wait(60):
                sys.exit("the call does not begin")
            child = os.fork()
            if child == 0:
                sys.exit(7)
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """)
        done = subprocess.run([sys.executable, "-c", code, arguments.package, self.server.address],
                              capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, "7\n"), done.stderr)

    def test_closed_client_closes_its_characters(self):
        for client in (sinew.local(), sinew.connect(self.server.address)):
            character = client.character(self.hand, "lbs")
            pose = self.poses.joints[0]
            with character.stream() as stream:
                client.close()
                stream.send(pose)  # what is open stays
                stream.finish()
                self.assertEqual(len(list(stream)), 1)
            for call in (lambda: character.deform(pose), lambda: character.clip(self.poses), character.stream,
                         character.release, lambda: sinew.compare([character], self.poses)):
                with self.assertRaisesRegex(sinew.Error, "client: it is closed"):
                    call()
            self.assertEqual(character.rig.vertices, 9140)

    def test_close_waits_for_no_call(self):
        client = sinew.local()
        character = client.character(self.hand, "lbs")
        frames = []
        started = threading.Event()
        poses = self.hand.clips["fist"].poses(fps=200)
        thread = threading.Thread(target=lambda: frames.append(
            character.clip(poses, progress=lambda _: started.set())))
        thread.start()
        started.wait()
        client.close()
        thread.join()
        self.assertEqual(frames[0].shape, (len(poses), 9140, 3))


class Objects(unittest.TestCase):

    def test_objects_without_a_value_cannot_be_made(self):
        for kind in (sinew.Rig, sinew.Mesh, sinew.Clip, sinew.Poses, sinew.Frame, sinew.Stream, sinew.Character,
                     sinew.Client):
            with self.assertRaises(TypeError, msg=kind):
                kind.__new__(kind)
            with self.assertRaises(TypeError, msg=kind):
                kind()

    def test_poses_have_their_arguments(self):
        poses = sinew.Poses(np.zeros((2, 3, 12)), [[1], [2]], fps=12)
        self.assertEqual((len(poses), poses.fps, poses.controls.tolist()), (2, 12, [[1], [2]]))
        self.assertIsInstance(poses, sinew.Poses)
        with self.assertRaisesRegex(ValueError, r"matrices: got an array of shape \(3,\)"):
            sinew.Poses(np.zeros(3))
        self.assertIn("(F, J, 3, 4)", sinew.Poses.__doc__)

    def test_digest_needs_positions(self):
        for wrong in (None, "frames", 3.0, np.zeros(3), np.zeros((2, 4)), np.zeros((2, 3), int)):
            with self.assertRaisesRegex(ValueError, "frames: got"):
                digest(wrong)
        self.assertEqual(digest(np.zeros((1, 3))), digest(np.zeros((1, 3), np.float32)))

    def test_everything_has_a_description(self):
        module = sinew._sinew
        for name in ("render", "load", "local", "connect", "compare"):
            self.assertGreater(len(getattr(module, name).__doc__.splitlines()), 2, name)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
