"""The examples of the Python package do what they say."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import command_line

arguments, rest = command_line.read("package", "sinewd")

from sinew.testing import Server  # noqa: E402


class Examples(unittest.TestCase):

    def run_example(self, name, folder, *rest):
        example = pathlib.Path(__file__).parents[2] / "client/python/examples" / name
        return subprocess.run([sys.executable, example, *rest], cwd=folder, check=True, text=True,
                              stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": os.path.abspath(arguments.package)}).stdout

    def test_bake_clip(self):
        with tempfile.TemporaryDirectory() as folder:
            said = self.run_example("bake_clip.py", folder)
            self.assertEqual(said, "48 frames of 9140 vertices in hand.pc2, a picture in hand.pc2.png\n")
            self.assertEqual(os.path.getsize(os.path.join(folder, "hand.pc2")), 32 + 48 * 9140 * 12)
            picture = pathlib.Path(folder, "hand.pc2.png").read_bytes()
        self.assertTrue(picture.startswith(b"\x89PNG"))
        self.assertGreater(len(picture), 10_000)

    def test_live_stream(self):
        with tempfile.TemporaryDirectory() as folder, Server(program=arguments.sinewd) as server:
            said = self.run_example("live_stream.py", folder, server.address)
        poses, shown, dropped = (int(number) for number in re.findall(r"\d+", said))
        self.assertEqual(poses, shown + dropped, said)

    def test_compare_methods(self):
        try:
            import matplotlib  # noqa: F401
        except ImportError as error:
            self.skipTest(f"{error}; install python3-matplotlib")
        with tempfile.TemporaryDirectory() as folder:
            self.run_example("compare_methods.py", folder)
            self.assertTrue(pathlib.Path(folder, "volume.png").read_bytes().startswith(b"\x89PNG"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
