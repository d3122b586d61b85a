"""The Python package against the conformance cases."""

import argparse
import pathlib
import sys
import unittest

SKIP = 77

try:
    import numpy as np
except ImportError as error:
    print(f"skipped: {error}; install python3-numpy")
    sys.exit(SKIP)

options = argparse.ArgumentParser()
for option in ("--package", "--sinewd"):
    options.add_argument(option, required=True)
for option in ("--cases", "--expected"):
    options.add_argument(option, type=pathlib.Path, required=True)
arguments, rest = options.parse_known_args()
sys.path.insert(0, arguments.package)

import sinew  # noqa: E402
from cases import Judge, load  # noqa: E402
from sinew.testing import Server  # noqa: E402


class PackageTest(unittest.TestCase):

    def check_all(self, client, name):
        cases, judge = load(arguments.cases, arguments.expected), Judge(name)
        for case in cases:
            with self.subTest(case.name):
                character = client.character(sinew.load(case.rig_path), case.recipe)
                frames = character.clip(sinew.Poses(case.poses, case.controls))
                judge.check(case, frames, character.determinism_digest)
                if not case.stateful:
                    controls = None if case.controls is None else case.controls[-1]
                    one = character.deform(case.poses[-1], controls)
                    np.testing.assert_array_equal(one.positions, frames[-1])
        judge.report()

    def test_server(self):
        with Server(program=arguments.sinewd) as server, sinew.connect(server.address) as client:
            self.check_all(client, "Python package")

    def test_server_in_this_process(self):
        with sinew.local() as client:
            self.check_all(client, "Python package, server in its process")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *rest])
