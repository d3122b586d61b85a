#!/usr/bin/env python3
"""An S3 server for tests, which verifies signatures: versitygw from the Go module proxy, over a folder of files.

usage: s3_server.py --tools FOLDER --data FOLDER [--port PORT] [--access-key KEY] [--secret-key KEY] [--bucket NAME]

FOLDER of --tools keeps the program, which takes minutes to compile, for the next run. As a program it serves until it
gets SIGTERM or SIGINT. Tests use `install` and `S3Server`, whose faults (kill, pause) keep port and data.
What it does not do as AWS: an unknown access key is 404 rather than 403.
"""

from __future__ import annotations

import argparse
import http.client
import os
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time

MODULE = "github.com/versity/versitygw/cmd/versitygw@v1.8.0"
SKIP = 77  # what ctest takes as skipped
START_SECONDS = 30.0


def install(tools: pathlib.Path) -> pathlib.Path:
    """The program, compiled into `tools` unless it is there; exits with SKIP where that is impossible."""
    program = tools / "bin" / "versitygw"
    if program.exists():
        return program
    go = shutil.which("go") or shutil.which("go", path="/usr/local/go/bin:/usr/lib/go/bin")
    if go is None:
        print("skipped: go is not installed (1.25 or newer, from go.dev)")
        raise SystemExit(SKIP)
    print(f"installing {MODULE} ...", flush=True)
    # An older go fails here: Debian's cannot fetch a newer one by itself.
    done = subprocess.run([go, "install", MODULE], check=False, capture_output=True, text=True,
                          env={**os.environ, "GOPATH": str(tools.resolve()), "GOFLAGS": "-modcacherw"})
    if done.returncode != 0:
        print(f"skipped: {MODULE} cannot be compiled: {done.stderr.strip().splitlines()[-1:]}")
        raise SystemExit(SKIP)
    return program


def free_port() -> int:
    """A port of loopback that no program uses now; a server on it can be started again at the same address."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def make_certificate(folder: pathlib.Path) -> tuple[pathlib.Path, pathlib.Path]:
    """A certificate for 127.0.0.1 and localhost, which is its own authority, and its key."""
    certificate, key = folder / "s3.pem", folder / "s3.key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
                    "-keyout", key, "-out", certificate], check=True, capture_output=True)
    return certificate, key


class S3Server:
    """One server on loopback. `with` starts and stops it."""

    def __init__(self, program: pathlib.Path, data: pathlib.Path, *, bucket: str = "sinew",
                 access_key: str = "test-key", secret_key: str = "test-secret", region: str = "us-east-1",
                 port: int = 0,
                 certificate: tuple[pathlib.Path, pathlib.Path] | None = None) -> None:
        self.program, self.data, self.bucket, self.region = program, data, bucket, region
        self.access_key, self.secret_key = access_key, secret_key
        self.certificate = certificate
        self.port = port or free_port()
        self.process: subprocess.Popen[bytes] | None = None
        self.log = data.with_name(data.name + ".log")
        (data / bucket).mkdir(parents=True, exist_ok=True)  # a folder of `data` is a bucket

    @property
    def endpoint(self) -> str:
        return f"http{'s' if self.certificate else ''}://127.0.0.1:{self.port}"

    def credentials(self) -> dict[str, str]:
        """The variables of the environment that S3 clients read."""
        return {"AWS_ACCESS_KEY_ID": self.access_key, "AWS_SECRET_ACCESS_KEY": self.secret_key}

    def start(self) -> None:
        """Starts it, also after `stop` or `kill`, and waits until it answers."""
        assert self.process is None
        command = [self.program, "--quiet", "--keep-alive", "--health", "/health", "--port", f"127.0.0.1:{self.port}",
                   "--region", self.region]
        if self.certificate:
            command += ["--cert", self.certificate[0], "--key", self.certificate[1]]
        environment = {**os.environ, "ROOT_ACCESS_KEY": self.access_key, "ROOT_SECRET_KEY": self.secret_key}
        with open(self.log, "ab") as log:
            # Ends as a server: with `stop`.  pylint: disable=consider-using-with
            self.process = subprocess.Popen([*map(str, command), "posix", str(self.data)], env=environment, stdout=log,
                                            stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        deadline = time.monotonic() + START_SECONDS
        while not self.answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the S3 server does not start: {self.log.read_text(encoding='utf-8')}")
            time.sleep(0.05)

    def answers(self) -> bool:
        """Whether it answers a health check within a second."""
        if self.certificate:
            context = ssl.create_default_context(cafile=str(self.certificate[0]))
            connection: http.client.HTTPConnection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=1,
                                                                                  context=context)
        else:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=1)
        try:
            connection.request("GET", "/health")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def stop(self) -> None:
        """SIGTERM; SIGKILL if that does not help. Nothing if it does not run."""
        if self.process is None:
            return
        self.process.send_signal(signal.SIGCONT)
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(10)
        self.process = None

    def kill(self) -> None:
        """kill -9: connections break, `start` brings it back with what it had acknowledged."""
        assert self.process is not None
        self.process.kill()
        self.process.wait(10)
        self.process = None

    def pause(self) -> None:
        """SIGSTOP: connections are accepted by the system, and nothing answers."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """SIGCONT."""
        assert self.process is not None
        self.process.send_signal(signal.SIGCONT)

    def restart(self) -> None:
        """Stops it and starts it on the same port with the same data."""
        self.stop()
        self.start()

    def __enter__(self) -> S3Server:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=pathlib.Path, required=True)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--bucket", default="sinew")
    parser.add_argument("--access-key", default="test-key")
    parser.add_argument("--secret-key", default="test-secret")
    options = parser.parse_args()
    server = S3Server(install(options.tools), options.data.resolve(), bucket=options.bucket, port=options.port,
                      access_key=options.access_key, secret_key=options.secret_key)
    # Blocked before the first child starts and unblocked nowhere, so that none is lost: sigwait takes them.
    signals = {signal.SIGTERM, signal.SIGINT}
    with server:
        signal.pthread_sigmask(signal.SIG_BLOCK, signals)
        print(f"{server.endpoint} bucket {server.bucket}", flush=True)
        signal.sigwait(signals)
    return 0


if __name__ == "__main__":
    sys.exit(main())
