"""Sinew: deform the skin of rigged characters, on a server or in this process.

    import sinew
    hero = sinew.load("hero.glb")
    poses = hero.clips["Walk"].poses(fps=24)
    with sinew.local() as client:                      # or sinew.connect("127.0.0.1:50051")
        character = client.character(hero, "ddm")
        frames = character.clip(poses)                 # (frames, vertices, 3)
        frame = character.deform(poses[0])             # numpy.asarray(frame): (vertices, 3)

help(sinew.Rig), Poses, Client, Character and Stream say what these can do; sinew.Rig.from_arrays makes a rig of
arrays. Every error is a sinew.Error, such as sinew.Unavailable and sinew.Timeout. sinew.testing has a server for tests.

All lengths are in the unit of the character's file, matrices are 3x4 (or 4x4) for column vectors, and vertices are in
the order of the file, one mesh after the other. Calls that wait release the GIL; on the main thread, Ctrl-C ends them.
With asyncio, `await character.deform_async(pose)` and the other methods with that ending. A process that has used a
client cannot fork: start others with multiprocessing's "spawn" or "forkserver".
"""

from . import _calls  # completes the classes of the extension module
from ._sinew import (Character as Character, Client as Client, Clip as Clip, Frame as Frame, Mesh as Mesh,
                     Poses as Poses, Rig as Rig, Stream as Stream, Watch as Watch, __version__ as __version__,
                     compare as compare, connect as connect, join as join, load as load, local as local,
                     render as render)
from .errors import (Damaged as Damaged, Error as Error, FileWarning as FileWarning,
                     InvalidArgument as InvalidArgument, LimitExceeded as LimitExceeded, NotFound as NotFound,
                     NotPermitted as NotPermitted, Timeout as Timeout, Unavailable as Unavailable)
from .futures import PoseFutures as PoseFutures
from .listed import Fit as Fit, Method as Method, Parameter as Parameter, Preset as Preset, Stats as Stats
from .mesh_data import ClipData as ClipData, MeshData as MeshData, ShapeData as ShapeData
from .viewer import Viewer as Viewer, view as view
