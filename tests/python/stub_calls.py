"""Calls of a server with plain gRPC stubs, whose folder is in sys.path: what any gRPC language can do."""

import contextlib
import ctypes
import hashlib
import queue
import subprocess

import numpy as np
from sinew.v1 import deform_service_pb2, deform_service_pb2_grpc, frame_pb2, pose_pb2
from sinew.v1 import rig_service_pb2, rig_service_pb2_grpc, session_service_pb2, session_service_pb2_grpc

PREFIX = "sinewd: listening on "
PIECE = 64 << 10
_ZSTD = ctypes.CDLL("libzstd.so.1")
_ZSTD.ZSTD_getFrameContentSize.restype = _ZSTD.ZSTD_decompress.restype = ctypes.c_size_t
_ZSTD.ZSTD_getFrameContentSize.argtypes = (ctypes.c_char_p, ctypes.c_size_t)
_ZSTD.ZSTD_decompress.argtypes = (ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t)


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


def unzstd(data):
    """The content of a zstd frame."""
    content = ctypes.create_string_buffer(_ZSTD.ZSTD_getFrameContentSize(data, len(data)))
    size = _ZSTD.ZSTD_decompress(content, len(content), data, len(data))
    assert size == len(content), size
    return content.raw


def box(piece):
    return np.float32(piece.quantisation.origin), np.float32(piece.quantisation.step)


def numbers(piece, data, encoding, base, attribute):
    """Numbers of vertices, unsigned, (vertices, numbers of a vertex).

    base: the frame before, to which the numbers are added, by attribute; "box" has its quantisation.
    """
    width = {frame_pb2.ENCODING_FLOAT32: 4, frame_pb2.ENCODING_Q16: 2, frame_pb2.ENCODING_OCT16: 2}.get(encoding, 1)
    type_of = np.dtype(f"<u{width}")
    if piece.compression != frame_pb2.COMPRESSION_ZSTD:
        assert piece.base_frame == 0
        return np.frombuffer(data, type_of).reshape(piece.vertex_count, -1)
    planes = np.frombuffer(unzstd(data), np.uint8).reshape(-1, piece.vertex_count)
    z = np.ascontiguousarray(planes.T).view(type_of)
    d = np.where(z % 2 == 0, z // 2, ~(z // 2)).astype(type_of)
    r = np.add.accumulate(d, axis=0, dtype=type_of)
    if piece.base_frame == 0:
        return r
    assert base["frame"] == piece.base_frame, (base["frame"], piece.base_frame)
    b = base[attribute][piece.vertex_offset : piece.vertex_offset + piece.vertex_count]
    if encoding == frame_pb2.ENCODING_Q16:
        (origin, step), (old_origin, old_step) = box(piece), base["box"]
        p = old_origin + old_step * b.astype(np.float32)
        s = np.clip((p - origin) * (np.float32(1) / step), np.float32(0), np.float32(65535))
        b = np.rint(s).astype(type_of)
    return r + b


def positions_of(piece, values):
    """Decodes numbers of positions, in ENCODING_FLOAT32 or ENCODING_Q16."""
    if piece.encoding == frame_pb2.ENCODING_FLOAT32:
        return values.view("<f4")
    origin, step = box(piece)
    return origin + step * values.astype(np.float32)


def normals_of(piece, values):
    """Decodes numbers of normals, in ENCODING_FLOAT32, ENCODING_OCT8 or ENCODING_OCT16."""
    if piece.normal_encoding == frame_pb2.ENCODING_FLOAT32:
        return values.view("<f4")
    byte = piece.normal_encoding == frame_pb2.ENCODING_OCT8
    q = values.view("i1" if byte else "<i2").astype(np.float32)
    u, v = (q / np.float32(127 if byte else 32767)).T
    z = (np.float32(1) - np.abs(u)) - np.abs(v)
    below = np.where(z < 0, -z, np.float32(0))
    x, y = (np.where(w < 0, w + below, w - below) for w in (u, v))
    return np.stack([x, y, z], 1) / np.sqrt((x * x + y * y) + z * z)[:, None]


def stream(channel, session, poses, vertices, chunk_bytes=0, attributes=(), controls=None, encodings=(),
           normal_encodings=(), normals=None, compressions=(), pieces=None):
    """All frames, [frames, vertices, 3], with acknowledgements as the protocol wants them; and their vertex status.

    normals: an array to fill, or None. pieces: a list to which all parts of frames are added, or None.
    """
    outgoing = queue.Queue()
    target = session_service_pb2.Target(session=session)
    output = frame_pb2.OutputOptions(
        chunk_bytes=chunk_bytes, attributes=attributes, encodings=encodings, normal_encodings=normal_encodings,
        compressions=compressions,
    )
    opener = deform_service_pb2.StreamOpen(target=target, output=output)
    outgoing.put(deform_service_pb2.StreamDeformRequest(open=opener))
    for number, pose in enumerate(poses, 1):
        values = b"" if controls is None else controls[number - 1].tobytes()
        message = pose_pb2.Pose(joint_transforms=pose.tobytes(), controls=values, frame=number)
        outgoing.put(deform_service_pb2.StreamDeformRequest(poses=[message]))
    frames = np.full((len(poses), vertices, 3), np.nan, np.float32)
    vertex_status = np.full((len(poses), vertices), 255, np.uint8)
    done, base, deltas = 0, {"frame": 0}, 0
    stub = deform_service_pb2_grpc.DeformServiceStub(channel)
    for reply in stub.StreamDeform(iter(outgoing.get, None)):
        assert not reply.problems, reply.problems
        if pieces is not None:
            pieces.extend(reply.frames)
        for piece in reply.frames:
            if piece.vertex_offset == 0:
                parts = {}  # of this frame, by attribute

            def take(attribute, data, encoding):
                part = numbers(piece, data, encoding, base, attribute)
                assert len(part) == piece.vertex_count
                parts.setdefault(attribute, []).append(part)
                return part

            place = slice(piece.vertex_offset, piece.vertex_offset + piece.vertex_count)
            part = take("positions", piece.positions, piece.encoding)
            frames[piece.frame - 1, place] = positions_of(piece, part)
            if normals is not None:
                part = take("normals", piece.normals, piece.normal_encoding)
                normals[piece.frame - 1, place] = normals_of(piece, part)
            for status_of in piece.channels:
                assert status_of.attribute == frame_pb2.ATTRIBUTE_VERTEX_STATUS
                assert status_of.encoding == frame_pb2.ENCODING_UINT8
                vertex_status[piece.frame - 1, place] = take("status", status_of.data, status_of.encoding)[:, 0]
            if piece.last_chunk:
                deltas += piece.base_frame > 0
                base = {name: np.concatenate(part) for name, part in parts.items()}
                base |= {"frame": piece.frame, "box": box(piece)}
                done += 1
                outgoing.put(deform_service_pb2.StreamDeformRequest(received=piece.frame))
        if done == len(poses):
            outgoing.put(None)
    if frame_pb2.COMPRESSION_ZSTD in compressions:
        assert deltas > len(poses) / 2, deltas
    return frames, vertex_status


def deform(channel, target, pose, vertices):
    """One frame, [vertices, 3]."""
    request = deform_service_pb2.DeformRequest(
        target=target, pose=pose_pb2.Pose(joint_transforms=pose.tobytes(), frame=1)
    )
    frame = deform_service_pb2_grpc.DeformServiceStub(channel).Deform(request).frame
    return np.frombuffer(frame.positions, "<f4").reshape(vertices, 3)
