#!/usr/bin/env python3
"""Every script of this folder answers --help, also without numpy and the Python package.

usage_test.py
"""
import pathlib
import subprocess
import sys
import unittest

import usage  # noqa: F401

FOLDER = pathlib.Path(__file__).resolve().parent


class Usage(unittest.TestCase):
    def answered(self, *command):
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""), command)
        return done.stdout

    def test_scripts_answer_help(self):
        scripts = sorted(path for path in FOLDER.iterdir() if path.suffix in (".py", ".sh"))
        self.assertGreater(len(scripts), 12)
        for script in scripts:
            # -S: without the packages of the system.
            command = [sys.executable, "-B", "-S", script] if script.suffix == ".py" else ["bash", script]
            for option in ("--help", "-h"):
                with self.subTest(script=script.name, option=option):
                    self.assertIn(script.name, self.answered(*command, option))


if __name__ == "__main__":
    unittest.main()
