#!/usr/bin/env python3
"""Lets the scripts of this folder answer --help before they need numpy or the Python package: they import it first.

usage.py
"""
import pathlib
import sys

main = sys.modules["__main__"]
if "--help" in sys.argv[1:] or "-h" in sys.argv[1:]:
    if pathlib.Path(getattr(main, "__file__", None) or "").resolve().parent == pathlib.Path(__file__).resolve().parent:
        print(main.__doc__.strip())
        sys.exit(0)
