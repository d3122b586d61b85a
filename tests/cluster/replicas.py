"""Several sinewd and a balancer in front of them, for tests: each is a real program on loopback, stopped by its handle.

Replicas keep their ports when they are started again. Each has another max-page-size, by which `identity` knows it.
"""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import s3_server

ROOT = pathlib.Path(__file__).resolve().parents[2]
START_SECONDS = 30.0
FIRST_PAGE_SIZE = 2001


class Program:
    """A program that is started and stopped, maybe several times."""

    def __init__(self, command: list[object], log: pathlib.Path, environment: dict[str, str] | None = None) -> None:
        self.command, self.log = [str(word) for word in command], log
        self.environment = {**os.environ, **(environment or {})}
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        assert self.process is None
        with open(self.log, "ab") as log:
            # Ends with `stop`.  pylint: disable=consider-using-with
            self.process = subprocess.Popen(self.command, env=self.environment, stdout=log, stderr=log,
                                            stdin=subprocess.DEVNULL)
        deadline = time.monotonic() + START_SECONDS
        while not self.answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{self.command[0]} does not start: {self.log.read_text(encoding='utf-8')}")
            time.sleep(0.05)

    def answers(self) -> bool:
        """Whether it can be used; overridden by each kind of program."""
        raise NotImplementedError

    def signal(self, number: int) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    def kill(self) -> None:
        """kill -9."""
        assert self.process is not None
        self.process.kill()
        self.process.wait(10)
        self.process = None

    def wait(self, seconds: float) -> int:
        """Its exit code, once it has ended by itself or by a signal sent before."""
        assert self.process is not None
        code = self.process.wait(seconds)
        self.process = None
        return code

    def stop(self, seconds: float = 30) -> None:
        """SIGTERM, then SIGKILL. Nothing if it does not run."""
        if self.process is None:
            return
        self.process.send_signal(signal.SIGCONT)
        self.process.terminate()
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(10)
        self.process = None


class Replica(Program):
    """One sinewd, with ports of its own."""

    def __init__(self, sinewd: str, number: int, folder: pathlib.Path, *arguments: object) -> None:
        self.number, self.sinewd = number, sinewd
        self.address = f"127.0.0.1:{s3_server.free_port()}"
        self.http = f"127.0.0.1:{s3_server.free_port()}"
        super().__init__([sinewd, "--listen", self.address, "--http", self.http, "--insecure", "--trusted-proxy",
                          "127.0.0.1", "--set", f"max-page-size={FIRST_PAGE_SIZE + number}", "--exit-with-parent", "--log-level",
                          "warning", *arguments], folder / f"sinewd-{number}.log")

    def answers(self) -> bool:
        return subprocess.run([self.sinewd, "--probe", self.address], capture_output=True, check=False).returncode == 0


def identity(reply) -> int:
    """The number of the replica that has sent this GetServerInfoResponse."""
    return next(limit.value for limit in reply.limits if limit.name == "max-page-size") - FIRST_PAGE_SIZE


class Balancer(Program):
    """haproxy or nginx with the configuration of deploy/cluster, in front of three replicas."""

    def __init__(self, kind: str, folder: pathlib.Path, replicas: list[Replica], *,
                 environment: dict[str, str] | None = None) -> None:
        self.kind, self.sinewd = kind, replicas[0].sinewd
        addresses = [replica.address for replica in replicas]
        self.address = f"127.0.0.1:{s3_server.free_port()}"
        self.admin = folder / "admin.sock"
        self.http = f"127.0.0.1:{s3_server.free_port()}"
        program = find(kind)
        assert program is not None
        if kind == "haproxy":
            variables = {f"SINEWD_{number}": address for number, address in enumerate(addresses, 1)}
            super().__init__([program, "-db", "-f", ROOT / "deploy/cluster/haproxy.cfg"], folder / "haproxy.log",
                             {**variables, "BALANCER_BIND": self.address, "BALANCER_HTTP": self.http,
                              "BALANCER_ADMIN": str(self.admin), **(environment or {})})
        else:
            text = (ROOT / "deploy/cluster/nginx.conf").read_text(encoding="utf-8")
            for number, address in enumerate(addresses, 1):
                text = self.replaced(text, rf"server 127\.0\.0\.1:5006{number} ", f"server {address} ")
            text = self.replaced(text, r"\n +listen 50051 ", f"\n    listen {self.address} ")
            text = self.replaced(text, r"/run/sinew-nginx\.pid", str(folder / "nginx.pid"))
            text = self.replaced(text, r"client_body_temp_path \S+;", f"client_body_temp_path {folder / 'bodies'};")
            (folder / "nginx.conf").write_text(text, encoding="utf-8")
            super().__init__([program, "-c", folder / "nginx.conf", "-g", "daemon off;"], folder / "nginx.log")

    @staticmethod
    def replaced(text: str, pattern: str, new: str) -> str:
        """`text` with its one match replaced: a test with an old address would test nothing."""
        text, count = re.subn(pattern, new, text)
        assert count == 1, (pattern, count)
        return text

    def answers(self) -> bool:
        return subprocess.run([self.sinewd, "--probe", self.address], capture_output=True, check=False).returncode == 0


def find(program: str) -> str | None:
    """Its path, also where the path of the user has no sbin."""
    return shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin")


def help_of(program: str) -> str:
    """Its options: tests use those that it has."""
    return subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
