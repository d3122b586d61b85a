"""The Python package in several processes: spawned ones, and its programs."""

import concurrent.futures
import multiprocessing
import os
import pathlib
import pickle
import subprocess
import sys
import unittest
from unittest import mock

import command_line

arguments, rest = command_line.read("package")

import numpy as np  # noqa: E402
import sinew  # noqa: E402
from sinew.testing import Server, digest  # noqa: E402

SECONDS = 120  # far more than the programs take; a hang of one is seen after it

def deformed(rig, poses):
    """In a process of its own."""
    with sinew.local() as client:
        return rig.label, digest(client.character(rig, "ddm").clip(poses))


class Processes(unittest.TestCase):

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
