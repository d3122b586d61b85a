"""Clients of other people against sinewd, found by reflection alone: grpcurl lists, describes and calls it, ghz loads it.

usage: grpc_tools_test.py --tools FOLDER --sinewd FILE --sinew FILE    FOLDER: where the tools are, installed if missing
"""

import argparse
import base64
import json
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile
import unittest

_GRPCURL = "github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.8.9"
_GHZ = "github.com/bojand/ghz/cmd/ghz@v0.93.0"
_SKIP = 77  # what ctest takes as skipped

parser = argparse.ArgumentParser()
parser.add_argument("--tools", type=pathlib.Path, required=True)
parser.add_argument("--sinewd", required=True)
parser.add_argument("--sinew", required=True)
options, rest = parser.parse_known_args()


def _run(*arguments: object) -> str:
    done = subprocess.run([str(each) for each in arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{arguments[0]} exits with {done.returncode}: {done.stderr}")
    return done.stdout


def _install() -> None:
    """Puts grpcurl and ghz into the folder of tools, through the Go module proxy."""
    go = shutil.which("go") or shutil.which("go", path="/usr/local/go/bin:/usr/lib/go/bin")
    for module in (_GRPCURL, _GHZ):
        name = module.split("@")[0].rsplit("/", 1)[1]
        if (options.tools / "bin" / name).exists():
            continue
        if go is None:
            print("skipped: go is not installed (golang-go)")
            raise SystemExit(_SKIP)
        print(f"installing {module} ...", flush=True)
        subprocess.run([go, "install", module], check=True,
                       env={**os.environ, "GOPATH": str(options.tools), "GOFLAGS": "-modcacherw"})


class GrpcTools(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        # pylint: disable=consider-using-with
        cls.server = subprocess.Popen([options.sinewd, "--listen", "127.0.0.1:0", "--http", "off", "--exit-with-parent"],
                                      stdout=subprocess.PIPE, text=True)
        cls.address = cls.server.stdout.readline().split("listening on ")[1].strip()

    @classmethod
    def tearDownClass(cls) -> None:
        cls.server.terminate()
        assert cls.server.wait(30) == 0
        cls.server.stdout.close()

    def grpcurl(self, *arguments: str) -> str:
        return _run(options.tools / "bin" / "grpcurl", "-plaintext", *arguments)

    def call(self, method: str, **request: object) -> dict:
        return json.loads(self.grpcurl("-d", json.dumps(request), self.address, f"sinew.v1.{method}"))

    def load(self, method: str, request: dict, count: int) -> dict:
        return json.loads(_run(options.tools / "bin" / "ghz", "--insecure", "--call", f"sinew.v1.{method}", "--data",
                               json.dumps(request), "--total", count, "--concurrency", 8, "--connections", 2,
                               "--format", "json", self.address))

    def pose(self, folder: str) -> dict:
        """A request that deforms model:hand, which is on the server then, by its first pose."""
        path = os.path.join(folder, "poses.npy")
        _run(options.sinew, "export", "model:hand", "--poses", path)
        with open(path, "rb") as file:
            content = file.read()
        header, = struct.unpack_from("<H", content, 8)
        rig = _run(options.sinew, "--server", self.address, "upload", "model:hand").strip()
        count = len(self.call("RigService/GetRig", name=rig)["rig"]["joints"])
        pose = content[10 + header:10 + header + count * 48]
        return {"target": {"source": {"rig": rig, "recipe_text": "ddm"}},
                "pose": {"joint_transforms": base64.b64encode(pose).decode(), "frame": "1"}}

    def test_grpcurl_lists_and_describes_every_service(self) -> None:
        services = self.grpcurl(self.address, "list").split()
        for name in ("RigService", "SessionService", "DeformService", "InfoService"):
            self.assertIn(f"sinew.v1.{name}", services)
        self.assertIn("grpc.health.v1.Health", services)
        described = self.grpcurl(self.address, "describe", "sinew.v1.DeformService")
        self.assertIn("rpc Deform ( .sinew.v1.DeformRequest ) returns ( .sinew.v1.DeformResponse );", described)

    def test_grpcurl_calls_and_gets_a_frame(self) -> None:
        methods = [method["name"] for method in self.call("InfoService/ListMethods")["methods"]]
        self.assertIn("ddm", methods)
        with tempfile.TemporaryDirectory() as folder:
            request = self.pose(folder)
        reply = self.call("DeformService/Deform", **request)
        positions = base64.b64decode(reply["frame"]["positions"])
        self.assertEqual(len(positions), 12 * reply["frame"]["vertex_count"])

    def test_grpcurl_shows_what_was_wrong(self) -> None:
        done = subprocess.run([options.tools / "bin" / "grpcurl", "-plaintext", "-d", '{"name": "rigs/x"}', self.address,
                               "sinew.v1.RigService/GetRig"], capture_output=True, text=True, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("InvalidArgument", done.stderr)
        self.assertIn("google.rpc.BadRequest", done.stderr)

    def test_ghz_loads_calls_and_frames_without_error(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            frames = self.load("DeformService/Deform", self.pose(folder), 500)
        self.assertEqual(frames["statusCodeDistribution"], {"OK": 500})
        calls = self.load("InfoService/ListMethods", {}, 500)
        self.assertEqual(calls["statusCodeDistribution"], {"OK": 500})
        print(f"ghz: {frames['rps']:.0f} frames and {calls['rps']:.0f} lists of methods a second")


if __name__ == "__main__":
    _install()
    unittest.main(argv=[__file__, *rest])
