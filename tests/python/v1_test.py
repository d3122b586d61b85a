"""sinew.v1 in the Python package: generated messages and stubs beside the client library, and without their packages."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import command_line

arguments, rest = command_line.read("package", "sinewd", "sinew", "readme", modules=command_line.FOR_STUBS)

import grpc  # noqa: E402
import numpy as np  # noqa: E402
import sinew  # noqa: E402
from sinew.testing import Server  # noqa: E402
from sinew.v1 import info_service_pb2, info_service_pb2_grpc, rig_pb2  # noqa: E402
from sinew.v1 import session_service_pb2, session_service_pb2_grpc  # noqa: E402
from sinew.v1.google_rpc import error_details_pb2, status_pb2  # noqa: E402

FOLDER = pathlib.Path(arguments.package) / "sinew" / "v1"


def run(program, **options):
    """The result of a Python program that finds the package."""
    start = f"import sys; sys.path.insert(0, {arguments.package!r})\n"
    return subprocess.run([sys.executable, "-c", start + program], capture_output=True, text=True, check=False, **options)


class V1Test(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(Server(program=arguments.sinewd))
        cls.channel = cls.enterClassContext(grpc.insecure_channel(cls.server.address))

    def test_package_does_not_need_protobuf(self):
        hidden = "sys.modules['grpc'] = sys.modules['google'] = None\n"
        done = run(hidden + "import sinew, sinew.testing; print(len(sinew.load('model:tube').joints))")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for name in ("grpc", "google"):
            done = run(f"sys.modules[{name!r}] = None\nimport sinew.v1")
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr.splitlines()[-1], r"^ImportError: sinew\.v1: .*; needs protobuf and grpcio")

    def test_server_answers_both_clients_of_a_process(self):
        info = info_service_pb2_grpc.InfoServiceStub(self.channel).GetServerInfo(info_service_pb2.GetServerInfoRequest())
        with sinew.connect(self.server.address) as client:
            self.assertEqual(client.stats().version, info.version)

    def test_rig_of_the_package_is_a_message(self):
        hand = sinew.load("model:hand")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "hand.sinewrig"
            hand.save(path)
            rig = rig_pb2.Rig.FromString(path.read_bytes())
        self.assertEqual([joint.name for joint in rig.joints], hand.joints)
        points = np.frombuffer(rig.meshes[0].positions.data, "<f4").reshape(-1, 3)
        np.testing.assert_array_equal(points, hand.meshes[0].positions)

    def test_details_of_errors(self):
        request = session_service_pb2.CreateSessionRequest(
            source=session_service_pb2.SessionSource(rig="none", recipe_text="lbs"))
        with self.assertRaises(grpc.RpcError) as caught:
            session_service_pb2_grpc.SessionServiceStub(self.channel).CreateSession(request)
        trailer = dict(caught.exception.trailing_metadata())["grpc-status-details-bin"]
        violations = []
        for detail in status_pb2.Status.FromString(trailer).details:
            bad = error_details_pb2.BadRequest()
            if detail.Unpack(bad):
                violations += [violation.field for violation in bad.field_violations]
        self.assertEqual(violations, ["source.rig"])

    def test_google_package_is_used_where_it_is_installed(self):
        """Two files of one name and other content cannot be in a process."""
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder) / "google" / "rpc"
            place.mkdir(parents=True)
            for name in ("status", "error_details"):
                source = (FOLDER / "_shipped" / "google" / "rpc" / f"{name}_pb2.py").read_text()
                (place / f"{name}_pb2.py").write_text(source)
            find = f"import google; google.__path__.append({str(place.parent)!r})\n"
            done = run(find + "from sinew.v1 import google_rpc\nprint(google_rpc.status_pb2.__file__)")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout.strip(), str(place / "status_pb2.py"))
        done = run("from sinew.v1 import google_rpc\nprint(google_rpc.status_pb2.__name__)")
        self.assertEqual(done.stdout.strip(), "sinew.v1._shipped.google.rpc.status_pb2")

    def test_every_message_has_types(self):
        messages = sorted(FOLDER.glob("*_pb2.py"))
        self.assertGreater(len(messages), 5)
        for path in messages:
            self.assertTrue(path.with_suffix(".pyi").exists(), path)

    def test_first_call_of_the_readme(self):
        text = pathlib.Path(arguments.readme).read_text()
        example = text.split("```python", 1)[1].split("```", 1)[0]
        shown = example.replace('"127.0.0.1:50051"', repr(self.server.address)).replace(
            'sys.path.insert(0, "stubs")\n', "")
        with tempfile.TemporaryDirectory() as folder:
            export = [arguments.sinew, "export", "model:hand", "--rig", "hand.sinewrig", "--poses", "poses.npy"]
            subprocess.run(export, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            done = run(shown + "\nassert positions.shape == (9140, 3) and np.isfinite(positions).all()\n", cwd=folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *rest])
