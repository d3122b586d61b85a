"""Sinew: deform the skin of rigged characters, on a server or in this process.

    import sinew
    hero = sinew.load("hero.glb")
    poses = hero.clips["Walk"].poses(fps=24)
    with sinew.local() as client:                      # or sinew.connect("127.0.0.1:50051")
        frames = client.character(hero, "ddm").clip(poses)     # (frames, vertices, 3)

All lengths are in the unit of the character's file, matrices are 3x4 for column vectors, and
vertices are in the order of the file, one mesh after the other. Calls that wait release the GIL; on
the main thread, Ctrl-C ends them. With asyncio, `await character.deform_async(pose)` and the other
methods with that ending.
"""

import asyncio
import functools
import typing

from ._sinew import (Character, Clip, Client, Frame, Mesh, Poses, Rig, Stream, _Cancellation, _render,
                     compare, connect, join, load, local)
from .errors import (Damaged, Error, FileWarning, InvalidArgument, LimitExceeded, NotFound, NotPermitted,
                     Timeout, Unavailable)
from .futures import PoseFutures
from .mesh_data import ClipData, MeshData, ShapeData

if typing.TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = [
    "Character", "Clip", "ClipData", "Client", "Damaged", "Error", "FileWarning", "Frame", "InvalidArgument",
    "LimitExceeded", "Mesh", "MeshData", "NotFound", "NotPermitted", "PoseFutures", "Poses", "Rig", "ShapeData", "Stream",
    "Timeout", "Unavailable", "compare", "connect", "join", "load", "local", "render"
]


def render(rig: Rig, frames: typing.Any, *, width: int = 800, height: int = 800, azimuth: float = 35.0,
           elevation: float = 14.0, zoom: float = 1.0, look_at: typing.Any = None, heat_map: bool = False,
           wire: bool = False,
           progress: typing.Optional[typing.Callable[[float], object]] = None) -> "npt.NDArray[np.uint8]":
    """Draws posed characters without GPU or display; returns (H, W, 3) uint8 sRGB, all panels
    with their labels.

    frames: positions (V, 3), a Frame, or a dict of labels to either: one panel each, side by side.
    width, height: pixels of each panel. azimuth, elevation: degrees; 0, 0 looks at the front.
    heat_map: colours every panel but the first by its distance from the first.
    """
    if not isinstance(frames, dict):
        frames = {"": frames}
    panels = [(label, frame.positions if isinstance(frame, Frame) else frame)
              for label, frame in frames.items()]
    return _render(rig, panels, width, height, azimuth, elevation, zoom, look_at, heat_map, wire,
                   progress)


def _in_thread(method: typing.Any) -> typing.Any:
    """The coroutine of a method that waits: it runs in a thread of asyncio's pool, and ends when it is cancelled."""

    @functools.wraps(method)
    async def run(self: typing.Any, *arguments: typing.Any, **options: typing.Any) -> typing.Any:
        cancellation = _Cancellation()

        def call() -> typing.Any:
            with cancellation:
                return method(self, *arguments, **options)

        try:
            return await asyncio.to_thread(call)
        except asyncio.CancelledError:
            cancellation.cancel()
            raise

    return run


def _futures(self: Character, *, normals: bool = False, tangents: bool = False, max_queued: int = 64) -> PoseFutures:
    """Opens a stream whose frames come as futures; see PoseFutures."""
    return PoseFutures(self.stream(normals=normals, tangents=tangents, max_queued=max_queued))


# Methods of classes of the extension module, which has their types.
for _class, _name in ((Client, "character"), (Character, "deform"), (Character, "clip"), (Character, "bake")):
    setattr(_class, _name + "_async", _in_thread(getattr(_class, _name)))
setattr(Character, "futures", _futures)
