#!/usr/bin/env python3
"""deploy/cluster/haproxy.cfg and nginx.conf in front of three sinewd: where the calls of a rig arrive, and the effect
of kills, pauses, drains, and of replicas that come and go.

usage: balancer_test.py --stubs FOLDER --sinewd FILE --sinew FILE    FOLDER: what protoc makes for Python of proto
"""

import argparse
import collections
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

SKIP = 77
try:
    import grpc
except ImportError as missing:
    print(f"skipped: {missing}; install python3-grpcio python3-protobuf")
    sys.exit(SKIP)

parser = argparse.ArgumentParser()
parser.add_argument("--stubs", required=True)
parser.add_argument("--sinewd", required=True)
parser.add_argument("--sinew", required=True)
options, rest = parser.parse_known_args()
sys.path.insert(0, options.stubs)
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import name_server  # noqa: E402
import replicas  # noqa: E402
import traffic  # noqa: E402
from sinew.v1 import pose_pb2  # noqa: E402

ASSETS = replicas.ROOT / "client" / "models" / "assets"
COUNT = 3
KEYS = 1500
# A third of the keys belong to one of three replicas: rings of haproxy and nginx differ by less from a third.
SHARE = (0.22, 0.45)
NOTICED = 6.0  # seconds: two checks of haproxy, fail_timeout of nginx, on a busy machine
HELD = 120     # calls that stay open, in the test of bounded load
DRAIN_SECONDS = 2
NAME_SERVER = "127.53.53.53"


def until(condition, seconds, what) -> float:
    """Waits for a condition; the time that it took."""
    start = time.monotonic()
    while not condition():
        if time.monotonic() - start > seconds:
            raise AssertionError(f"not after {seconds} s: {what}")
        time.sleep(0.02)
    return time.monotonic() - start


class BalancerTest:
    """The tests of each balancer; subclasses name it."""

    kind = ""

    @classmethod
    def setUpClass(cls) -> None:
        if replicas.find(cls.kind) is None:
            raise unittest.SkipTest(f"{cls.kind} is not installed (deploy/install-deps.sh cluster)")
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        shared = ["--store", f"file://{cls.folder}/store"] if "--store " in replicas.help_of(options.sinewd) else []
        (cls.folder / "store").mkdir()
        cls.replicas = [replicas.Replica(options.sinewd, number, cls.folder, "--drain-seconds", DRAIN_SECONDS, *shared)
                        for number in range(COUNT)]
        for replica in cls.replicas:
            cls.addClassCleanup(replica.stop)
            replica.start()
        cls.balancer = replicas.Balancer(cls.kind, cls.folder, cls.replicas)
        cls.addClassCleanup(cls.balancer.stop)
        cls.balancer.start()
        cls.poses = pose_pb2.PoseBlock.FromString((ASSETS / "hand.poses").read_bytes()).poses

    def setUp(self) -> None:
        for replica in self.replicas:
            if replica.process is None:
                replica.start()
        self.all_serve()
        data = (ASSETS / "hand.sinewrig").read_bytes()
        self.rig, = {traffic.upload(replica.address, data) for replica in self.replicas}

    def homes(self, count: int = KEYS, seconds: float = traffic.DEADLINE) -> list[int]:
        """The replica of each key, over a new connection."""
        with traffic.connect(self.balancer.address) as channel:
            return [traffic.ask(channel, traffic.key_of(number), seconds) for number in range(count)]

    def all_serve(self) -> None:
        """Waits until every replica gets calls."""
        def serve() -> bool:
            try:
                return len(set(self.homes(30, 1))) == COUNT
            except grpc.RpcError:
                return False

        until(serve, 30, "every replica serves")

    def key_at(self, number: int) -> str:
        """A key whose home is this replica."""
        return traffic.key_of(self.homes(100).index(number))

    def run_traffic(self, repeats: bool) -> traffic.Traffic:
        """Two streams to each replica and three clients that make short calls."""
        beside = traffic.Traffic(repeats)
        self.addCleanup(beside.going.clear)
        for number in range(COUNT):
            key = self.key_at(number)
            for _ in range(2):
                beside.stream(self.balancer.address, self.rig, key, self.poses)
        for seed in range(3):
            beside.calls(self.balancer.address, seed)
        until(lambda: beside.done["frame"] > 60, 30, "streams run")
        return beside

    def report(self, fault: str, beside: traffic.Traffic) -> None:
        print(f"{self.kind}, {fault}{', repeated' if beside.repeats else ''}: {beside.done['call']} calls, "
              f"{beside.done['frame']} frames, {len(beside.failed)} failures; ended by the fault: "
              f"{dict(beside.broken) or 'none'}", flush=True)

    def check_codes(self, beside: traffic.Traffic, but: tuple[grpc.StatusCode, ...] = ()) -> None:
        """The client library repeats after every code that a fault has caused."""
        for error in beside.failed:
            self.assertTrue(traffic.is_broken(error) or error.code() in but, (error.code(), error.details()))

    def test_rig_keeps_its_replica(self) -> None:
        first = self.homes()
        for _ in range(2):
            self.assertEqual(self.homes(), first)
        shares = sorted(count / KEYS for count in collections.Counter(first).values())
        print(f"{self.kind}: shares of {KEYS} rigs {[f'{share:.3f}' for share in shares]}, none moves", flush=True)
        self.assertGreater(shares[0], SHARE[0])
        self.assertLess(shares[-1], SHARE[1])

    def test_calls_without_rig_are_spread(self) -> None:
        with traffic.connect(self.balancer.address) as channel:
            counts = collections.Counter(traffic.ask(channel, None) for _ in range(300))
        print(f"{self.kind}: calls without a rig {dict(counts)}", flush=True)
        self.assertEqual(len(counts), COUNT)
        self.assertGreater(min(counts.values()), 60)

    def test_only_the_rigs_of_a_replica_move(self) -> None:
        before = self.homes()
        leaving = self.replicas[2]
        leaving.signal(signal.SIGTERM)
        self.assertEqual(leaving.wait(30), 0)
        time.sleep(NOTICED)
        without = self.homes()
        moved = [number for number in range(KEYS) if without[number] != before[number]]
        self.assertEqual({before[number] for number in moved}, {2})
        self.assertNotIn(2, without)
        leaving.start()
        self.all_serve()
        time.sleep(NOTICED)
        self.assertEqual(self.homes(), before)
        print(f"{self.kind}: {len(moved) / KEYS:.3f} of the rigs move when one of three leaves, back when it joins; "
              f"to {dict(collections.Counter(without[number] for number in moved))}", flush=True)
        self.assertGreater(len(moved) / KEYS, SHARE[0])
        self.assertLess(len(moved) / KEYS, SHARE[1])

    def kill(self, repeats: bool) -> traffic.Traffic:
        beside = self.run_traffic(repeats)
        self.replicas[1].kill()
        time.sleep(NOTICED / 2)
        self.replicas[1].start()
        traffic.upload(self.replicas[1].address, (ASSETS / "hand.sinewrig").read_bytes())
        time.sleep(NOTICED / 2)
        beside.stop()
        self.report("kill -9", beside)
        return beside

    def test_kill(self) -> None:
        beside = self.kill(repeats=False)
        self.check_codes(beside)
        self.assertLessEqual(sum(count for what, count in beside.broken.items() if what.startswith("stream")), 2,
                             "streams of other replicas end")
        self.assertLess(sum(count for what, count in beside.broken.items() if what.startswith("call")), 10)
        self.assertTrue(any(what.startswith("stream") for what in beside.broken), "the kill had no effect")

    def test_kill_with_repeats(self) -> None:
        self.assertEqual(self.kill(repeats=True).failed, [])

    def drain(self, repeats: bool) -> traffic.Traffic:
        """A rolling restart: each replica gets SIGTERM, ends, and starts again."""
        beside = self.run_traffic(repeats)
        for replica in self.replicas:
            replica.signal(signal.SIGTERM)
            replica.wait(30)
            replica.start()
            traffic.upload(replica.address, (ASSETS / "hand.sinewrig").read_bytes())
            time.sleep(NOTICED)
        beside.stop()
        self.report("SIGTERM, one after the other", beside)
        return beside

    def test_drain(self) -> None:
        beside = self.drain(repeats=False)
        self.check_codes(beside)
        calls = sum(count for what, count in beside.broken.items() if what.startswith("call"))
        self.assertLessEqual(calls, 5, "more than those that a replica got at the instant of its SIGTERM")

    def test_drain_with_repeats(self) -> None:
        self.assertEqual(self.drain(repeats=True).failed, [])

    @unittest.skipUnless("--store " in replicas.help_of(options.sinewd), "this sinewd has no shared store")
    def test_command_line_notices_no_rolling_restart(self) -> None:
        """Clients of our library, replicas with a store: all bakes end well, with the same bytes."""
        def bake(*where: object) -> bytes:
            out = self.folder / f"bake{threading.get_ident()}.npy"
            out.unlink(missing_ok=True)
            subprocess.run([options.sinew, *map(str, where), "--quiet", "bake", "model:hand", "--deformer", "ddm",
                            "--out", str(out)], check=True, capture_output=True, timeout=120)
            return out.read_bytes()

        expected = bake("--local")
        going, results = threading.Event(), []

        def run() -> None:
            while not going.is_set():
                try:
                    results.append(bake("--server", self.balancer.address))
                except subprocess.CalledProcessError as error:
                    results.append(error.stderr)

        clients = [threading.Thread(target=run) for _ in range(3)]
        for client in clients:
            client.start()
        for replica in self.replicas:
            replica.signal(signal.SIGTERM)
            replica.wait(30)
            time.sleep(NOTICED / 2)
            replica.start()
            time.sleep(NOTICED / 2)
        going.set()
        for client in clients:
            client.join(120)
        print(f"{self.kind}: {len(results)} bakes during a rolling restart", flush=True)
        self.assertGreater(len(results), 5)
        self.assertEqual([result for result in results if result != expected], [])

    def test_pause(self) -> None:
        beside = self.run_traffic(repeats=False)
        key, replica = self.key_at(1), self.replicas[1]
        replica.signal(signal.SIGSTOP)
        served: list[int] = []

        def serves() -> bool:
            with traffic.connect(self.balancer.address) as channel:
                try:
                    served.append(traffic.ask(channel, key, 0.5))
                    return True
                except grpc.RpcError:
                    return False

        try:
            try:
                after = f"{until(serves, NOTICED, 'its rigs are served'):.1f} s"
            except AssertionError:
                after = ""
        finally:
            replica.signal(signal.SIGCONT)
        time.sleep(1)
        beside.stop()
        self.report("SIGSTOP", beside)
        print(f"{self.kind}: rigs of a paused replica are served by another {'after ' + after if after else 'never'}")
        self.check_codes(beside, (grpc.StatusCode.DEADLINE_EXCEEDED,))
        self.assertFalse([what for what in beside.broken if what.startswith("stream")], "its streams continue")
        if self.kind == "haproxy":  # nginx has no active checks
            self.assertTrue(after)
            self.assertNotEqual(served, [1])


class HaproxyTest(BalancerTest, unittest.TestCase):
    kind = "haproxy"

    def calls_by_replica(self, column: int) -> collections.Counter:
        """Calls that each replica has (column 4) or has had (column 7), from both backends."""
        counts: collections.Counter = collections.Counter()
        with socket.socket(socket.AF_UNIX) as admin:
            admin.settimeout(5)
            admin.connect(str(self.balancer.admin))
            admin.sendall(b"show stat\n")
            text = b"".join(iter(lambda: admin.recv(65536), b"")).decode()
        for line in text.splitlines():
            columns = line.split(",")
            if columns[0] in ("calm", "busy") and columns[1].startswith("r"):
                counts[int(columns[1][1:]) - 1] += int(columns[column])
        return counts

    def test_load_is_bounded(self) -> None:
        key = self.key_at(0)
        with traffic.connect(self.balancer.address) as channel:
            watch = channel.unary_stream("/grpc.health.v1.Health/Watch")
            held = [watch(b"", metadata=traffic.routed(key)) for _ in range(16)]
            for call in held:
                next(call)
            calm = self.calls_by_replica(4)
            for _ in range(HELD - len(held)):
                held.append(watch(b"", metadata=traffic.routed(key)))
                next(held[-1])
            counts = self.calls_by_replica(4)
            for call in held:
                call.cancel()
        print(f"haproxy: calls of one rig at each replica, 16 at a time {dict(calm)}; {HELD} at a time {dict(counts)}",
              flush=True)
        self.assertEqual(calm, {0: 16, 1: 0, 2: 0})
        self.assertEqual(sum(counts.values()), HELD)
        # 48 before the bound holds, and 1.5 times the mean of the others.
        self.assertLess(counts[0], 48 + 1.5 * (HELD - 48) / COUNT + 2)

    @unittest.skipUnless("--store " in replicas.help_of(options.sinewd), "its clients name no rig")
    def test_calls_of_the_command_line_reach_one_replica(self) -> None:
        for model in ("model:hand", "model:arm", "model:tube"):
            before = self.calls_by_replica(7)
            subprocess.run([options.sinew, "--server", self.balancer.address, "--quiet", "bake", model, "--deformer",
                            "ddm", "--frames", "0-5", "--out", self.folder / "one.npy"], check=True,
                           capture_output=True)
            calls = self.calls_by_replica(7) - before
            print(f"haproxy: calls of a bake of {model} {dict(calls)}", flush=True)
            self.assertEqual(len(calls), 1)
            self.assertGreater(sum(calls.values()), 3)

    def test_both_sides_with_tls(self) -> None:
        folder = self.folder / "tls"
        folder.mkdir()
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-days", "2", "-subj", "/CN=sinewd", "-addext", "subjectAltName=DNS:sinewd", "-keyout",
                        folder / "key", "-out", folder / "cert"], check=True, capture_output=True)
        both = folder / "both"
        both.write_bytes((folder / "cert").read_bytes() + (folder / "key").read_bytes())
        socket_file = folder / "socket"
        replica = replicas.Replica(options.sinewd, 0, folder, "--tls-cert", folder / "cert", "--tls-key",
                                   folder / "key", "--listen", f"unix:{socket_file}")
        replica.answers = socket_file.exists
        self.addCleanup(replica.stop)
        replica.start()
        balancer = replicas.Balancer("haproxy", folder, [replica] * 3, environment={
            "BALANCER_CERT": str(both), "SINEWD_CA": str(folder / "cert")})
        balancer.answers = balancer.admin.exists
        self.addCleanup(balancer.stop)
        balancer.start()
        credentials = grpc.ssl_channel_credentials((folder / "cert").read_bytes())
        named = [("grpc.ssl_target_name_override", "sinewd")]
        with grpc.secure_channel(balancer.address, credentials, named) as channel:
            grpc.channel_ready_future(channel).result(timeout=10)
            time.sleep(NOTICED / 2)  # for two checks, which also use TLS
            self.assertEqual(traffic.ask(channel, traffic.key_of(1)), 0)

    @unittest.skipIf(os.geteuid() != 0 or shutil.which("unshare") is None, "needs root for a name server of its own")
    def test_replica_joins_and_leaves_by_its_name(self) -> None:
        """As in Kubernetes, where a pod that does not exist has no address. It needs a resolv.conf of its own."""
        folder = self.folder / "names"
        folder.mkdir()
        names = name_server.NameServer(NAME_SERVER)
        self.addCleanup(names.close)
        (folder / "resolv.conf").write_text(f"nameserver {NAME_SERVER}\n", encoding="utf-8")
        names.addresses = {"sinewd-0.test": "127.0.0.1"}
        ports = [replica.address.rsplit(":", 1)[1] for replica in self.replicas]
        balancer = replicas.Balancer("haproxy", folder, self.replicas, environment={
            f"SINEWD_{number + 1}": f"sinewd-{number}.test:{port}" for number, port in enumerate(ports)})
        balancer.command = ["unshare", "--mount", "sh", "-c",
                            f"mount --bind {folder}/resolv.conf /etc/resolv.conf && exec \"$@\"", "sh",
                            *balancer.command]
        self.addCleanup(balancer.stop)
        balancer.start()

        def serving() -> set[int]:
            with traffic.connect(balancer.address) as channel:
                return {traffic.ask(channel, traffic.key_of(number)) for number in range(30)}

        took = [until(lambda: serving() == {0}, 20, "only the replica with an address serves")]
        names.addresses = {f"sinewd-{number}.test": "127.0.0.1" for number in range(COUNT)}
        took.append(until(lambda: serving() == set(range(COUNT)), 20, "replicas join"))
        with traffic.connect(balancer.address) as channel:
            homes = [traffic.ask(channel, traffic.key_of(number)) for number in range(300)]
        self.assertEqual(homes, self.homes(300), "another balancer has the same ring")
        del names.addresses["sinewd-1.test"]
        took.append(until(lambda: serving() == {0, 2}, 20, "a replica leaves"))
        print(f"haproxy: by their names, two replicas join after {took[1]:.1f} s, one leaves after {took[2]:.1f} s",
              flush=True)

    def test_open_streams_end_well_when_haproxy_stops(self) -> None:
        beside = self.run_traffic(repeats=False)
        assert self.balancer.process is not None
        self.balancer.signal(signal.SIGUSR1)
        time.sleep(1)
        frames = beside.done["frame"]
        until(lambda: beside.done["frame"] > frames + 20, 10, "streams continue")
        beside.stop()
        self.assertEqual(self.balancer.wait(60), 0)
        self.balancer.start()
        self.report("SIGUSR1 to haproxy", beside)
        self.assertFalse([what for what in beside.broken if what.startswith("stream")])


class NginxTest(BalancerTest, unittest.TestCase):
    kind = "nginx"


if __name__ == "__main__":
    os.chdir(tempfile.gettempdir())
    unittest.main(argv=[__file__, *rest])
