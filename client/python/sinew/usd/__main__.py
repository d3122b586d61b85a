"""Converts an OpenUSD character for the command line: the rig, and the poses and controls of its clip.

Writes OUT.sinewrig and, beside it, OUT.CLIP.poses.npy and OUT.CLIP.controls.npy, and prints the `sinew bake` that
takes them.
"""

import argparse
import os
import shlex
import sys
import tempfile
import typing

import numpy as np

from .._text import counted
from ..errors import Error, InvalidArgument
from . import read

_USAGE, _UNAVAILABLE, _CANNOT_WRITE = 64, 69, 73  # exit codes of the command line
_MOST_START = 1 << 20  # of --start-frame


class _Parser(argparse.ArgumentParser):

    def error(self, message: str) -> typing.NoReturn:
        self.exit(_USAGE, f"{self.format_usage()}sinew: {message}\n")


def _rate(text: str) -> float:
    value = float(text)
    if not 0.001 <= value <= 100_000:
        raise argparse.ArgumentTypeError(f"got {text}, need 0.001 to 100000")
    return value


def _arguments(arguments: typing.Optional[typing.Sequence[str]]) -> argparse.Namespace:
    parser = _Parser(prog="python3 -m sinew.usd", description=__doc__,
                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", metavar="FILE", help=".usd, .usda, .usdc or .usdz")
    parser.add_argument("out", metavar="OUT", help="the rig to write, .sinewrig")
    parser.add_argument("--fps", type=_rate, help="frames per second (default: those of the stage)")
    parser.add_argument("--unweighted", choices=("refuse", "root", "nearest", "still"), default="refuse",
                        help="what moves vertices without weights (default: the file is refused)")
    parser.add_argument("--strict", action="store_true", help="warnings are errors, and nothing is written")
    parser.add_argument("--no-clobber", action="store_true", help="fail if a file of that name exists")
    options = parser.parse_args(arguments)
    if not options.out.lower().endswith(".sinewrig"):
        parser.error(f"{options.out}: need a name that ends in .sinewrig")
    return options


class _Arrays:
    """Arrays on their way to .npy files, which appear whole, after all of them are complete."""

    def __init__(self) -> None:
        self._files: typing.List[typing.Tuple[str, str]] = []

    def add(self, path: str, array: typing.Any) -> None:
        number, temporary = tempfile.mkstemp(prefix=f".{os.path.basename(path)}.", dir=os.path.dirname(path) or ".")
        self._files.append((temporary, path))
        with open(number, "wb") as file:
            np.save(file, array)
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)

    def commit(self) -> None:
        while self._files:
            os.replace(*self._files[0])
            self._files.pop(0)

    def __enter__(self) -> "_Arrays":
        return self

    def __exit__(self, *_: object) -> None:
        for temporary, _path in self._files:
            os.unlink(temporary)


def _in_file_name(clip: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in clip) or "_"


def _convert(options: argparse.Namespace) -> None:
    character = read(options.file, unweighted=options.unweighted)
    rig = character.rig
    warnings = [problem for problem in rig.problems if not problem.startswith("info:")]
    for problem in warnings:
        print(f"sinew: {problem}", file=sys.stderr)
    if options.strict and warnings:
        raise InvalidArgument(counted(len(warnings), "warning") + ", --strict allows none", "INVALID_ARGUMENT", exit_code=65)
    fps = options.fps or character.fps
    # Frames with the numbers of the stage's time codes.
    counts = float(character.start).is_integer() and 0 < character.start <= _MOST_START and fps == character.fps
    start = ["--start-frame", f"{character.start:.0f}"] if counts else []
    stem = options.out[:-len(".sinewrig")]
    paths = [options.out]
    commands = []
    with _Arrays() as arrays:
        def add(path: str, array: typing.Any) -> str:
            paths.append(path)
            if options.no_clobber and os.path.exists(path):
                raise FileExistsError(f"{path}: exists")
            arrays.add(path, array)
            return path

        if options.no_clobber and os.path.exists(options.out):
            raise FileExistsError(f"{options.out}: exists")
        for name, clip in rig.clips.items():
            poses = clip.poses(fps)
            part = f"{stem}.{_in_file_name(name)}"
            command = ["sinew", "bake", options.out, "--deformer", character.deformer, "--poses",
                       add(f"{part}.poses.npy", poses.joints.reshape(len(poses), -1, 12))]
            if rig.controls:
                command += ["--controls", add(f"{part}.controls.npy", poses.controls)]
            commands.append((name, len(poses), [*command, "--fps", f"{fps:.10g}", *start, "--out", f"{part}.usda"]))
        rig.save(options.out)
        arrays.commit()
    print("\n".join(paths))
    if not commands:
        print("sinew: nothing moves on the stage, so there are no poses", file=sys.stderr)
    for name, frames, command in commands:
        print(f"clip {name}: {counted(frames, 'frame')} at {fps:.10g} frames per second, frame 0 is time code {character.start:.10g}")
        print(shlex.join(command))


def main(arguments: typing.Optional[typing.Sequence[str]] = None) -> int:
    options = _arguments(arguments)
    try:
        _convert(options)
    except Error as error:
        print(f"sinew: {error}", file=sys.stderr)
        return error.exit_code
    except ImportError as error:
        print(f"sinew: {error}", file=sys.stderr)
        return _UNAVAILABLE
    except OSError as error:
        print(f"sinew: {error}", file=sys.stderr)
        return _CANNOT_WRITE
    return 0


if __name__ == "__main__":
    sys.exit(main())
