"""The examples of deploy/farm for OpenJD, Dask and Ray, with the real programs; a worker of the latter two is killed.

usage: schedulers_test.py --sinew FILE --package FOLDER --tools FOLDER     FOLDER of tools: a virtual environment, made if missing
"""

import argparse
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import virtual_environment  # noqa: E402  pylint: disable=wrong-import-position

_PACKAGES = ["openjd-cli==0.8.0", "distributed==2024.12.1", "ray==2.40.0"]
_FARM = pathlib.Path(__file__).resolve().parents[2] / "deploy/farm"

parser = argparse.ArgumentParser()
parser.add_argument("--sinew", type=pathlib.Path, required=True)
parser.add_argument("--package", type=pathlib.Path, required=True)
parser.add_argument("--tools", type=pathlib.Path, required=True)
options, rest = parser.parse_known_args()


def _descendants(pid):
    """Processes below `pid`, with their command lines."""
    parents = {}
    for entry in pathlib.Path("/proc").iterdir():
        try:
            parents[int(entry.name)] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
        except (OSError, ValueError):
            continue
    found, level = {}, {pid}
    while level:
        level = {child for child, parent in parents.items() if parent in level}
        for child in level:
            try:
                found[child] = pathlib.Path(f"/proc/{child}/cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
            except OSError:
                continue
    return found


class SchedulersTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="sinew-farm-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.environment = dict(os.environ, PYTHONPATH=str(options.package), RAY_USAGE_STATS_ENABLED="0",
                                PATH=f"{options.sinew.resolve().parent}:{os.environ['PATH']}")

    def expect_whole(self, out, *bake):
        whole = self.folder / f"whole{out.suffix}"
        subprocess.run([options.sinew, "bake", *bake, "--out", whole, "--local", "--quiet"], check=True,
                       capture_output=True)
        self.assertEqual(out.read_bytes(), whole.read_bytes())
        self.assertEqual(pathlib.Path(f"{out}.json").read_bytes(), pathlib.Path(f"{whole}.json").read_bytes())
        self.assertFalse(pathlib.Path(f"{out}.parts").exists())

    def run_with_a_death(self, example, is_worker):
        """Runs an example and kills one of its workers once the first part is there."""
        out = self.folder / "hand.pc2"
        process = subprocess.Popen([options.tools / "bin/python", _FARM / example, "model:hand", out],
                                   env=self.environment, cwd=self.folder, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True)
        killed = False
        while process.poll() is None and not killed:
            if list(self.folder.glob("hand.pc2.parts/*.json")):
                for pid, command in _descendants(process.pid).items():
                    if not killed and is_worker(command):
                        os.kill(pid, signal.SIGKILL)
                        killed = True
            time.sleep(0.01)
        printed, _ = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0, printed)
        self.assertTrue(killed, "a worker was killed while the job ran")
        self.expect_whole(out, "model:hand", "--deformer", "ddm")

    def test_dask(self):
        self.run_with_a_death("bake_dask.py", lambda command: "spawn_main" in command)

    def test_ray(self):
        self.run_with_a_death("bake_ray.py", lambda command: command.startswith("ray::bake_part"))

    def test_openjd(self):
        openjd = options.tools / "bin/openjd"
        subprocess.run([openjd, "check", _FARM / "openjd.yaml"], check=True, capture_output=True)
        data = os.environ.get("SINEW_SHARED_DATA")
        if not data:
            self.skipTest("needs a character file in $SINEW_SHARED_DATA")
        character, out = pathlib.Path(data) / "models/mannequiny.glb", self.folder / "idle.mdd"
        done = subprocess.run([openjd, "run", _FARM / "openjd.yaml", "--step", "Join", "--run-dependencies",
                               "-p", f"Character={character}", "-p", f"Out={out}", "-p", "Frames=0-20:2,21-32",
                               "-p", "Chunk=7"], env=self.environment, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("openjd_progress: 100.0", done.stdout)
        self.expect_whole(out, character, "--deformer", "ddm", "--frames", "0-20x2,21-32")


if __name__ == "__main__":
    if not virtual_environment.install(options.tools, _PACKAGES):
        print("skipped: PyPI cannot be reached")
        sys.exit(virtual_environment.SKIP)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
