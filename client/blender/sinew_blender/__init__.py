"""Sinew for Blender: deforms characters with the methods of a Sinew server, live and in renders.

The panel is in the sidebar of the 3D View, tab Sinew.
"""

bl_info = {
    "name": "Sinew",
    "description": "Skin deformation: Direct Delta Mush, implicit skinning and more, live and baked",
    "author": "Sinew",
    "version": (0, 1, 0),
    "blender": (3, 4, 0),
    "location": "3D View > Sidebar > Sinew",
    "category": "Rigging",
}

import pathlib
import sys

# The zip for Blender before 4.2 has the package here; for an extension Blender installs the wheel itself.
_bundled = pathlib.Path(__file__).parent / "lib"
if _bundled.is_dir() and str(_bundled) not in sys.path:
    sys.path.append(str(_bundled))

from . import bake, legend, live, methods, operators, panel, preferences, properties

_modules = (preferences, methods, properties, operators, bake, panel, legend, live)


def register() -> None:
    for module in _modules:
        module.register()


def unregister() -> None:
    for module in reversed(_modules):
        module.unregister()
