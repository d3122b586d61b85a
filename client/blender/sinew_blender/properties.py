"""What a .blend file stores of a character: on the armature object, as object.sinew."""

import bpy

from . import live, methods

# What library overrides of an armature keep when their file is saved.
_KEPT = {"LIBRARY_OVERRIDABLE"}
_KEPT_ITEMS = _KEPT | {"USE_INSERTION", "NO_PROPERTY_NAME"}
_BLEND_RELATIVE = {"PATH_SUPPORTS_BLEND_RELATIVE"} if bpy.app.version >= (4, 5, 0) else set()  # for a leading //


def _method_items(_self, _context) -> list:
    return methods.items(methods.METHODS)


class SinewStage(bpy.types.PropertyGroup):
    """One method of a recipe. Has a group of parameters for every method: see register()."""
    method: bpy.props.EnumProperty(name="Method", items=_method_items, update=live.recipe_changed, override=_KEPT)

    @property
    def values(self):
        return getattr(self, methods.group_name(self.method))


class SinewRecipe(bpy.types.PropertyGroup):
    """Stages, of which the first poses the mesh and the others correct it."""
    stages: bpy.props.CollectionProperty(type=SinewStage, override=_KEPT_ITEMS)

    @property
    def text(self) -> str:
        return " | ".join(methods.stage_text(stage.method, stage.values) for stage in self.stages)

    def set_text(self, text: str) -> None:
        """From recipe text whose parameters are plain numbers, words and names, as in presets."""
        with live.suspend():
            self.stages.clear()
            for part in text.split("|"):
                name, _, arguments = part.strip().partition("(")
                stage = self.stages.add()
                stage.method = name.strip()
                for argument in filter(None, arguments.rstrip(") ").split(",")):
                    key, _, value = argument.partition("=")
                    methods.set_value(stage.method, stage.values, key.strip(), value.strip())
        live.recipe_changed(self, None)

    def map_names(self) -> list:
        return [name for stage in self.stages for name in methods.map_names(stage.method, stage.values)]


class SinewPart(bpy.types.PropertyGroup):
    """A mesh of the character and the objects that show it deformed."""
    source: bpy.props.PointerProperty(type=bpy.types.Object, override=_KEPT)
    output: bpy.props.PointerProperty(type=bpy.types.Object, override=_KEPT)
    second: bpy.props.PointerProperty(type=bpy.types.Object, override=_KEPT)  # by the second recipe


class SinewCharacter(bpy.types.PropertyGroup):
    bound: bpy.props.BoolProperty(override=_KEPT)
    parts: bpy.props.CollectionProperty(type=SinewPart, override=_KEPT_ITEMS)
    recipes: bpy.props.CollectionProperty(type=SinewRecipe, override=_KEPT_ITEMS)  # Blender 5.0 overrides no groups
    live: bpy.props.BoolProperty(name="Live", default=True, update=live.refresh, override=_KEPT,
                                 description="Deform again whenever the pose changes")
    compare: bpy.props.BoolProperty(name="Compare", update=live.compare_changed, override=_KEPT,
                                    description="Show the character a second time, deformed by another recipe")
    offset: bpy.props.FloatVectorProperty(name="Offset", subtype="TRANSLATION", default=(1.0, 0.0, 0.0),
                                          update=live.offset_changed, override=_KEPT,
                                          description="From the first to the second, in the space of the world")
    colours: bpy.props.EnumProperty(
        name="Colours", update=live.refresh, override=_KEPT, items=(
            ("NONE", "None", "Keep the materials"),
            ("DISTANCE", "Distance", "Heat map on the second: blue 0, red the largest distance from the first"),
            ("STATUS", "Vertex status", "How implicit skinning ended at each vertex")))
    bake_folder: bpy.props.StringProperty(
        name="Folder", subtype="DIR_PATH", default="//sinew_cache", options=_BLEND_RELATIVE, override=_KEPT,
        description="Where the caches go; // is the folder of the .blend file")
    bake_format: bpy.props.EnumProperty(name="Format", override=_KEPT, items=(("pc2", "PC2", ""), ("mdd", "MDD", "")))
    bake_scene_range: bpy.props.BoolProperty(name="Scene Range", default=True, override=_KEPT,
                                             description="Bake from the scene's first frame to its last")
    bake_first: bpy.props.IntProperty(name="First", default=1, override=_KEPT, description="Frame to start at")
    bake_last: bpy.props.IntProperty(name="Last", default=250, override=_KEPT, description="Last frame to bake")
    unweighted: bpy.props.EnumProperty(
        name="Vertices without weights", default="REFUSE", override=_KEPT, items=(
            ("REFUSE", "Refuse", "Do not bind; say how many there are"),
            ("STILL", "Stay", "They stay where they are at rest, as with Blender's Armature modifier"),
            ("ROOT", "Root", "They follow the first bone without a parent"),
            ("NEAREST", "Nearest", "They get the weights of the nearest vertex that has any")))

    @property
    def first(self) -> SinewRecipe:
        return self._recipe(0)

    @property
    def second(self) -> SinewRecipe:
        return self._recipe(1)

    def _recipe(self, index: int) -> SinewRecipe:
        while len(self.recipes) < 2:
            self.recipes.add()
        return self.recipes[index]


_classes = (SinewRecipe, SinewPart, SinewCharacter)


def register() -> None:
    for method, group in methods.groups().items():
        SinewStage.__annotations__[methods.group_name(method)] = bpy.props.PointerProperty(type=group, override=_KEPT)
    bpy.utils.register_class(SinewStage)
    for each in _classes:
        bpy.utils.register_class(each)
    bpy.types.Object.sinew = bpy.props.PointerProperty(type=SinewCharacter, override=_KEPT)


def unregister() -> None:
    del bpy.types.Object.sinew
    for each in reversed(_classes):
        bpy.utils.unregister_class(each)
    bpy.utils.unregister_class(SinewStage)
