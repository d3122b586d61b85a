"""Plain gRPC stubs against the conformance cases: nothing of Sinew's own but the protos."""

import argparse
import pathlib
import sys
import unittest

SKIP = 77

try:
    import grpc
    import numpy as np
except ImportError as error:
    print(f"skipped: {error}; install python3-grpcio python3-numpy python3-protobuf")
    sys.exit(SKIP)

options = argparse.ArgumentParser()
for option in ("--stubs", "--sinewd"):
    options.add_argument(option, required=True)
for option in ("--cases", "--expected"):
    options.add_argument(option, type=pathlib.Path, required=True)
arguments, rest = options.parse_known_args()
sys.path[:0] = [arguments.stubs, str(pathlib.Path(__file__).parent.parent / "python")]

from cases import Judge, load  # noqa: E402
from stub_calls import bind, serving, stream, upload  # noqa: E402


class StubTest(unittest.TestCase):

    def test_all(self):
        cases, judge = load(arguments.cases, arguments.expected), Judge("stubs")
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
