"""Servers and hashes for tests.

    def test_hero(sinew_server):                       # with pytest, after: from sinew.testing import sinew_server
        client = sinew.connect(sinew_server.address)
        frames = client.character(sinew.load("hero.glb"), "ddm").clip(poses)
        assert sinew.testing.digest(frames) == "3b1f..."
"""

import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import typing

import numpy as np

from .errors import InvalidArgument


class Server:
    """A sinewd on a free port of this machine, as a context manager.

    It is stopped at the end, and ends by itself if this process is killed. `address`: where it listens, for connect().
    `process`: its subprocess.Popen.

    options: further options of sinewd. program: path of sinewd; default: $SINEWD, else from $PATH, else the one inside
    this package.
    """

    def __init__(self, *options: str, listen: str = "127.0.0.1:0", program: typing.Optional[str] = None) -> None:
        program = program or os.environ.get("SINEWD") or shutil.which("sinewd")
        command = [program] if program else [sys.executable, "-m", "sinew.programs", "sinewd"]
        paths = [str(pathlib.Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
        self.process = subprocess.Popen(
            [*command, "--listen", listen, "--http", "off", "--exit-with-parent", "--log-level", "error", *options],
            stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))})
        assert self.process.stdout is not None
        self._stdout = self.process.stdout
        line = self._stdout.readline()  # printed once it listens
        if not line:
            code = self.process.wait()
            self._stdout.close()
            raise RuntimeError(f"sinewd ended with exit code {code} before it listened; stderr says why")
        # JSON with --log-format json, else "sinewd: listening on ADDRESS, ADDRESS".
        self.address = (json.loads(line)["addresses"][0] if line.startswith("{") else
                        line.removeprefix("sinewd: listening on ").strip().split(", ")[0])

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Sends the signal and waits for the end; returns the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait()
        self._stdout.close()
        return code

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def digest(frames: typing.Any) -> str:
    """SHA-256 of positions as little-endian float32: a short golden value, of an array or a Frame.

    Equal for equal bits. Results have equal bits wherever Character.determinism_digest is equal.
    """
    positions = np.asarray(frames)
    if positions.dtype.kind != "f" or positions.ndim < 2 or positions.shape[-1] != 3:
        raise InvalidArgument(f"frames: got an array of {positions.dtype} and shape {positions.shape}, need numbers of "
                              "shape (..., vertices, 3), or a Frame", "INVALID_ARGUMENT", field="frames", exit_code=65)
    return hashlib.sha256(np.ascontiguousarray(positions, "<f4").tobytes()).hexdigest()


try:
    import pytest  # type: ignore[import]
except ImportError:
    pass
else:

    @pytest.fixture(scope="session")
    def sinew_server() -> "typing.Iterator[Server]":
        """A Server for all tests of a run."""
        with Server() as server:
            yield server
