"""Calls and streams from plain gRPC stubs, whose folder is in sys.path, that run beside a fault and record its effects.

They end as a client without our library sees them, or, with `repeats`, are repeated as the library does.
"""

from __future__ import annotations

import collections
import hashlib
import queue
import random
import re
import threading
import time
from collections.abc import Callable

import grpc
from sinew.v1 import deform_service_pb2, deform_service_pb2_grpc, info_service_pb2, info_service_pb2_grpc
from sinew.v1 import pose_pb2, rig_service_pb2, rig_service_pb2_grpc, session_service_pb2

import replicas

POSE_INTERVAL = 0.01
REPEAT_AFTER = 0.1
REPEATS = 100
DEADLINE = 3.0


def key_of(number: int) -> str:
    """The routing key of an imagined rig."""
    return hashlib.sha256(str(number).encode()).hexdigest()


def routed(key: str | None) -> tuple[tuple[str, str], ...]:
    """The metadata of a call that concerns a rig."""
    return (("sinew-rig", key),) if key else ()


def connect(address: str) -> grpc.Channel:
    """A connection of its own."""
    return grpc.insecure_channel(address, [("grpc.use_local_subchannel_pool", 1),
                                           ("grpc.max_receive_message_length", 64 << 20)])


def upload(address: str, data: bytes) -> str:
    """The name of a rig, stored on a server."""
    header = rig_service_pb2.UploadHeader(sha256=hashlib.sha256(data).hexdigest(), size_bytes=len(data))
    with connect(address) as channel:
        call = rig_service_pb2_grpc.RigServiceStub(channel).UploadRig
        return call(iter([rig_service_pb2.UploadRigRequest(header=header, data=data)])).rig.name


def is_broken(error: grpc.RpcError) -> bool:
    """As IsBroken of client/lib/rpc/retry.cc: the transport has ended the call, and it can be repeated."""
    code, text = error.code(), error.details() or ""
    return (code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED) or
            code == grpc.StatusCode.INTERNAL and "RST_STREAM" in text or
            code == grpc.StatusCode.UNKNOWN and "Stream removed" in text)


def ask(channel: grpc.Channel, key: str | None, seconds: float = DEADLINE) -> int:
    """The number of the replica that answers a short call about this rig."""
    stub = info_service_pb2_grpc.InfoServiceStub(channel)
    return replicas.identity(stub.GetServerInfo(info_service_pb2.GetServerInfoRequest(), timeout=seconds,
                                                metadata=routed(key)))


class Traffic:
    """What all clients of a test share: errors by kind, and whether they go on."""

    def __init__(self, repeats: bool) -> None:
        self.repeats = repeats
        self.going = threading.Event()
        self.going.set()
        self.lock = threading.Lock()
        self.done: collections.Counter[str] = collections.Counter()
        self.broken: collections.Counter[str] = collections.Counter()  # ended by a fault, repeated or not
        self.failed: list[grpc.RpcError] = []  # what the caller of the client sees
        self.threads: list[threading.Thread] = []

    def count(self, kind: str, error: grpc.RpcError | None, final: bool = False) -> None:
        with self.lock:
            if error is None:
                self.done[kind] += 1
                return
            text = re.sub(r"\d\d+", "N", error.details() or "")[:60]
            self.broken[f"{kind}: {error.code().name} \"{text}\""] += 1
            if final:
                self.failed.append(error)

    def attempt(self, kind: str, call: Callable[[], object]) -> bool:
        """Makes a call, again after errors that allow it; whether it succeeded in the end."""
        for number in range(REPEATS):
            try:
                call()
                self.count(kind, None)
                return True
            except grpc.RpcError as error:
                final = not self.repeats or not is_broken(error) or number + 1 == REPEATS
                self.count(kind, error, final)
                if final:
                    return False
                time.sleep(REPEAT_AFTER)
        return False

    def start(self, run: Callable[[], None]) -> None:
        self.threads.append(threading.Thread(target=run, daemon=True))
        self.threads[-1].start()

    def calls(self, address: str, seed: int) -> None:
        """Short calls, one after the other, about rigs that are drawn."""
        draw = random.Random(seed)

        def run() -> None:
            with connect(address) as channel:
                while self.going.is_set():
                    self.attempt("call", lambda: ask(channel, key_of(draw.randrange(1000))))
                    time.sleep(0.005)

        self.start(run)

    def stream(self, address: str, rig: str, key: str, poses: list) -> None:
        """A stream of poses, a hundredth of a second apart; opened again where it can be repeated."""
        def run() -> None:
            with connect(address) as channel:
                while self.going.is_set() and self.attempt("stream", lambda: self.frames(channel, rig, key, poses)):
                    pass

        self.start(run)

    def frames(self, channel: grpc.Channel, rig: str, key: str, poses: list) -> None:
        """One stream, until it ends or the traffic stops; a stream that ends early without an error is counted."""
        outgoing: queue.Queue = queue.Queue()
        source = session_service_pb2.SessionSource(rig=rig, recipe_text="lbs")
        opener = deform_service_pb2.StreamOpen(target=session_service_pb2.Target(source=source))
        outgoing.put(deform_service_pb2.StreamDeformRequest(open=opener))

        def send(number: int) -> None:
            pose = pose_pb2.Pose(joint_transforms=poses[number % len(poses)].joint_transforms, frame=number)
            outgoing.put(deform_service_pb2.StreamDeformRequest(poses=[pose], received=number - 1))

        number = 1
        send(number)
        stub = deform_service_pb2_grpc.DeformServiceStub(channel)
        try:
            for reply in stub.StreamDeform(iter(outgoing.get, None), metadata=routed(key)):
                for frame in reply.frames:
                    if not frame.last_chunk:
                        continue
                    self.count("frame", None)
                    if not self.going.is_set():
                        outgoing.put(None)
                        continue
                    time.sleep(POSE_INTERVAL)
                    number += 1
                    send(number)
        finally:
            outgoing.put(None)

    def stop(self) -> None:
        self.going.clear()
        for thread in self.threads:
            thread.join(30)
            assert not thread.is_alive(), "a client does not end"
