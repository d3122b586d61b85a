"""The Python package against the conformance cases."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "python"))
import command_line  # noqa: E402

arguments, rest = command_line.read("package", "sinewd", "cases", "expected")

import numpy as np  # noqa: E402
import sinew  # noqa: E402
from cases import Judge, load  # noqa: E402
from sinew.testing import Server  # noqa: E402


class PackageTest(unittest.TestCase):

    def check_all(self, client, name):
        cases, judge = load(pathlib.Path(arguments.cases), pathlib.Path(arguments.expected)), Judge(name)
        for case in cases:
            with self.subTest(case.name):
                character = client.character(sinew.load(case.rig_path), case.recipe)
                frames = character.clip(sinew.Poses(case.poses, case.controls))
                judge.check(case, frames, character.determinism_digest)
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
