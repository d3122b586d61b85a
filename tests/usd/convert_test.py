"""OpenUSD characters for the command line: python3 -m sinew.usd, and the bake that it prints.

usage: convert_test.py --package FOLDER --sinew FILE --tools FOLDER     as read_test.py
"""

import os
import shlex
import subprocess
import sys
import unittest

import read_test  # enters the virtual environment, which has what comes next

import characters
import numpy as np
from pxr import Usd


class CommandLine(read_test.UsdReading):

    def convert(self, *arguments, code=0):
        done = subprocess.run([sys.executable, "-B", "-m", "sinew.usd", *arguments], cwd=self.folder, capture_output=True,
                              text=True, check=False, env={**os.environ, "PYTHONPATH": str(read_test.options.package.resolve())})
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        return done

    def test_printed_command_bakes_the_points_of_usdskel(self):
        path = self.write(characters.blend_shapes)
        lines = self.convert("hero.usda", "out.sinewrig").stdout.splitlines()
        self.assertEqual(lines[:4], ["out.sinewrig", "out.Talk.poses.npy", "out.Talk.controls.npy",
                                     "clip Talk: 11 frames at 24 frames per second, frame 0 is time code 1"])
        sinew_name, *command = shlex.split(lines[4])
        self.assertEqual(sinew_name, "sinew")
        baked = command[command.index("--out") + 1]
        for out in ("out.npy", baked):
            command[command.index("--out") + 1] = out
            subprocess.run([read_test.options.sinew.resolve(), "--local", "--quiet", *command], cwd=self.folder, check=True)
        frames = np.load(self.folder / "out.npy")
        stage = Usd.Stage.Open(path)
        layer = Usd.Stage.Open(str(self.folder / baked))
        self.assertEqual((layer.GetStartTimeCode(), layer.GetEndTimeCode()), (1, 11))
        for k, frame in enumerate(frames):
            need = characters.skinned_points(stage, 1 + k)
            self.assertLess(abs(need - frame).max() / np.linalg.norm(np.ptp(need, axis=0)), read_test.ROUNDING)
        self.assertEqual(sorted(each.name for each in self.folder.iterdir() if not each.name.startswith(("out.npy", baked))),
                         ["hero.usda", "out.Talk.controls.npy", "out.Talk.poses.npy", "out.sinewrig"])

    def test_printed_recipe_is_that_of_the_stage(self):
        self.write(characters.dual_quaternions)
        done = self.convert("hero.usda", "out.sinewrig", "--fps", "12")
        self.assertIn("--deformer dqs --poses out.Twist.poses.npy --fps 12 --out out.Twist.usda", done.stdout)
        self.assertEqual(len(np.load(self.folder / "out.Twist.poses.npy")), 6)

    def test_exit_codes_are_those_of_sinew(self):
        self.convert(self.write(characters.rigid_meshes, "rigid.usda"), "x.sinewrig", "--strict", code=65)
        stage = self.simple()
        stage.Save()
        self.convert("hero.usda", code=64)
        self.convert("hero.usda", "out.glb", code=64)
        self.convert("hero.usda", "out.sinewrig", "--fps", "0", code=64)
        self.convert("nothing.usda", "out.sinewrig", code=65)
        self.convert("hero.usda", "missing/out.sinewrig", code=73)
        self.convert("hero.usda", "out.sinewrig")
        before = {each: each.read_bytes() for each in self.folder.iterdir()}
        self.convert("hero.usda", "out.sinewrig", "--no-clobber", code=73)
        self.skeleton.GetBindTransformsAttr().Clear()
        stage.Save()
        self.assertIn("sinew: hero.usda: /Hero/Skel: bindTransforms: missing",
                      self.convert("hero.usda", "out.sinewrig", code=65).stderr)
        after = {each: each.read_bytes() for each in self.folder.iterdir()}
        self.assertEqual({each.name for each in after}, {each.name for each in before})
        self.assertEqual(after[self.folder / "out.sinewrig"], before[self.folder / "out.sinewrig"])

    def test_inspect_names_the_module(self):
        self.write(characters.joint_orders)
        done = subprocess.run([read_test.options.sinew.resolve(), "inspect", "hero.usda"], cwd=self.folder, capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 65)
        self.assertIn("python3 -m sinew.usd", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *read_test.rest], verbosity=2)
