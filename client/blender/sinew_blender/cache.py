"""The Mesh Cache modifier that plays a bake in place of Armature."""

import pathlib
import re

import bpy

from . import snapshot

_NAME = "Sinew Cache"
_OWN = re.compile(re.escape(_NAME) + r"(\.\d+)?")  # Blender numbers a second one
_REPLACED = "sinew_replaced"  # on baked objects: the modifiers that play() switched off, and where they were on


def check_order(armature: bpy.types.Object) -> None:
    """Overrides keep the modifiers of their library before new ones. Raises BindError."""
    for part in armature.sinew.parts:
        armature_last = part.source is None or not part.source.modifiers or \
            part.source.modifiers[-1] == snapshot.armature_modifier(part.source, armature)
        if not armature_last and part.source.override_library:
            raise snapshot.BindError(f"{part.source.name}: a cache cannot go before the modifiers after Armature of a "
                                     "library override; make the object local first")


def play(source: bpy.types.Object, armature: bpy.types.Object, path: str, first: int) -> None:
    """Puts a cache in the place of the Armature modifier, which is switched off with those before it."""
    remove(source, armature)
    before = snapshot.armature_modifier(source, armature)
    index = list(source.modifiers).index(before) + 1 if before is not None else 0
    source[_REPLACED] = {each.name: (each.show_viewport, each.show_render) for each in source.modifiers[:index]}
    for modifier in source.modifiers[:index]:
        modifier.show_viewport = modifier.show_render = False
    cache = source.modifiers.new(_NAME, "MESH_CACHE")
    cache.cache_format = pathlib.Path(path).suffix[1:].upper()
    cache.filepath = bpy.path.relpath(path) if bpy.data.filepath else path
    cache.frame_start = first  # Blender does not read it from the file
    cache.forward_axis, cache.up_axis = "POS_Y", "POS_Z"  # the axes of the object
    while source.modifiers.find(cache.name) > index:
        with bpy.context.temp_override(object=source):
            bpy.ops.object.modifier_move_up(modifier=cache.name)


def remove(source: bpy.types.Object, armature: bpy.types.Object) -> None:
    """Undoes play(); files stay."""
    caches = [each for each in source.modifiers if each.type == "MESH_CACHE" and _OWN.fullmatch(each.name)]
    replaced = source.get(_REPLACED, {})
    if caches and not replaced and snapshot.armature_modifier(source, armature) is not None:  # overrides do not keep it
        replaced = {snapshot.armature_modifier(source, armature).name: (True, True)}
    for name, shown in replaced.items():
        if name in source.modifiers:
            source.modifiers[name].show_viewport, source.modifiers[name].show_render = map(bool, shown)
    for each in caches:
        source.modifiers.remove(each)
    if _REPLACED in source:
        del source[_REPLACED]
