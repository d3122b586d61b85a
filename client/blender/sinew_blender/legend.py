"""The legend of heat maps, at the bottom of the 3D View."""

import blf
import bpy
import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader

from . import live, output

_SHADER = "SMOOTH_COLOR" if bpy.app.version >= (4, 0, 0) else "3D_SMOOTH_COLOR"
_handle = None


def text(distance: float) -> str:
    """A distance of the world in the unit of the scene."""
    unit = bpy.context.scene.unit_settings
    if unit.system == "NONE":
        return f"{distance:.3g}"
    return bpy.utils.units.to_string(unit.system, "LENGTH", distance * unit.scale_length, precision=3)


def _draw() -> None:
    context = bpy.context
    shown = [each for each in live.bound_armatures(context.scene)
             if each.sinew.compare and each.sinew.colours == "DISTANCE" and live.runtime(each).largest_distance]
    if not context.space_data.overlay.show_overlays:
        return
    size = context.preferences.system.ui_scale
    blf.size(0, 12 * size)
    blf.color(0, *context.preferences.themes[0].view_3d.space.text_hi, 1.0)
    width = 160 * size
    left = (context.region.width - width) / 2
    for k, armature in enumerate(shown):
        low = (16 + 24 * k) * size
        _draw_bar(left, width, low, low + 12 * size)
        name = f"{armature.name}: 0  "
        _draw_text(name, left - blf.dimensions(0, name)[0], low + 2 * size)
        _draw_text(f"  {text(live.runtime(armature).largest_distance)}", left + width, low + 2 * size)


def _draw_text(words: str, left: float, low: float) -> None:
    blf.position(0, left, low, 0)
    blf.draw(0, words)


def _draw_bar(left: float, width: float, low: float, high: float) -> None:
    stops = np.linspace(0, 1, 5)
    places = [(left + width * stop, height, 0.0) for stop in stops for height in (low, high)]
    colours = np.insert(np.repeat(output.heat(stops, 1.0), 2, axis=0), 3, 1.0, axis=1)
    shader = gpu.shader.from_builtin(_SHADER)
    batch_for_shader(shader, "TRI_STRIP", {"pos": places, "color": colours.tolist()}).draw(shader)


def register() -> None:
    global _handle
    _handle = bpy.types.SpaceView3D.draw_handler_add(_draw, (), "WINDOW", "POST_PIXEL")


def unregister() -> None:
    bpy.types.SpaceView3D.draw_handler_remove(_handle, "WINDOW")
