"""OpenUSD characters: meshes, skeletons and blend shapes of UsdSkel, by the package usd-core of PyPI.

    hero = sinew.load("hero.usd")                    # .usd, .usda, .usdc, .usdz
    poses = hero.clips["walk"].poses(fps=24)         # UsdSkel evaluates the stage at each frame
    hero = sinew.usd.load(stage)                     # a pxr.Usd.Stage: with its variants, payloads and session layer

Model space is the space of the stage. For the command line, `python3 -m sinew.usd hero.usd hero.sinewrig` writes the
rig, and the poses of its clip beside it.
"""

import os
import typing
import warnings

from .._sinew import Rig
from ..errors import FileWarning, InvalidArgument

__all__ = ["load"]

_NEEDS = "sinew.usd: {}; needs usd-core and numpy: pip install usd-core numpy, or the extra sinew[usd] of the wheel"


def load(source: typing.Any, *, muscles: "typing.Union[str, os.PathLike[str]]" = "", allow_no_skin: bool = False,
         unweighted: str = "refuse", strict: bool = False) -> Rig:
    """The character of a file, or of an open pxr.Usd.Stage; other arguments are those of sinew.load.

    ImportError: there is no usd-core.
    """
    rig: Rig = read(source, muscles=muscles, allow_no_skin=allow_no_skin, unweighted=unweighted).rig
    _warn(rig, strict)
    return rig


def read(source: typing.Any, *, muscles: typing.Any = "", allow_no_skin: bool = False,
         unweighted: str = "refuse") -> typing.Any:
    """As load; a stage.Character, which also knows the frame rate."""
    try:
        from . import stage  # not before a file is read: usd-core is optional
    except ImportError as error:
        raise ImportError(_NEEDS.format(error)) from error
    opened = stage.open_stage(os.fspath(source)) if isinstance(source, (str, os.PathLike)) else source
    return stage.read(opened, muscles=muscles, allow_no_skin=allow_no_skin, unweighted=unweighted)


def _warn(rig: Rig, strict: bool) -> None:
    """A Python warning for what will show in the result, or an error."""
    found = [f"{rig.label}: {problem}" for problem in rig.problems if not problem.startswith("info:")]
    if strict and found:
        raise InvalidArgument("strict: got warnings, need none:\n" + "\n".join(found), "INVALID_ARGUMENT", exit_code=65)
    for problem in found:
        warnings.warn(problem, FileWarning, stacklevel=3)
