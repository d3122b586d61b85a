"""The Python package in several processes: forked and spawned ones, and its programs."""

import concurrent.futures
import multiprocessing
import os
import pathlib
import pickle
import subprocess
import sys
import textwrap
import unittest
from unittest import mock

import command_line

arguments, rest = command_line.read("package")

import numpy as np  # noqa: E402
import sinew  # noqa: E402
from sinew.testing import Server, digest  # noqa: E402

SECONDS = 120  # far more than the programs take; a hang of one is seen after it

# Two children of a process that runs `beginning`; each runs `child`, and ends as any program does.
FORKING = """
import os, sys
sys.path.insert(0, sys.argv[1])
import numpy as np
import sinew
hand = sinew.load("model:hand")
poses = hand.clips["fist"].poses(fps=24)
{beginning}

def say(*values):
    os.write(1, f"{{' '.join(map(str, values))}}\\n".encode())  # at once: two children write

children = []
for _ in range(2):
    child = os.fork()
    if child == 0:
{child}
        sys.exit(7)
    children.append(child)
print(*(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children))
"""


def deformed(rig, poses):
    """In a process of its own."""
    with sinew.local() as client:
        return rig.label, digest(client.character(rig, "ddm").clip(poses))


class Processes(unittest.TestCase):

    def forked(self, beginning, child):
        """What the children print, sorted, and at last their exit codes."""
        code = FORKING.format(beginning=textwrap.dedent(beginning), child=textwrap.indent(textwrap.dedent(child), " " * 8))
        done = subprocess.run([sys.executable, "-c", code, arguments.package], capture_output=True, text=True,
                              timeout=SECONDS, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.splitlines()

    def test_children_of_a_client_say_why_they_have_none(self):
        said = self.forked("""\
            with sinew.local() as client:
                frame = client.character(hand, "lbs").deform(poses[0])
            """, """\
            for make in (sinew.local, sinew.connect):
                try:
                    make()
                except sinew.Error as error:
                    say(error)
            """)
        self.assertEqual(len(said), 5)
        self.assertEqual(said[:4], said[:1] * 4)
        self.assertIn('start processes with multiprocessing\'s "spawn" or "forkserver"', said[0])
        self.assertEqual(said[4], "7 7")

    def test_children_end_with_objects_of_their_parent(self):
        said = self.forked("""\
            client = sinew.local()
            character = client.character(hand, "lbs")
            frame = character.deform(poses[0])
            stream, futures = character.stream(), character.futures()
            stream.send(poses[0])
            """, """\
            calls = [lambda: character.deform(poses[0]), lambda: character.clip(poses), client.stats, stream.next,
                     lambda: stream.send(poses[1]), stream.finish, lambda: futures.submit(poses[0]), character.release]
            for call in calls:
                try:
                    call()
                except sinew.Error as error:
                    assert "was forked" in str(error), error
                else:
                    say(call)
            stream.cancel()
            # What needs no network, and a picture, which has threads of its own.
            again = sinew.load("model:hand").clips["fist"].poses(fps=24)
            image = sinew.render(hand, frame, width=64, height=64)
            say(np.array_equal(again.matrices, poses.matrices), hand.rest_pose.shape, np.asarray(frame).shape, image.ndim,
                len(poses[2:5]))
            """)
        self.assertEqual(said, ["True (20, 3, 4) (9140, 3) 3 3"] * 2 + ["7 7"])

    def test_children_of_a_process_without_a_client_have_their_own(self):
        said = self.forked("", """\
            with sinew.local() as client:
                say(client.character(hand, "lbs").clip(poses).shape)
            """)
        self.assertEqual(said, ["(48, 9140, 3)"] * 2 + ["7 7"])

    def test_rigs_and_poses_reach_spawned_processes(self):
        hand = sinew.load("model:hand")
        poses = hand.clips["fist"].poses(fps=24)[10:12]
        spawn = multiprocessing.get_context("spawn")
        with concurrent.futures.ProcessPoolExecutor(2, mp_context=spawn) as pool:
            here = deformed(hand, poses)
            self.assertEqual(list(pool.map(deformed, [hand] * 2, [poses] * 2, timeout=SECONDS)), [here] * 2)

    def test_pickled_objects_are_what_they_were(self):
        arm = sinew.load("model:arm")
        again = pickle.loads(pickle.dumps(arm))
        self.assertEqual((again.label, again.format, again.joint_names, again.controls, again.problems),
                         (arm.label, arm.format, arm.joint_names, arm.controls, arm.problems))
        np.testing.assert_array_equal(again.rest_pose, arm.rest_pose)
        np.testing.assert_array_equal(again.meshes[0].weights, arm.meshes[0].weights)
        self.assertEqual(again.clips, {})  # as of a saved rig
        poses = arm.clips["curl"].poses(fps=12, first=2, step=3)
        other = pickle.loads(pickle.dumps(poses))
        np.testing.assert_array_equal(other.matrices, poses.matrices)
        np.testing.assert_array_equal(other.controls, poses.controls)
        self.assertEqual((other.fps, other.first_frame, other.step), (12, 2, 3))
        with self.assertRaises(sinew.Error):
            sinew._sinew._rig_of_bytes(b"damaged", "", "", [])

    def test_pickled_errors_keep_their_details(self):
        error = pickle.loads(pickle.dumps(sinew.Timeout("late", "DEADLINE_EXCEEDED", retry_after=2.0)))
        self.assertEqual((type(error), str(error), error.code, error.retry_after),
                         (sinew.Timeout, "late", "DEADLINE_EXCEEDED", 2.0))

    def test_programs_are_in_the_package(self):
        hand = sinew.load("model:hand")
        with mock.patch.dict(os.environ), mock.patch("shutil.which", return_value=None):
            os.environ.pop("SINEWD", None)
            with Server("--max-streams", "3") as server, sinew.connect(server.address) as client:
                self.assertEqual(client.stats().limits["max-streams"], 3)
                self.assertEqual(client.character(hand, "lbs").deform(hand.rest_pose).num_vertices, 9140)
            self.assertEqual(server.process.returncode, 0)  # it has drained
            with self.assertRaisesRegex(RuntimeError, "exit code 64"):
                Server("--no-such-option")
            done = subprocess.run([sys.executable, "-m", "sinew.programs", "sinew", "--version"], capture_output=True, text=True,
                                  check=False, env={**os.environ, "PYTHONPATH": str(pathlib.Path(sinew.__file__).parents[1])})
        self.assertEqual((done.returncode, done.stdout.split()[-1]), (0, sinew.__version__), done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
