"""sinew.view: a character in the browser."""

import os
import pathlib
import subprocess
import sys
import tempfile
import typing
import weakref

import numpy as np

from ._sinew import Poses, Rig
from .errors import Error


def _end(process: "subprocess.Popen[str]", folder: "tempfile.TemporaryDirectory[str]") -> None:
    process.terminate()
    process.wait()
    if process.stdout is not None:
        process.stdout.close()
    folder.cleanup()


class Viewer:
    """A page that shows a character, until close(), or until this process or the last reference ends. From sinew.view.

    `link`: what to open in a browser on this machine; a notebook shows it.
    """

    def __init__(self, command: typing.List[str], folder: "tempfile.TemporaryDirectory[str]") -> None:
        paths = [str(pathlib.Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
        errors = pathlib.Path(folder.name) / "errors"
        with open(errors, "wb") as stderr:
            # A session of its own: Ctrl-C and the interrupts of a notebook are not for it.
            process = subprocess.Popen(
                [sys.executable, "-m", "sinew.programs", "sinew", *command, "--exit-with-parent", "--quiet"],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr, text=True, start_new_session=True,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))})
        self._close = weakref.finalize(self, _end, process, folder)
        assert process.stdout is not None
        self.link = process.stdout.readline().strip()
        if not self.link:
            process.wait()
            lines = errors.read_text(errors="replace").strip().splitlines()
            self.close()
            raise Error(lines[0].removeprefix("sinew: ") if lines else "sinew view ended without a link")

    def close(self) -> None:
        """Ends the page."""
        self._close()

    def __enter__(self) -> "Viewer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<sinew view: {self.link}>"

    def _repr_html_(self) -> str:
        return f'<a href="{self.link}" target="_blank" rel="noopener">sinew view</a>'


def view(character: typing.Union[Rig, str, "os.PathLike[str]"], poses: typing.Optional[Poses] = None,
         deformers: typing.Union[str, typing.Sequence[str]] = ("lbs", "ddm"), *, server: str = "", port: int = 0) -> Viewer:
    """Serves a page that plays a character, turns its joints and compares recipes; see `sinew view --help`.

    character: a rig, or the path of a character's file, whose clips the page then has. poses: a clip of the rig.
    deformers: one or two recipes; the first one is shown. server: an address; default: a service in a process of its own.
    port: of 127.0.0.1; 0 takes a free one.
    """
    if not isinstance(character, (Rig, str, os.PathLike)):
        raise TypeError(f"character: got {type(character).__name__}, need a sinew.Rig or the path of a file")
    if poses is not None and not isinstance(poses, Poses):
        raise TypeError(f"poses: got {type(poses).__name__}, need a sinew.Poses")
    recipes = [deformers] if isinstance(deformers, str) else list(deformers)
    if not recipes:
        raise ValueError("deformers: got none, need one or two recipes")
    folder = tempfile.TemporaryDirectory(prefix="sinew-view-")
    command = ["view"]
    if isinstance(character, Rig):
        file = os.path.join(folder.name, (character.label.replace("/", "_") or "rig") + ".sinewrig")
        character.save(file)
        command.append(file)
    else:
        command.append(os.fspath(character))
    if poses is not None:
        np.save(os.path.join(folder.name, "poses.npy"), poses.matrices)
        command += ["--poses", os.path.join(folder.name, "poses.npy"), "--fps", repr(poses.fps)]
        if poses.controls.size:
            np.save(os.path.join(folder.name, "controls.npy"), poses.controls)
            command += ["--controls", os.path.join(folder.name, "controls.npy")]
    command += ["--deformer", *recipes, "--port", str(port)]
    if server:
        command += ["--server", server]
    return Viewer(command, folder)
