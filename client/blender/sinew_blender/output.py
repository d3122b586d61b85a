"""Objects that show a deformed mesh: copies of the source without what deforms it."""

import typing

import bpy
import numpy as np

from .snapshot import SHAPES_PROPERTY, armature_modifier

COLOURS = "Sinew"  # colour attribute of output meshes
_MATERIALS = "Sinew Materials"  # the same, where the other figure has COLOURS alone
_GAP = 1.2  # from the first to the second figure, in widths
_SOURCE_PROPERTY = "sinew_source"  # on output objects: needs the transform of the source

# The colours of the command line: yellow, green, red, violet, blue, black, white, grey, cyan, orange,
# olive (sRGB).
STATUS_COLOURS = np.array([(240, 205, 40), (60, 170, 70), (205, 40, 35), (140, 60, 165), (45, 85, 205), (18, 18, 20),
                           (246, 246, 246), (150, 150, 155), (130, 225, 215), (240, 115, 30), (125, 130, 30)]) / 255
_HEAT = np.array([(0.16, 0.22, 0.60), (0.10, 0.62, 0.78), (0.30, 0.75, 0.32), (0.98, 0.86, 0.25), (0.80, 0.12, 0.12)])


def make(source: bpy.types.Object, armature: bpy.types.Object, name: str, points: np.ndarray) -> bpy.types.Object:
    """An object with its own copy of the mesh of source, and the modifiers that come after Armature.

    points: as points_of(), the shape until the first frame.
    """
    mesh = source.data.copy()
    mesh.name = name
    output = _follower(source, armature, name, mesh) if source.override_library else _copy(source, armature, name, mesh)
    if not output.modifiers:
        output.vertex_groups.clear()  # used by modifiers only; Blender copies them for every frame
    output.hide_viewport = output.hide_render = False
    for collection in source.users_collection:
        if not collection.library and not collection.override_library:
            collection.objects.link(output)
    if not output.users_collection:
        bpy.context.scene.collection.objects.link(output)
    output.hide_set(False)
    if len(points) == len(mesh.vertices):
        write_positions(output, points)
    _follow_shapes(output, source.data)
    return output


def _copy(source: bpy.types.Object, armature: bpy.types.Object, name: str, mesh: bpy.types.Mesh) -> bpy.types.Object:
    output = source.copy()
    output.name, output.data = name, mesh
    _remove_shapes(output)
    for each in output.modifiers[:_modifiers_used(source, armature)]:
        _remove_drivers(output, f'modifiers["{bpy.utils.escape_identifier(each.name)}"]')
        output.modifiers.remove(each)
    if output.parent_type == "ARMATURE":  # deforms, as a modifier would
        output.parent_type = "OBJECT"
    _need_transform(output, source)
    return output


def _follower(source: bpy.types.Object, armature: bpy.types.Object, name: str,
              mesh: bpy.types.Mesh) -> bpy.types.Object:
    """For a library override, whose copy would be an override as well and lose its mesh when the file is opened."""
    output = bpy.data.objects.new(name, mesh)
    _remove_shapes(output)
    output.parent = source
    for own, slot in zip(output.material_slots, source.material_slots):
        own.link, own.material = slot.link, slot.material
    for modifier in source.modifiers[_modifiers_used(source, armature):]:
        with bpy.context.temp_override(object=source, active_object=source, selected_objects=[source, output],
                                       selected_editable_objects=[source, output]):
            bpy.ops.object.modifier_copy_to_selected(modifier=modifier.name)
    return output


def _need_transform(output: bpy.types.Object, source: bpy.types.Object) -> None:
    """Blender evaluates the transform of a hidden object only if another one needs it; reading the rig again does."""
    output[_SOURCE_PROPERTY] = 0.0
    driver = output.driver_add(f'["{_SOURCE_PROPERTY}"]').driver
    driver.type = "SUM"
    variable = driver.variables.new()
    variable.type = "TRANSFORMS"
    variable.targets[0].id = source


def hide_source(source: bpy.types.Object, hidden: bool) -> None:
    """Hidden in viewports, too: Blender deforms what is hidden only in the view layer. Shown again, it is selected."""
    source.hide_viewport = source.hide_render = hidden
    source.hide_set(hidden)
    if source.name in bpy.context.view_layer.objects:
        source.select_set(not hidden)


def _modifiers_used(source: bpy.types.Object, armature: bpy.types.Object) -> int:
    """How many modifiers Sinew takes the place of: Armature and those before it."""
    modifier = armature_modifier(source, armature)
    return 0 if modifier is None else list(source.modifiers).index(modifier) + 1


def _remove_shapes(output: bpy.types.Object) -> None:
    keys = output.data.shape_keys
    if keys is not None:
        output.shape_key_clear()
        bpy.data.batch_remove([keys])  # a copied mesh leaves them behind


def _remove_drivers(output: bpy.types.Object, path: str) -> None:
    if output.animation_data:
        for driver in [each for each in output.animation_data.drivers if each.data_path.startswith(path)]:
            output.animation_data.drivers.remove(driver)


def _follow_shapes(output: bpy.types.Object, mesh: bpy.types.Mesh) -> None:
    """Makes the values of the shape keys of mesh a property of output. Drivers keep them right where the source is hidden
    and not evaluated, as it is in renders."""
    blocks = mesh.shape_keys.key_blocks[1:] if mesh.shape_keys else []
    if not blocks:
        return
    output[SHAPES_PROPERTY] = [0.0] * len(blocks)
    for k, block in enumerate(blocks):
        driver = output.driver_add(f'["{SHAPES_PROPERTY}"]', k).driver
        driver.type = "SUM"
        variable = driver.variables.new()
        variable.type = "SINGLE_PROP"
        target = variable.targets[0]
        # By way of the mesh: files do not keep references to the shape keys of a library.
        target.id_type, target.id, target.data_path = "MESH", mesh, "shape_keys." + block.path_from_id("value")


def shape_values(source: bpy.types.Object, output: bpy.types.Object,
                 depsgraph: bpy.types.Depsgraph) -> typing.Sequence[float]:
    """Values of the shape keys after the first; those that are muted are 0."""
    keys = source.data.shape_keys
    if keys is None or len(keys.key_blocks) < 2:
        return ()
    values = output.evaluated_get(depsgraph)[SHAPES_PROPERTY]
    return [0.0 if block.mute else value for block, value in zip(keys.key_blocks[1:], values)]


def remove(output: typing.Optional[bpy.types.Object]) -> None:
    if output is not None:
        bpy.data.meshes.remove(output.data)  # and the object


def make_second(armature: bpy.types.Object) -> None:
    """Makes or removes the objects that show the second recipe."""
    for part in armature.sinew.parts:
        if armature.sinew.compare and part.second is None and None not in (part.source, part.output):
            part.second = make(part.source, armature, part.source.name + " (Sinew 2)", points_of(part.output))
        elif not armature.sinew.compare:
            remove(part.second)
            part.second = None
    if armature.sinew.compare and not armature.sinew.is_property_set("offset"):
        armature.sinew.offset = (_GAP * _width(armature), 0.0, 0.0)
    place_second(armature)


def _width(armature: bpy.types.Object) -> float:
    """How wide the shown meshes are along the world's X."""
    shown = [part for part in armature.sinew.parts if part.second is not None]
    rows = [np.array(part.source.matrix_world)[0] for part in shown]
    places = [points_of(part.second) @ row[:3] + row[3] for part, row in zip(shown, rows)]
    return float(np.ptp(np.concatenate(places))) if places else 0.0


def place_second(armature: bpy.types.Object) -> None:
    """By delta_location, which animation and parents leave alone."""
    for part in armature.sinew.parts:
        if part.second is None or part.output is None:
            continue
        inverse = np.linalg.inv(np.array(part.output.matrix_world)[:3, :3] @
                                np.linalg.inv(np.array(part.output.matrix_basis)[:3, :3]))
        part.second.delta_location = np.array(part.output.delta_location) + inverse @ np.array(armature.sinew.offset)


def points_of(mesh_object: bpy.types.Object) -> np.ndarray:
    """(V, 3) float32, in the space of the object."""
    points = np.empty(len(mesh_object.data.vertices) * 3, np.float32)
    mesh_object.data.vertices.foreach_get("co", points)
    return points.reshape(-1, 3)


def posed(source: bpy.types.Object, armature: bpy.types.Object) -> np.ndarray:
    """points_of() a source as Armature alone deforms it."""
    own = armature_modifier(source, armature)
    others = [each for each in source.modifiers if each != own and each.show_viewport]
    for each in others:
        each.show_viewport = False
    try:
        return points_of(source.evaluated_get(bpy.context.evaluated_depsgraph_get()))
    finally:
        for each in others:
            each.show_viewport = True


def write_positions(output: bpy.types.Object, points: np.ndarray) -> None:
    """points: (V, 3) float32, in the space of the object."""
    output.data.vertices.foreach_set("co", points.ravel())
    output.data.update()


def write_colours(output: bpy.types.Object, colours: np.ndarray) -> None:
    """colours: (V, 3), sRGB from 0 to 1."""
    linear = np.ones((len(colours), 4), np.float32)
    linear[:, :3] = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055)**2.4)
    _write_linear(output, COLOURS, "FLOAT_COLOR", "POINT", linear)


def write_materials(output: bpy.types.Object) -> None:
    """Once: the colours that materials have in the viewport, which shows attributes instead beside a heat map."""
    if _MATERIALS in output.data.color_attributes:
        return
    faces = output.data.polygons
    colours = [slot.material.diffuse_color if slot.material else (0.8, 0.8, 0.8, 1) for slot in output.material_slots]
    sizes, slots = np.empty(len(faces), np.int32), np.empty(len(faces), np.int32)
    faces.foreach_get("loop_total", sizes)
    faces.foreach_get("material_index", slots)
    linear = np.array(colours or [(0.8, 0.8, 0.8, 1)], np.float32)
    _write_linear(output, _MATERIALS, "BYTE_COLOR", "CORNER", linear[np.repeat(np.minimum(slots, len(linear) - 1), sizes)])


def _write_linear(output: bpy.types.Object, name: str, kind: str, domain: str, colours: np.ndarray) -> None:
    attributes = output.data.color_attributes
    if name not in attributes:
        remove_colours(output)
        attributes.active_color = attributes.new(name, kind, domain)
    attributes[name].data.foreach_set("color", colours.ravel())


def remove_colours(output: bpy.types.Object) -> None:
    for name in (COLOURS, _MATERIALS):
        if name in output.data.color_attributes:
            output.data.color_attributes.remove(output.data.color_attributes[name])


def heat(distances: np.ndarray, largest: float) -> np.ndarray:
    """(V, 3) colours from blue, 0, to red, `largest`."""
    place = distances / (largest or 1.0) * (len(_HEAT) - 1)
    return np.stack([np.interp(place, range(len(_HEAT)), _HEAT[:, channel]) for channel in range(3)], axis=1)
