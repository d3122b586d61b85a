"""Opens sessions on real servers with the law of popularity of replica_model.py, and compares what they do with what
the model says. The stubs that protoc makes for Python must be in sys.path.

One client opens one session at a time, deforms a few poses and deletes it, at the replica that the model's ring names.
Give the servers a small max-bound-bytes (--set), so that there are misses. A miss is a bind, or data from disk or the store.
"""

from __future__ import annotations

import hashlib
import math
import pathlib
import random
import re
import time
import urllib.request

import grpc
from sinew.v1 import deform_service_pb2, deform_service_pb2_grpc, pose_pb2, rig_pb2, rig_service_pb2
from sinew.v1 import rig_service_pb2_grpc, session_service_pb2, session_service_pb2_grpc

import replica_model

ASSETS = pathlib.Path(__file__).resolve().parents[2] / "client" / "models" / "assets"
RECIPE = "ddm"
FRAMES = 3  # of each session


def metrics(http: str) -> dict[str, float]:
    with urllib.request.urlopen(f"http://{http}/metrics", timeout=10) as reply:
        text = reply.read().decode()
    return {name: float(value) for name, value in re.findall(r"^(\S+) ([-+.\deE]+)$", text, re.MULTILINE)}


def binds(http: str) -> dict[str, float]:
    """How often bound data has come into memory: bound, loaded from disk, fetched from the store."""
    names = {outcome: f'sinew_binds_total{{outcome="{outcome}"}}' for outcome in ("bound", "loaded", "fetched")}
    values = metrics(http)
    return {outcome: values.get(name, 0) for outcome, name in names.items()}


class Server:
    """One replica and its client."""

    def __init__(self, address: str, http: str) -> None:
        self.http = http
        self.channel = grpc.insecure_channel(address, [("grpc.max_receive_message_length", 64 << 20)])
        self.rigs = rig_service_pb2_grpc.RigServiceStub(self.channel)
        self.sessions = session_service_pb2_grpc.SessionServiceStub(self.channel)
        self.deform = deform_service_pb2_grpc.DeformServiceStub(self.channel)
        self.missed = sum(binds(http).values())

    def upload(self, data: bytes) -> str:
        header = rig_service_pb2.UploadHeader(sha256=hashlib.sha256(data).hexdigest(), size_bytes=len(data))
        return self.rigs.UploadRig(iter([rig_service_pb2.UploadRigRequest(header=header, data=data)])).rig.name

    def open(self, rig: str, poses: list) -> tuple[bool, float, list[float]]:
        """Whether the bound data was in memory, the time to open, and the times of frames."""
        start = time.monotonic()
        source = session_service_pb2.SessionSource(rig=rig, recipe_text=RECIPE)
        session = self.sessions.CreateSession(session_service_pb2.CreateSessionRequest(source=source)).session
        if session.state != session_service_pb2.Session.STATE_READY:
            for reply in self.sessions.WatchSession(session_service_pb2.WatchSessionRequest(name=session.name)):
                session = reply.session
        opened = time.monotonic() - start
        assert session.state == session_service_pb2.Session.STATE_READY, session.problem
        frames = []
        target = session_service_pb2.Target(session=session.name)
        for number, pose in enumerate(poses[:FRAMES], 1):
            start = time.monotonic()
            sent = pose_pb2.Pose(joint_transforms=pose.joint_transforms, frame=number)
            self.deform.Deform(deform_service_pb2.DeformRequest(target=target, pose=sent))
            frames.append(time.monotonic() - start)
        self.sessions.DeleteSession(session_service_pb2.DeleteSessionRequest(name=session.name))
        before, self.missed = self.missed, sum(binds(self.http).values())
        return self.missed == before, opened, frames


def quantile(values: list[float], part: float) -> float:
    return sorted(values)[int(len(values) * part)]


def mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def variation(values: list[float]) -> float:
    """Standard deviation over mean."""
    middle = mean(values)
    return math.sqrt(mean([(value - middle) ** 2 for value in values])) / middle if values else 0.0


def measure(servers: list[Server], rigs: int, opens: int, exponent: float, seed: int) -> dict[str, float]:
    """What the servers do, and what the model says of them."""
    base = rig_pb2.Rig.FromString((ASSETS / "hand.sinewrig").read_bytes())
    poses = pose_pb2.PoseBlock.FromString((ASSETS / "hand.poses").read_bytes()).poses
    names = []
    for number in range(rigs):
        base.label = f"hand {number}"
        data = base.SerializeToString()
        names += list({server.upload(data) for server in servers})
    ring = replica_model.Ring(len(servers), seed)
    keys = [random.Random(f"{seed} rig {rig}").random() for rig in range(rigs)]  # as in the model
    draw = random.Random(seed)
    drawn = draw.choices(range(rigs), cum_weights=replica_model.popularity(rigs, exponent), k=opens)
    places = [next(ring.walk(keys[rig])) for rig in drawn]
    hits, opened, frames = [], [], []
    for rig, place in zip(drawn, places):
        result = servers[place].open(names[rig], poses)
        hits.append(result[0])
        opened.append(result[1])
        frames += result[2]
    after = int(opens * replica_model.WARM_UP)
    hits, opened = hits[after:], opened[after:]
    of_hits = [seconds for hit, seconds in zip(hits, opened) if hit]
    of_misses = [seconds for hit, seconds in zip(hits, opened) if not hit]
    values = [metrics(server.http) for server in servers]
    # Less than max-bound-bytes allows: before a bind, what the estimate of its size takes is made free.
    entries = max(value["sinew_bound_entries"] for value in values)
    entry = sum(value["sinew_bound_bytes"] for value in values) / sum(value["sinew_bound_entries"] for value in values)
    caches = [replica_model.Cache(entries) for _ in servers]
    replayed = []
    for rig, place in zip(drawn, places):
        replayed.append(caches[place].open(rig, 1))
        caches[place].close(rig)
    times = replica_model.Times(frame_seconds=mean(frames), frame_variation=variation(frames),
                                open_seconds=mean(of_hits), fetch_seconds=mean(of_misses) - mean(of_hits),
                                fetch_bytes_per_second=math.inf, bind_seconds=0, miss_variation=variation(of_misses),
                                bound_bytes=1, bound_variation=0)
    plan = replica_model.Plan(cores=1, memory_bytes=entries, rigs=rigs, exponent=exponent, streams=1e-3,
                              stream_seconds=1e-3, frames_per_second=1, new_share=0, price=0)
    said = replica_model.simulate(times, plan, len(servers), "hash", seed, opens=20_000)
    predicted_mean = times.open_seconds + (1 - said.hit_rate) * times.fetch_seconds
    return {"entries": entries, "entry_bytes": entry, "hit_seconds": mean(of_hits), "miss_seconds": mean(of_misses),
            **{outcome: sum(binds(server.http)[outcome] for server in servers)
               for outcome in ("bound", "loaded", "fetched")},
            "hit_rate": mean([float(hit) for hit in hits]), "predicted_hit_rate": said.hit_rate,
            "replayed_hit_rate": mean([float(hit) for hit in replayed[after:]]),
            "open_mean": mean(opened), "predicted_open_mean": predicted_mean,
            "open_p99": quantile(opened, 0.99), "predicted_open_p99": said.open_p99,
            "frame_p99": quantile(frames, 0.99), "predicted_frame_p99": said.frame_p99}


def compare(addresses: list[tuple[str, ...]], rigs: int, opens: int, exponent: float, seed: int) -> str:
    """Measured and predicted, as text."""
    found = measure([Server(*each) for each in addresses], rigs, opens, exponent, seed)
    lines = [f"{rigs} rigs, popularity {exponent:g}, {found['entries']:.0f} of them in the memory of each of "
             f"{len(addresses)} replicas, {opens} openings", "                   measured  predicted"]
    for name, scale, unit in (("hit_rate", 1, ""), ("open_mean", 1e3, "ms"), ("open_p99", 1e3, "ms"),
                              ("frame_p99", 1e3, "ms")):
        label = f"{name.replace('_', ' ')} {unit}"
        lines.append(f"{label:18} {found[name] * scale:9.3f}  {found[f'predicted_{name}'] * scale:9.3f}")
    lines.append(f"Opening with a hit {found['hit_seconds'] * 1e3:.1f} ms, with a miss "
                 f"{found['miss_seconds'] * 1e3:.1f} ms; bound data of a rig {found['entry_bytes'] / 1e6:.1f} MB; "
                 f"{found['bound']:.0f} bound, {found['loaded']:.0f} from disk, {found['fetched']:.0f} from the store.")
    lines.append(f"The same openings through the model's caches: hit rate {found['replayed_hit_rate']:.3f}.")
    return "\n".join(lines)
