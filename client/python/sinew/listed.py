"""What Client.methods(), presets(), stats() and fit_skeleton() return, and Rig.clips."""

import dataclasses
import difflib
import typing

if typing.TYPE_CHECKING:
    from ._sinew import Rig

_MOST_NAMES = 20


class _Listed:

    def __getitem__(self, name: str) -> typing.Any:  # they were dicts in 0.1; until the release after
        return getattr(self, name)


@dataclasses.dataclass(frozen=True)
class Parameter(_Listed):
    """A parameter of a method. In a recipe: method(parameter=value).

    type: "number", "integer", "boolean", "choice" or "map". unit: "" without one. default: as a recipe has it.
    minimum, maximum: None without one. choices: of a choice, or of an integer with only some values. description: what
    it does.
    """
    type: str
    unit: str
    default: str
    minimum: typing.Optional[float]
    maximum: typing.Optional[float]
    choices: typing.List[str]
    description: str


@dataclasses.dataclass(frozen=True)
class Method(_Listed):
    """A deformation method.

    summary: one sentence. reads: "rest" or "posed", the mesh that it starts from. paper: source of its formulas.
    cost: time per frame relative to linear blend skinning. example: the shortest recipe. version: raised when results
    change. parameters: by name.
    """
    summary: str
    reads: str
    paper: str
    cost: str
    example: str
    version: int
    parameters: typing.Dict[str, Parameter]


@dataclasses.dataclass(frozen=True)
class Preset(_Listed):
    """A named recipe. summary: one sentence."""
    recipe: str
    summary: str


@dataclasses.dataclass(frozen=True)
class Stats(_Listed):
    """Version, load and limits of a server.

    version, simd: of the program and its instruction set. threads: that evaluate frames. rigs, rig_bytes: stored.
    sessions: live. streams: open. frames_sent: since the start, uptime_seconds ago. bound_entries, bound_bytes: bound
    rigs in memory. limits: by their names in its configuration.
    """
    version: str
    simd: str
    threads: int
    rigs: int
    rig_bytes: int
    sessions: int
    streams: int
    frames_sent: int
    bound_entries: int
    bound_bytes: int
    uptime_seconds: int
    limits: typing.Dict[str, int]


@dataclasses.dataclass(frozen=True)
class Fit(_Listed):
    """A rig with the skeleton that was placed in it.

    residual: how badly the template fits; above 0.1 often wrong. up, forward: of the body, in the space of the rig.
    warnings: what to look at.
    """
    rig: "Rig"
    residual: float
    up: typing.List[float]
    forward: typing.List[float]
    warnings: typing.List[str]


class Clips(typing.Dict[str, typing.Any]):
    """Clips by name. The KeyError of another name says which there are."""

    def __init__(self, label: str) -> None:
        super().__init__()
        self._label = label

    def __missing__(self, name: object) -> typing.NoReturn:
        names = ", ".join(list(self)[:_MOST_NAMES]) + (", ..." if len(self) > _MOST_NAMES else "")
        near = difflib.get_close_matches(str(name), self, 1)
        raise KeyError(f"{name}: no clip of {self._label}, which has " + (names or "none")
                       + (f"; did you mean {near[0]}?" if near else ""))
