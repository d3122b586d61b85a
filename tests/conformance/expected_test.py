"""Whether expected.json is what conformance_cases writes now."""

import argparse
import json
import pathlib
import sys
import unittest

options = argparse.ArgumentParser()
for option in ("--cases", "--expected"):
    options.add_argument(option, type=pathlib.Path, required=True)
arguments, rest = options.parse_known_args()

AGAIN = "is stale: build/release/bin/conformance_cases build/conformance tests/conformance/expected.json"


class ExpectedTest(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.kept = json.loads(arguments.expected.read_text())
        cls.made = json.loads((arguments.cases / "expected.json").read_text())

    def test_input(self):
        """Rigs, poses and recipes are the same on every machine."""
        self.assertEqual(list(self.kept["cases"]), list(self.made["cases"]), AGAIN)
        for name, made in self.made["cases"].items():
            for field in ("recipe", "input"):
                self.assertEqual(self.kept["cases"][name][field], made[field], f"{name}.{field} {AGAIN}")

    def test_bits(self):
        if self.kept["math_library"] != self.made["math_library"]:
            self.skipTest("the math library of this machine rounds differently: bits are not compared")
        for name, made in self.made["cases"].items():
            self.assertEqual(self.kept["cases"][name], made, f"{name} {AGAIN}")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *rest])
