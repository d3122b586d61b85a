"""Three replicas, a balancer, a store and Redis are killed, paused and restarted while clients stream and bake.

usage: faults_test.py --sinewd FILE --sinew FILE --streams FILE [--tools FOLDER] [--seconds N] [--clients N]
                      [--bakes N] [--seed N] [--quiet-seconds N]

Every frame of every stream is compared with that of a server that meets no fault, and every bake with one that was
made in one process, byte by byte. --tools: where the S3 server is, compiled if missing; without it the store is a
folder, which meets no fault. A run prints each fault and then a table.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import pathlib
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

import replicas
import s3_server

_SKIP = 77
_MODELS = ("model:hand", "model:arm", "model:cylinder")
_RECIPES = ("lbs", "ddm", "dqs | relax(iterations=4)", "delta_mush")
_COUNTERS = {"bound": 'sinew_binds_total{outcome="bound"}', "fetched": 'sinew_binds_total{outcome="fetched"}',
             "rigs fetched": "sinew_rigs_fetched_total", "sessions restored": "sinew_sessions_restored_total",
             "bytes fetched": "sinew_store_fetched_bytes_total", "bytes written": "sinew_store_written_bytes_total"}


class Redis(replicas.Program):
    """A Redis that keeps nothing when it is killed."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.port = s3_server.free_port()
        super().__init__([replicas.find("redis-server"), "--port", self.port, "--bind", "127.0.0.1", "--save", "",
                          "--appendonly", "no", "--dir", folder], folder / "redis.log")

    def answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(5) == b"+PONG"
        except OSError:
            return False


class Store:
    """The S3 server as a program that meets faults."""

    def __init__(self, server: s3_server.S3Server) -> None:
        self.server = server

    def kill(self) -> None:
        self.server.kill()

    def start(self) -> None:
        self.server.start()

    def signal(self, number: int) -> None:
        if number == signal.SIGSTOP:
            self.server.pause()
        else:
            self.server.resume()


class Counters:
    """Sums of the replicas' counters, over all their lives."""

    def __init__(self, servers: list[replicas.Replica]) -> None:
        self.servers = servers
        self.past = dict.fromkeys(_COUNTERS, 0.0)
        self.now: dict[int, dict[str, float]] = {}
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self) -> None:
        while not self.stopped.wait(0.25):
            self.read()

    def read(self) -> None:
        for server in self.servers:
            try:
                with urllib.request.urlopen(f"http://{server.http}/metrics", timeout=1) as reply:
                    text = reply.read().decode()
            except OSError:
                continue
            values = {}
            for name, metric in _COUNTERS.items():
                line = next((line for line in text.splitlines() if line.startswith(metric + " ")), f"{metric} 0")
                values[name] = float(line.rsplit(" ", 1)[1])
            before = self.now.get(server.number)
            if before is not None and any(values[name] < before[name] for name in values):
                self.add(before)  # it has been started again
            self.now[server.number] = values

    def add(self, values: dict[str, float]) -> None:
        for name, value in values.items():
            self.past[name] += value

    def totals(self) -> dict[str, float]:
        self.stopped.set()
        self.thread.join()
        self.read()
        for values in self.now.values():
            self.add(values)
        return self.past


class Faults:
    """A thread that disturbs one of several programs, again and again."""

    def __init__(self, name: str, victims: dict[str, object], graceful: set[str], dice: random.Random) -> None:
        self.name, self.victims, self.graceful, self.dice = name, victims, graceful, dice
        self.counts: dict[str, int] = {}
        self.stopped = threading.Event()
        self.error: Exception | None = None
        self.thread = threading.Thread(target=self.guarded, daemon=True)
        self.start_time = time.monotonic()

    def guarded(self) -> None:
        try:
            while not self.stopped.wait(self.dice.uniform(2, 6)):
                self.disturb()
        except Exception as error:  # pylint: disable=broad-except
            self.error = error

    def disturb(self) -> None:
        name = self.dice.choice(sorted(self.victims))
        victim = self.victims[name]
        kinds = ["killed", "paused"] + (["stopped"] if name in self.graceful else [])
        kind, seconds = self.dice.choice(kinds), self.dice.choice((0.1, 0.5, 2.0, 5.0))
        print(f"{time.monotonic() - self.start_time:7.1f} s  {name} is {kind} for {seconds} s", flush=True)
        self.counts[f"{name} {kind}"] = self.counts.get(f"{name} {kind}", 0) + 1
        if kind == "paused":
            victim.signal(signal.SIGSTOP)
            time.sleep(seconds)
            victim.signal(signal.SIGCONT)
            return
        if kind == "killed":
            victim.kill()
        else:
            victim.stop(60)
        time.sleep(seconds)
        victim.start()

    def stop(self) -> None:
        self.stopped.set()
        self.thread.join(90)
        if self.error is not None:
            raise self.error


class Bakes:
    """A thread that bakes through the balancer, is killed now and then, and resumes."""

    def __init__(self, sinew: str, server: str, folder: pathlib.Path, expected: dict, dice: random.Random) -> None:
        self.sinew, self.server, self.folder, self.expected, self.dice = sinew, server, folder, expected, dice
        self.folder.mkdir()
        self.done = self.killed = self.wrong = 0
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def run(self) -> None:
        while not self.stopped.is_set():
            model, recipe = self.dice.choice(sorted(self.expected))
            out = self.folder / "bake.npy"
            for each in self.folder.iterdir():
                each.unlink()
            command = [self.sinew, "bake", model, "--deformer", recipe, "--clip", "0", "--chunk", "6", "--resume",
                       "--wait", "120", "--quiet", "--server", self.server, "--out", str(out)]
            while True:
                limit = self.dice.uniform(0.1, 2) if self.dice.random() < 0.5 else 400
                with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
                    try:
                        code, message = process.wait(limit), process.stderr.read()
                    except subprocess.TimeoutExpired:
                        process.kill()
                        self.killed += 1
                        continue
                if code == 75:  # try again
                    continue
                break
            files = {each.name: hashlib.sha256(each.read_bytes()).hexdigest() for each in self.folder.iterdir()}
            if code != 0 or files != self.expected[model, recipe]:
                print(f"WRONG: {' '.join(command)}: exit code {code}, {message}, {files}", flush=True)
                self.wrong += 1
                return
            self.done += 1


def expected_bakes(sinew: str, folder: pathlib.Path) -> dict:
    """Of each bake the names and digests of its files, made in one process."""
    expected = {}
    for model in _MODELS:
        for recipe in _RECIPES:
            path = folder / f"expected{len(expected)}"
            path.mkdir()
            subprocess.run([sinew, "bake", model, "--deformer", recipe, "--clip", "0", "--quiet", "--local", "--out",
                            path / "bake.npy"], check=True, stdout=subprocess.DEVNULL)
            expected[model, recipe] = {each.name: hashlib.sha256(each.read_bytes()).hexdigest()
                                       for each in path.iterdir()}
    return expected


def run(options: argparse.Namespace, folder: pathlib.Path, started: list) -> int:
    dice = random.Random(options.seed)
    redis = Redis(folder)
    shared = ["--redis", f"redis://127.0.0.1:{redis.port}"]
    outside: dict[str, object] = {"redis": redis}
    if options.tools:
        server = s3_server.S3Server(s3_server.install(options.tools), folder / "s3")
        started.append(server)
        server.start()
        keys = folder / "keys"
        keys.write_text(f"[default]\naws_access_key_id={server.access_key}\n"
                        f"aws_secret_access_key={server.secret_key}\n", encoding="utf-8")
        shared += ["--store", f"s3://{server.bucket}/test", "--store-endpoint", f"http://127.0.0.1:{server.port}",
                   "--store-path-style", "--store-credentials", keys]
        outside["store"] = Store(server)
    else:
        shared += ["--store", f"file://{folder}/store"]
    servers = [replicas.Replica(options.sinewd, number, folder, "--data-dir", folder / f"data{number}",
                                "--client-share", 1, *shared) for number in (1, 2, 3)]
    balancer = replicas.Balancer("haproxy", folder, servers)
    for program in (redis, *servers, balancer):
        started.append(program)
        program.start()
    expected = expected_bakes(options.sinew, folder)

    counters = Counters(servers)
    # Ends with the run.  pylint: disable=consider-using-with
    streams = subprocess.Popen([options.streams, "--server", balancer.address, "--clients", str(options.clients),
                                "--rigs", str(options.rigs), "--seconds", str(options.seconds + options.quiet_seconds),
                                "--seed", str(options.seed)], stdout=subprocess.PIPE, text=True)
    started.append(streams)
    bakes = [Bakes(options.sinew, balancer.address, folder / f"bakes{number}", expected, random.Random(dice.random()))
             for number in range(options.bakes)]
    inside = {f"replica {server.number}": server for server in servers} | {"haproxy": balancer}
    faults = [Faults("servers", inside, {f"replica {server.number}" for server in servers},
                     random.Random(dice.random())),
              Faults("stores", outside, set(), random.Random(dice.random()))]
    for each in (*bakes, *faults):
        each.thread.start()
    end = time.monotonic() + options.seconds
    while time.monotonic() < end and streams.poll() is None and all(each.wrong == 0 for each in bakes):
        time.sleep(0.5)
    for each in faults:
        each.stop()
    # Without faults everything must come to its end.
    for bake in bakes:
        bake.stopped.set()
    for bake in bakes:
        bake.thread.join(600)
    output, _ = streams.communicate(timeout=options.quiet_seconds + 600)
    lines = output.strip().splitlines()
    print("\n".join(lines[:-1]), flush=True)
    report = json.loads(lines[-1])
    report |= {"bakes": sum(each.done for each in bakes), "bakes killed": sum(each.killed for each in bakes),
               "bakes wrong": sum(each.wrong for each in bakes),
               "bakes unfinished": sum(each.thread.is_alive() for each in bakes)}
    report |= counters.totals()
    report["kinds of bound data"] = min(options.rigs, options.clients) + len(expected)
    for each in faults:
        report |= each.counts
    for name, value in report.items():
        print(f"{value:>16g}  {name}" if not isinstance(value, bool) else f"{value!s:>16}  {name}")
    failed = (report["violated"] or report["bakes wrong"] or report["bakes unfinished"] or streams.returncode != 0
              or report["frames"] == 0 or report["bakes"] == 0)
    return 1 if failed else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sinewd", required=True)
    parser.add_argument("--sinew", required=True)
    parser.add_argument("--streams", required=True)
    parser.add_argument("--tools", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--quiet-seconds", type=float, default=10)
    parser.add_argument("--clients", type=int, default=12)
    parser.add_argument("--rigs", type=int, default=12)
    parser.add_argument("--bakes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for program in ("redis-server", "haproxy"):
        if replicas.find(program) is None:
            print(f"skipped: {program} is not installed")
            return _SKIP
    started: list = []
    with tempfile.TemporaryDirectory(prefix="sinew-cluster-") as folder:
        try:
            return run(options, pathlib.Path(folder), started)
        finally:
            for program in reversed(started):
                if isinstance(program, subprocess.Popen):
                    program.kill()
                    program.wait()
                else:
                    program.stop()


if __name__ == "__main__":
    sys.exit(main())
