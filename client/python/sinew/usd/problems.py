"""What a reader reports: errors with their place in the stage, and what it changed or lost."""

import typing

import numpy as np

from ..errors import InvalidArgument


def bad(place: object, message: str) -> InvalidArgument:
    """The error of a prim, a property or a file."""
    return InvalidArgument(f"{place}: {message}", "INVALID_ARGUMENT", field=str(place), exit_code=65)


def expect_finite(place: object, array: typing.Any) -> None:
    """Raises the error of the first row that is not finite."""
    rows = np.isfinite(array).reshape(len(array), -1).all(axis=1) if len(array) else np.ones(0, bool)
    if not rows.all():
        row = int(rows.argmin())
        raise bad(place, f"value {row} is not finite: {np.asarray(array[row]).tolist()}")


class Problems:
    """Collects what is no error: (severity, message, place)."""

    def __init__(self) -> None:
        self.entries: typing.List[typing.Tuple[str, str, str]] = []

    def info(self, place: object, message: str) -> None:
        self.entries.append(("info", message, str(place)))

    def warn(self, place: object, message: str) -> None:
        self.entries.append(("warning", message, str(place)))

    def lost(self, place: object, message: str) -> None:
        self.entries.append(("lost", message, str(place)))


class Names:
    """Hands out names that do not repeat: arm, arm.2, arm.3."""

    def __init__(self) -> None:
        self._taken: typing.Dict[str, int] = {}

    def take(self, wanted: str) -> str:
        name = wanted
        while name in self._taken:
            self._taken[wanted] += 1
            name = f"{wanted}.{self._taken[wanted]}"
        self._taken[name] = 1
        return name
