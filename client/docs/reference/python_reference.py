"""Writes the reference of the Python package with pdoc. Exit code 1: something public has no description.

usage: python_reference.py PACKAGE OUT        PACKAGE: the folder that PYTHONPATH would name
"""

import inspect
import pathlib
import re
import sys
import types
import warnings

import pdoc
import pdoc.render

sys.path.insert(0, sys.argv[1])
import sinew  # pylint: disable=wrong-import-position
import sinew.testing  # pylint: disable=wrong-import-position
import sinew.usd  # pylint: disable=wrong-import-position,unused-import

SIGNATURE = re.compile(r"\A\w*\(.*\) -> .*\n?")  # what pybind11 writes above a description


def stub():
    """The extension module's types: classes and functions with signatures, and without bodies."""
    text = pathlib.Path(sinew.__file__).with_name("_sinew.pyi").read_text(encoding="utf-8")
    space = {"__name__": "sinew.stub", "__package__": "sinew"}
    exec("from __future__ import annotations\n" + text, space)  # pylint: disable=exec-used
    return types.SimpleNamespace(**space)


def signature(typed, written):
    """The stub's signature, with the defaults of what pybind11 writes."""
    space = {}
    exec(f"from __future__ import annotations\ndef function{written[written.index('('):]}: ...", space)  # pylint: disable=exec-used
    defaults = inspect.signature(space["function"]).parameters
    found = inspect.signature(getattr(typed, "__func__", typed))
    return found.replace(parameters=[one.replace(default=defaults[name].default) if one.default is ... else one
                                     for name, one in found.parameters.items()])


def give_types(owner, stubs):
    """Gives functions and properties the stub's types, in place of those that pybind11 writes into descriptions."""
    for name, typed in vars(stubs).items():
        real = getattr(owner, name, None)
        if inspect.isclass(typed) and inspect.isclass(real):
            give_types(real, typed)
        elif isinstance(typed, property) and isinstance(real, property):
            typed.fget.__doc__ = SIGNATURE.sub("", real.__doc__ or "")
            setattr(owner, name, property(typed.fget))
        elif inspect.isfunction(real) and (written := SIGNATURE.match(real.__doc__ or "")):
            real.__signature__ = signature(typed, written[0].strip())
            real.__doc__ = SIGNATURE.sub("", real.__doc__).strip()
            real.__dict__.pop("__wrapped__", None)  # pdoc would describe that


def undescribed(owner):
    """The full names of public things without a description. That of a class may name its fields."""
    for member in owner.own_members if isinstance(owner, pdoc.doc.Class) else owner.members.values():
        if member.name.startswith("_") or isinstance(member, pdoc.doc.Module):
            continue
        named = isinstance(member, pdoc.doc.Variable) and re.search(rf"\b{member.name}\b", owner.docstring)
        if not member.docstring.strip() and not named:
            yield member.fullname
        if isinstance(member, pdoc.doc.Class):
            yield from undescribed(member)


def main():
    warnings.simplefilter("ignore")  # of names such as npt in types, which pdoc then shows as they are written
    sinew.__all__ = [name for name, value in vars(sinew).items()
                     if not name.startswith("_") and not inspect.ismodule(value)] + ["testing", "usd"]
    give_types(sinew, stub())
    pdoc.render.configure(show_source=False)
    pdoc.doc.Function.decorators = ()  # functools.wraps, which says nothing to readers
    pdoc.pdoc("sinew", "!sinew._.*", "!sinew.v1", output_directory=pathlib.Path(sys.argv[2]))
    missing = [name for module in (sinew, sinew.testing, sinew.usd) for name in undescribed(pdoc.doc.Module(module))]
    for name in missing:
        print(f"{name} has no description", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
