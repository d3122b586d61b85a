"""Plain gRPC stubs against the C++ client library: the same rig, the same poses, the same bits.

Nothing of Sinew's own is used here but the protos: what this script does, any gRPC language can do.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import command_line

FRAMES = 30
arguments, rest = command_line.read("stubs", "sinewd", "frames", "sinew", "readme", modules=command_line.FOR_STUBS)

import grpc  # noqa: E402
import numpy as np  # noqa: E402
from google.protobuf import json_format  # noqa: E402
from sinew.v1 import frame_pb2, rig_service_pb2, rig_service_pb2_grpc, session_service_pb2  # noqa: E402
from stub_calls import bind, deform, serving, stream, upload  # noqa: E402

STATES = [frame_pb2.ATTRIBUTE_POSITIONS, frame_pb2.ATTRIBUTE_VERTEX_STATUS]


class StubTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.address = cls.enterClassContext(serving(arguments.sinewd))
        cls.channel = cls.enterClassContext(grpc.insecure_channel(cls.address))

    def client_frames(self, recipe_text, *more):
        """What the C++ client gets: files by name, and poses."""
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([arguments.frames, self.address, folder, recipe_text, str(FRAMES), *more], check=True)
            data = {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir()}
        return data, np.frombuffer(data["poses.f32"], "<f4").reshape(FRAMES, -1, 12)

    def decode_in_javascript(self, pieces, expected):
        if shutil.which("node") is None:
            print("no decoder in JavaScript: node is not installed")
            return
        decoder = pathlib.Path(__file__).with_name("decode_frames.mjs")
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            lines = [json_format.MessageToJson(piece, indent=None) for piece in pieces]
            (folder / "parts").write_text("\n".join(lines))
            subprocess.run(["node", decoder, folder / "parts", folder / "positions", folder / "normals"], check=True)
            self.assertEqual((folder / "positions").read_bytes(), expected["stream.f32"])
            self.assertEqual((folder / "normals").read_bytes(), expected["normals.f32"])

    def test_decoders_of_encodings(self):
        data, poses = self.client_frames("dqs")
        exact = np.frombuffer(data["stream.f32"], "<f4").reshape(FRAMES, -1, 3)
        session = bind(self.channel, upload(self.channel, data["rig.sinewrig"]), "dqs").name
        wanted = [frame_pb2.ATTRIBUTE_POSITIONS, frame_pb2.ATTRIBUTE_NORMALS]
        box = np.ptp(exact, axis=1, keepdims=True)
        zstd = [99, frame_pb2.COMPRESSION_ZSTD]
        for encoding in ("oct8", "oct16"):
            data, _ = self.client_frames("dqs", encoding)
            packed, _ = self.client_frames("dqs", encoding, "zstd")
            for name in ("stream.f32", "normals.f32"):
                self.assertEqual(packed[name], data[name])
            number = frame_pb2.Encoding.Value("ENCODING_" + encoding.upper())
            for chunk_bytes, compressions in ((0, []), (4096, []), (0, zstd), (16384, zstd)):
                normals, pieces = np.full_like(exact, np.nan), []
                # An encoding that no server knows yet comes first.
                frames, _ = stream(self.channel, session, poses, exact.shape[1], chunk_bytes, wanted,
                                   encodings=[99, frame_pb2.ENCODING_Q16], normal_encodings=[number], normals=normals,
                                   compressions=compressions, pieces=pieces)
                self.assertEqual(frames.tobytes(), data["stream.f32"])
                self.assertEqual(normals.tobytes(), data["normals.f32"])
                if chunk_bytes > 0:
                    self.decode_in_javascript(pieces, data)
            self.assertLess(np.abs((frames - exact) / box).max(), 0.51 / 65535 * (1 + 1 / 127))
            lengths = np.linalg.norm(normals, axis=2)
            self.assertLess(np.abs(lengths - 1).max(), 1e-6)
        data, _ = self.client_frames("dqs", "float32")
        packed, _ = self.client_frames("dqs", "float32", "zstd")
        normals = np.full_like(exact, np.nan)
        frames, _ = stream(self.channel, session, poses, exact.shape[1], 0, wanted, normals=normals, compressions=zstd,
                           pieces=(pieces := []))
        self.decode_in_javascript(pieces, data)
        for frames_of in (data, packed):
            self.assertEqual(frames.tobytes(), frames_of["stream.f32"])
            self.assertEqual(normals.tobytes(), frames_of["normals.f32"])

    def compare(self, recipe_text, vertex_status=False):
        data, poses = self.client_frames(recipe_text, *(["states"] if vertex_status else []))
        expected = np.frombuffer(data["stream.f32"], "<f4").reshape(FRAMES, -1, 3)
        vertices = expected.shape[1]
        self.assertEqual(data["stream.f32"], data["unary.f32"])
        self.assertFalse(np.array_equal(expected[0], expected[-1]))

        rig = upload(self.channel, data["rig.sinewrig"])
        session = bind(self.channel, rig, recipe_text).name
        for chunk_bytes in (0, 4096):
            frames, got = stream(self.channel, session, poses, vertices, chunk_bytes, STATES if vertex_status else ())
            self.assertEqual(frames.tobytes(), data["stream.f32"])
            if vertex_status:
                packed, again = stream(self.channel, session, poses, vertices, chunk_bytes, STATES,
                                       compressions=[frame_pb2.COMPRESSION_ZSTD])
                self.assertEqual(packed.tobytes(), frames.tobytes())
                self.assertEqual(again.tobytes(), got.tobytes())
                self.assertEqual(got.tobytes(), data["stream.u8"])
                self.assertLess(got.max(), len(frame_pb2.VertexStatus.keys()))
        by_session = session_service_pb2.Target(session=session)
        by_rig = session_service_pb2.Target(source=session_service_pb2.SessionSource(rig=rig, recipe_text=recipe_text))
        for target in (by_session, by_rig):
            frame = deform(self.channel, target, poses[-1], vertices)
            self.assertEqual(frame.tobytes(), expected[-1].tobytes())

    def test_readme(self):
        text = pathlib.Path(arguments.readme).read_text()
        example = text.split("```python", 1)[1].split("```", 1)[0]
        shown = example.replace('"127.0.0.1:50051"', repr(self.address)).replace('"stubs"', repr(arguments.stubs))
        self.assertNotEqual(shown, example)
        with tempfile.TemporaryDirectory() as folder:
            export = [arguments.sinew, "export", "model:hand", "--rig", "hand.sinewrig", "--poses", "poses.npy"]
            subprocess.run(export, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            program = shown + "\nassert positions.shape == (9140, 3) and np.isfinite(positions).all()\n"
            subprocess.run([sys.executable, "-c", program], cwd=folder, check=True)

    def test_linear_blend(self):
        self.compare("lbs")

    def test_dual_quaternions(self):
        self.compare("dqs")

    def test_direct_delta_mush(self):
        self.compare("ddm")

    def test_vertex_states(self):
        self.compare("lbs | implicit", vertex_status=True)

    def test_computed_weights(self):
        import struct

        from sinew.v1 import rig_pb2

        def floats(values, columns):
            return rig_pb2.Array(
                type=rig_pb2.ARRAY_TYPE_FLOAT32,
                columns=columns,
                rows=len(values) // columns,
                data=struct.pack(f"<{len(values)}f", *values),
            )

        # A box of 0.2 x 2 x 0.2 cut at five heights, two joints, no skin.
        heights = [0.0, 0.5, 1.0, 1.5, 2.0]
        points = [c for y in heights for x, z in ((-0.1, -0.1), (0.1, -0.1), (0.1, 0.1), (-0.1, 0.1)) for c in (x, y, z)]
        faces = []
        for ring in range(len(heights) - 1):
            for side in range(4):
                a, b = ring * 4 + side, ring * 4 + (side + 1) % 4
                faces += [a, a + 4, b + 4, b]
        faces += [0, 1, 2, 3] + [19, 18, 17, 16]
        sides = len(faces) // 4
        mesh = rig_pb2.Mesh(
            name="box",
            positions=floats(points, 3),
            face_vertices=rig_pb2.Array(
                type=rig_pb2.ARRAY_TYPE_UINT16, columns=1, rows=len(faces), data=struct.pack(f"<{len(faces)}H", *faces)
            ),
            face_sizes=rig_pb2.Array(type=rig_pb2.ARRAY_TYPE_UINT8, columns=1, rows=sides, data=bytes([4] * sides)),
        )
        lift = [1.0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0]
        rig = rig_pb2.Rig(
            joints=[rig_pb2.Joint(name="lower"), rig_pb2.Joint(name="upper", parent=0)],
            rest_local=floats(lift + lift[:7] + [1.0] + lift[8:], 12),
            meshes=[mesh],
        )
        name = upload(self.channel, rig.SerializeToString())
        with self.assertRaises(grpc.RpcError) as raised:
            bind(self.channel, name, "lbs")
        self.assertEqual(raised.exception.code(), grpc.StatusCode.FAILED_PRECONDITION)
        service = rig_service_pb2_grpc.RigServiceStub(self.channel)
        low = rig_service_pb2.TemplateJoint(name="low", y=-0.5)
        high = rig_service_pb2.TemplateJoint(name="high", parent=0, y=0.5)
        template = rig_service_pb2.SkeletonTemplate(joints=[low, high])
        fit = rig_service_pb2.FitSkeletonRequest(rig=name, skeleton=template, resolution=64, faces_forward=True)
        last = list(service.FitSkeleton(fit))[-1]
        self.assertEqual(last.progress, 1)
        self.assertTrue(last.rig.without_weights)
        self.assertLess(last.report.facing.residual, 0.1)
        for method in ("CAPSULE", "HEAT", "GEODESIC"):
            number = rig_service_pb2.WeightMethod.Value("WEIGHT_METHOD_" + method)
            request = rig_service_pb2.ComputeWeightsRequest(rig=name, method=number)
            last = list(service.ComputeWeights(request))[-1]
            self.assertEqual(last.progress, 1)
            self.assertEqual(last.rig.vertices, 20)
            again = list(service.ComputeWeights(request))[-1]
            self.assertEqual(again.rig.name, last.rig.name)
            session = bind(self.channel, last.rig.name, "lbs").name
            rest = np.array([lift, lift[:7] + [1.0] + lift[8:]], np.float32)
            target = session_service_pb2.Target(session=session)
            frame = deform(self.channel, target, rest, 20)
            self.assertLess(np.abs(frame.reshape(-1) - np.float32(points)).max(), 1e-5)

    def test_errors_are_canonical(self):
        target = session_service_pb2.Target(session="sessions/none")
        with self.assertRaises(grpc.RpcError) as raised:
            deform(self.channel, target, np.zeros((4, 12), np.float32), 1)
        self.assertEqual(raised.exception.code(), grpc.StatusCode.NOT_FOUND)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *rest])
