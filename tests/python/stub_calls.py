"""Calls of a server with plain gRPC stubs, whose folder is in sys.path: what any gRPC language can do."""

import contextlib
import hashlib
import queue
import subprocess

import numpy as np
from sinew.v1 import deform_service_pb2, deform_service_pb2_grpc, frame_pb2, pose_pb2
from sinew.v1 import rig_service_pb2, rig_service_pb2_grpc, session_service_pb2, session_service_pb2_grpc

PREFIX = "sinewd: listening on "
PIECE = 64 << 10


@contextlib.contextmanager
def serving(sinewd):
    """A server on a free port; its address."""
    with subprocess.Popen([sinewd, "--listen", "127.0.0.1:0", "--http", "off"], stdout=subprocess.PIPE, text=True) as server:
        try:
            line = server.stdout.readline().strip()
            assert line.startswith(PREFIX), line
            yield line[len(PREFIX):]
        finally:
            server.terminate()
            assert server.wait(60) == 0, server.returncode


def upload(channel, data):
    """Uploads a serialised rig in pieces; returns its name."""
    header = rig_service_pb2.UploadHeader(sha256=hashlib.sha256(data).hexdigest(), size_bytes=len(data))

    def pieces():
        yield rig_service_pb2.UploadRigRequest(header=header)
        for offset in range(0, len(data), PIECE):
            yield rig_service_pb2.UploadRigRequest(offset=offset, data=data[offset : offset + PIECE])

    return rig_service_pb2_grpc.RigServiceStub(channel).UploadRig(pieces()).rig.name


def bind(channel, rig, recipe_text):
    """The session of a rig and a recipe, once it is ready."""
    sessions = session_service_pb2_grpc.SessionServiceStub(channel)
    request = session_service_pb2.CreateSessionRequest(source=session_service_pb2.SessionSource(rig=rig, recipe_text=recipe_text))
    name = sessions.CreateSession(request).session.name
    for reply in sessions.WatchSession(session_service_pb2.WatchSessionRequest(name=name)):
        session = reply.session
    assert session.state == session_service_pb2.Session.STATE_READY, session
    return session


def q16(piece):
    """The positions of a piece in ENCODING_Q16."""
    q = np.frombuffer(piece.positions, "<u2").reshape(-1, 3).astype(np.float32)
    return np.float32(piece.quantisation.origin) + np.float32(piece.quantisation.step) * q


def octahedral(piece):
    """The normals of a piece in ENCODING_OCT8 or ENCODING_OCT16."""
    byte = piece.normal_encoding == frame_pb2.ENCODING_OCT8
    q = np.frombuffer(piece.normals, "i1" if byte else "<i2").reshape(-1, 2).astype(np.float32)
    u, v = (q / np.float32(127 if byte else 32767)).T
    z = (np.float32(1) - np.abs(u)) - np.abs(v)
    below = np.where(z < 0, -z, np.float32(0))
    x, y = (np.where(w < 0, w + below, w - below) for w in (u, v))
    return np.stack([x, y, z], 1) / np.sqrt((x * x + y * y) + z * z)[:, None]


def stream(channel, session, poses, vertices, chunk_bytes=0, attributes=(), controls=None, encodings=(),
           normal_encodings=(), normals=None):
    """All frames, [frames, vertices, 3], with acknowledgements as the protocol wants them; and their vertex status.

    normals: an array to fill, or None.
    """
    outgoing = queue.Queue()
    target = session_service_pb2.Target(session=session)
    output = frame_pb2.OutputOptions(
        chunk_bytes=chunk_bytes, attributes=attributes, encodings=encodings, normal_encodings=normal_encodings
    )
    opener = deform_service_pb2.StreamOpen(target=target, output=output)
    outgoing.put(deform_service_pb2.StreamDeformRequest(open=opener))
    for number, pose in enumerate(poses, 1):
        values = b"" if controls is None else controls[number - 1].tobytes()
        message = pose_pb2.Pose(joint_transforms=pose.tobytes(), controls=values, frame=number)
        outgoing.put(deform_service_pb2.StreamDeformRequest(poses=[message]))
    frames = np.full((len(poses), vertices, 3), np.nan, np.float32)
    vertex_status = np.full((len(poses), vertices), 255, np.uint8)
    done = 0
    stub = deform_service_pb2_grpc.DeformServiceStub(channel)
    for reply in stub.StreamDeform(iter(outgoing.get, None)):
        assert not reply.problems, reply.problems
        for piece in reply.frames:
            quantised = piece.encoding == frame_pb2.ENCODING_Q16
            part = q16(piece) if quantised else np.frombuffer(piece.positions, "<f4").reshape(-1, 3)
            assert len(part) == piece.vertex_count
            place = slice(piece.vertex_offset, piece.vertex_offset + len(part))
            frames[piece.frame - 1, place] = part
            if normals is not None:
                normals[piece.frame - 1, place] = octahedral(piece)
            for status_of in piece.channels:
                assert status_of.attribute == frame_pb2.ATTRIBUTE_VERTEX_STATUS
                assert status_of.encoding == frame_pb2.ENCODING_UINT8
                vertex_status[piece.frame - 1, place] = np.frombuffer(status_of.data, np.uint8)
            if piece.last_chunk:
                done += 1
                outgoing.put(deform_service_pb2.StreamDeformRequest(received=piece.frame))
        if done == len(poses):
            outgoing.put(None)
    return frames, vertex_status


def deform(channel, target, pose, vertices):
    """One frame, [vertices, 3]."""
    request = deform_service_pb2.DeformRequest(
        target=target, pose=pose_pb2.Pose(joint_transforms=pose.tobytes(), frame=1)
    )
    frame = deform_service_pb2_grpc.DeformServiceStub(channel).Deform(request).frame
    return np.frombuffer(frame.positions, "<f4").reshape(vertices, 3)
