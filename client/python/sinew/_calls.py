"""Functions of the extension module as Python has them: coroutines beside them, and errors of types in one sentence."""

import asyncio
import functools
import inspect
import numbers
import os
import re
import typing

import numpy

from . import _sinew
from .futures import PoseFutures

_Function = typing.Callable[..., typing.Any]


_TYPES: typing.Dict[str, typing.Any] = {"str": str, "float": numbers.Real, "int": numbers.Integral, "bool": (bool, numpy.bool_),
                                        "object": object, "path": (str, bytes, os.PathLike)}


def _fits(kind: str, value: typing.Any) -> bool:
    outer, _, inner = kind.rstrip("]").partition("[")
    if outer == "Optional":
        return value is None or _fits(inner, value)
    if outer == "Union":
        return any(_fits(one, value) for one in inner.split(", "))
    if outer in ("List", "list"):
        return hasattr(value, "__len__") and not isinstance(value, str) and all(_fits(inner or "object", one) for one in value)
    return isinstance(value, dict if outer == "Dict" else _TYPES.get(kind) or getattr(_sinew, kind.rpartition(".")[2]))


def _explained(line: str, arguments: typing.Sequence[typing.Any], named: typing.Dict[str, typing.Any]) -> str:
    """Which argument does not fit the signature, as pybind11 writes it."""
    line = line.replace("os.PathLike", "path").replace("sequence", "list").replace("sinew._sinew.", "sinew.")
    name = line.partition("(")[0]
    space: typing.Dict[str, typing.Any] = {}
    exec(f"from __future__ import annotations\ndef {line}: ...", space)  # pylint: disable=exec-used
    signature = inspect.signature(space[name])
    try:
        given = signature.bind(*arguments, **named).arguments
    except TypeError as error:
        return f"{name}(): {error}"
    for argument, value in given.items():
        kind = signature.parameters[argument].annotation
        if not _fits(kind, value):
            need = re.sub(r"Optional\[(.*)\]", r"\1 or None", re.sub(r"List\[(.*?)\]", r"list of \1", kind))
            need = re.sub(r"Union\[(.*), (.*)\]", r"\1 or \2", need)
            return f"{argument}: got {type(value).__name__}, need {need}"
    for argument, value in given.items():
        if isinstance(value, int) and value < 0:
            return f"{argument}: got {value}, need 0 or more"
    return f"{name}(): an argument cannot be used"


def _explaining(function: _Function, module: str, qualname: str) -> _Function:
    """The function, whose TypeErrors are one sentence instead of the signatures that pybind11 lists."""
    line = (function.__doc__ or "").partition("\n")[0]
    raw = line.partition("(")[0] + "(): incompatible function arguments"

    @functools.wraps(function)
    def call(*arguments: typing.Any, **named: typing.Any) -> typing.Any:
        try:
            return function(*arguments, **named)
        except TypeError as error:
            if not str(error).startswith(raw):
                raise
            explained = _explained(line, arguments, named)
        raise TypeError(explained)

    call.__module__, call.__qualname__ = module, qualname
    return call


def _in_thread(method: _Function) -> _Function:
    """The coroutine of a method that waits: it runs in a thread of asyncio's pool, and ends when it is cancelled."""

    @functools.wraps(method)
    async def run(self: typing.Any, *arguments: typing.Any, **options: typing.Any) -> typing.Any:
        cancellation = _sinew._Cancellation()

        def call() -> typing.Any:
            with cancellation:
                return method(self, *arguments, **options)

        try:
            return await asyncio.to_thread(call)
        except asyncio.CancelledError:
            cancellation.cancel()
            raise

    return run


def _futures(self: _sinew.Character, *, normals: bool = False, tangents: bool = False,
             compact: bool = False, compressed: typing.Union[bool, typing.Literal["auto"]] = False,
             max_queued: int = 64, deadline: typing.Optional[float] = 30.0) -> PoseFutures:
    """Opens a stream whose frames come as futures; see PoseFutures."""
    return PoseFutures(self.stream(normals=normals, tangents=tangents, compact=compact,
                                   compressed=compressed, max_queued=max_queued, deadline=deadline))


for _name, _value in list(vars(_sinew).items()):
    if isinstance(_value, type):
        for _method, _bound in list(vars(_value).items()):
            if not _method.startswith("__") and (callable(_bound) or isinstance(_bound, staticmethod)):
                _plain = _explaining(getattr(_value, _method), "sinew", f"{_name}.{_method}")
                setattr(_value, _method, staticmethod(_plain) if isinstance(_bound, staticmethod) else _plain)
    elif callable(_value):
        setattr(_sinew, _name, _explaining(_value, "sinew._sinew" if _name.startswith("_") else "sinew", _name))
for _class, _method in ((_sinew.Client, "character"), (_sinew.Character, "deform"), (_sinew.Character, "clip"),
                        (_sinew.Character, "bake")):
    setattr(_class, _method + "_async", _in_thread(getattr(_class, _method)))
setattr(_sinew.Character, "futures", _futures)
