"""Methods and their parameters as Blender properties, made from the server's list of methods.

The list is that of the server inside this process, so that it is there before any connection; a server of the same
version has the same.
"""

import bpy
import sinew

from . import live

METHODS: dict = {}  # as Client.methods()
PRESETS: dict = {}  # as Client.presets()
_groups: dict = {}  # a PropertyGroup class for each method
_items: dict = {}   # Blender keeps no reference to the strings of items
_UNSET = "set_"     # prefix of the switch of a parameter that has no default


def items(entries: dict) -> list:
    """METHODS or PRESETS as items of an EnumProperty."""
    _items[id(entries)] = [(name, name, info["summary"]) for name, info in entries.items()]
    return _items[id(entries)]


def group_name(method: str) -> str:
    """Name of the property of a stage that holds the parameters of a method."""
    return "of_" + method


def _limits(parameter: dict, kind: type) -> dict:
    limits = {}
    for end, name in (("min", "minimum"), ("max", "maximum")):
        if parameter[name] is not None:
            limits[end] = kind(parameter[name])
    return limits


def _description(parameter: dict) -> str:
    text = parameter["description"].rstrip(".")
    return f"{text}. In {parameter['unit']}" if parameter["unit"] else text


def _property(name: str, parameter: dict):
    text = {"name": name.replace("_", " ").capitalize(), "description": _description(parameter),
            "update": live.recipe_changed, "override": {"LIBRARY_OVERRIDABLE"}}
    default, kind = parameter["default"], parameter["type"]
    if kind == "boolean":
        return bpy.props.BoolProperty(default=default == "true", **text)
    if kind == "choice":
        items = tuple((choice, choice, "") for choice in parameter["choices"])
        return bpy.props.EnumProperty(items=items, default=default, **text)
    if kind == "integer":
        return bpy.props.IntProperty(default=int(default or 0), **_limits(parameter, int), **text)
    if kind == "number":
        start = default or parameter["minimum"] or 0.0
        return bpy.props.FloatProperty(default=float(start), precision=4, **_limits(parameter, float), **text)
    return bpy.props.StringProperty(default=default, **text)  # the name of a map


def _make_group(method: str, info: dict) -> type:
    annotations = {}
    for name, parameter in info["parameters"].items():
        annotations[name] = _property(name, parameter)
        if not parameter["default"] and parameter["type"] in ("integer", "number"):
            annotations[_UNSET + name] = bpy.props.BoolProperty(
                name="Set " + name.replace("_", " "), description=_description(parameter), update=live.recipe_changed,
                override={"LIBRARY_OVERRIDABLE"})
    return type("SinewParameters_" + method, (bpy.types.PropertyGroup,), {"__annotations__": annotations})


def groups() -> dict:
    """A registered PropertyGroup for each method."""
    return _groups


def _text(value, parameter: dict) -> str:
    if parameter["type"] == "boolean":
        return "true" if value else "false"
    return f"{value:.7g}" if parameter["type"] == "number" else str(value)


def stage_text(method: str, values) -> str:
    """A stage as recipe text: the parameters that differ from their defaults. values: its PropertyGroup."""
    given = []
    for name, parameter in METHODS[method]["parameters"].items():
        switch = getattr(values, _UNSET + name, None)
        if switch is False or not values.is_property_set(name) and switch is None:
            continue
        text = _text(getattr(values, name), parameter)
        if text and (switch or text != parameter["default"]):
            given.append(f"{name}={text}")
    return f"{method}({', '.join(given)})" if given else method


def set_value(method: str, values, name: str, text: str) -> None:
    """Sets a parameter from its text in a recipe."""
    kind = METHODS[method]["parameters"][name]["type"]
    convert = {"boolean": lambda word: word == "true", "integer": int, "number": float}.get(kind, str)
    setattr(values, name, convert(text))
    if hasattr(values, _UNSET + name):
        setattr(values, _UNSET + name, True)


def map_names(method: str, values) -> list:
    """Names of the maps that the parameters of a stage refer to."""
    return [getattr(values, name) for name, parameter in METHODS[method]["parameters"].items()
            if parameter["type"] == "map" and getattr(values, name)]


def draw(layout, method: str, values, mesh_object) -> None:
    """All parameters of a stage. mesh_object: whose vertex groups a map can be chosen from, or None."""
    for name, parameter in METHODS[method]["parameters"].items():
        switch = _UNSET + name
        if parameter["type"] == "map" and mesh_object is not None:
            layout.prop_search(values, name, mesh_object, "vertex_groups")
        elif hasattr(values, switch):
            row = layout.row(heading=name.replace("_", " ").capitalize())
            row.prop(values, switch, text="")
            column = row.column()
            column.active = getattr(values, switch)
            column.prop(values, name, text="")
        else:
            layout.prop(values, name)


def register() -> None:
    with sinew.local() as client:
        METHODS.update(client.methods())
        PRESETS.update(client.presets())
    for method, info in METHODS.items():
        _groups[method] = _make_group(method, info)
        bpy.utils.register_class(_groups[method])


def unregister() -> None:
    for group in _groups.values():
        bpy.utils.unregister_class(group)
    _groups.clear()
    METHODS.clear()
    PRESETS.clear()
