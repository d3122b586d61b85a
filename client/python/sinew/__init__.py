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

from ._sinew import (Character, Clip, Client, Frame, Mesh, Poses, Rig, Stream, _render, connect,
                     load, local)
from .errors import (Damaged, Error, InvalidArgument, LimitExceeded, NotFound, NotPermitted,
                     Unavailable)

__all__ = [
    "Character", "Clip", "Client", "Damaged", "Error", "Frame", "InvalidArgument", "LimitExceeded",
    "Mesh", "NotFound", "NotPermitted", "Poses", "Rig", "Stream", "Unavailable", "connect", "load",
    "local", "render"
]


def render(rig, frames, *, width=800, height=800, azimuth=35.0, elevation=14.0, zoom=1.0, look_at=None,
           heat_map=False, wire=False, progress=None):
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


def _in_thread(method):
    """The coroutine of a method that waits: it runs in a thread of asyncio's pool."""

    @functools.wraps(method)
    async def run(self, *arguments, **options):
        return await asyncio.to_thread(method, self, *arguments, **options)

    return run


Client.character_async = _in_thread(Client.character)
Character.deform_async = _in_thread(Character.deform)
Character.clip_async = _in_thread(Character.clip)
Character.bake_async = _in_thread(Character.bake)
