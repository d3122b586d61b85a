"""Plain gRPC stubs against the conformance cases: nothing of Sinew's own but the protos."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "python"))
import command_line  # noqa: E402

arguments, rest = command_line.read("stubs", "sinewd", "cases", "expected", modules=command_line.FOR_STUBS)

import grpc  # noqa: E402
import numpy as np  # noqa: E402
from cases import Judge, load  # noqa: E402
from stub_calls import bind, serving, stream, upload  # noqa: E402


class StubTest(unittest.TestCase):

    def test_all(self):
        cases, judge = load(pathlib.Path(arguments.cases), pathlib.Path(arguments.expected)), Judge("stubs")
        with serving(arguments.sinewd) as address, grpc.insecure_channel(address) as channel:
            for case in cases:
                with self.subTest(case.name):
                    rig_bytes = case.rig_path.read_bytes()
                    session = bind(channel, upload(channel, rig_bytes), case.recipe)
                    frames, _ = stream(channel, session.name, case.poses, case.vertices, controls=case.controls)
                    self.assertTrue(np.isfinite(frames).all())
                    judge.check(case, frames, session.determinism_digest)
        judge.report()


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *rest])
