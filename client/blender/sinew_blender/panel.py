"""The panel in the sidebar of the 3D View."""

import textwrap

import bpy

from . import legend, live, methods, operators


def _columns(context) -> int:
    """Characters that fit into a line with an icon, at about 8 pixels each. Blender does not wrap labels."""
    return max(int(context.region.width / context.preferences.system.ui_scale / 8) - 6, 10)


def _draw_recipe(layout, character, name: str) -> None:
    # Drawing may not add recipes; Bind does.
    stages = getattr(character, name).stages if character.recipes else ()
    mesh = character.parts[0].source if character.parts else None
    layout.operator_menu_enum("sinew.preset", "preset").recipe = name
    for k, stage in enumerate(stages):
        box = layout.box()
        row = box.row(align=True)
        row.prop(stage, "method", text="")
        for action, icon in (("UP", "TRIA_UP"), ("REMOVE", "X")):
            button = row.operator("sinew.stage", text="", icon=icon)
            button.recipe, button.action, button.index = name, action, k
        column = box.column()
        column.use_property_split = True
        column.use_property_decorate = False
        methods.draw(column, stage.method, stage.values, mesh)
    add = layout.operator("sinew.stage", text="Add Stage", icon="ADD")
    add.recipe, add.action = name, "ADD"


class _Panel:
    bl_space_type, bl_region_type, bl_category = "VIEW_3D", "UI", "Sinew"

    @classmethod
    def poll(cls, context) -> bool:
        return operators.armature_of(context) is not None


class SINEW_PT_mesh(_Panel, bpy.types.Panel):
    bl_label, bl_idname = "Sinew", "SINEW_PT_mesh"

    @classmethod
    def poll(cls, context) -> bool:
        return operators.armature_of(context) is None and operators.SINEW_OT_fit_skeleton.poll(context)

    def draw(self, context) -> None:
        self.layout.operator("sinew.fit_skeleton", icon="ARMATURE_DATA")


class SINEW_PT_character(_Panel, bpy.types.Panel):
    bl_label, bl_idname = "Sinew", "SINEW_PT_character"

    def draw(self, context) -> None:
        layout = self.layout
        armature = operators.armature_of(context)
        character = armature.sinew
        row = layout.row(align=True)
        row.operator("sinew.bind", text="Bind Again" if character.bound else "Bind")
        row.operator("sinew.unbind", text="", icon="X")
        column = layout.column(align=True)  # the sidebar is too narrow for both in a row
        column.label(text="Vertices without weights")
        column.prop(character, "unweighted", text="")
        layout.operator("sinew.weights", icon="MOD_VERTEX_WEIGHT")
        if not character.bound:
            return
        state = live.runtime(armature)
        layout.prop(character, "live")
        if state.job is not None:
            share = f" {state.job.fraction:.0%}" if state.job.fraction > 0 else ""
            layout.label(text=state.message + share, icon="SORTTIME")
        elif state.message:
            layout.label(text=state.message, icon="SORTTIME")
        elif not state.error:
            layout.label(text=f"{state.milliseconds:.1f} ms" if state.milliseconds else "Bound", icon="CHECKMARK")
        if state.error:
            column = layout.column(align=True)
            column.alert = True
            for k, line in enumerate(textwrap.wrap(state.error, _columns(context))):
                column.label(text=line, icon="ERROR" if k == 0 else "BLANK1")


class SINEW_PT_recipe(_Panel, bpy.types.Panel):
    bl_label, bl_idname, bl_parent_id = "Recipe", "SINEW_PT_recipe", "SINEW_PT_character"

    def draw(self, context) -> None:
        _draw_recipe(self.layout, operators.armature_of(context).sinew, "first")


class SINEW_PT_compare(_Panel, bpy.types.Panel):
    bl_label, bl_idname, bl_parent_id = "Compare", "SINEW_PT_compare", "SINEW_PT_character"

    def draw_header(self, context) -> None:
        self.layout.prop(operators.armature_of(context).sinew, "compare", text="")

    def draw(self, context) -> None:
        layout = self.layout
        armature = operators.armature_of(context)
        character = armature.sinew
        column = layout.column()
        column.use_property_split, column.use_property_decorate = True, False
        column.prop(character, "colours")
        if character.colours == "DISTANCE" and character.compare:
            layout.label(text=f"Blue: 0, red: {legend.text(live.runtime(armature).largest_distance)}")
        if character.colours != "NONE":
            layout.operator("sinew.show_colours")
        if character.compare:
            layout.column().prop(character, "offset")
            _draw_recipe(layout, character, "second")


class SINEW_PT_bake(_Panel, bpy.types.Panel):
    bl_label, bl_idname, bl_parent_id = "Bake", "SINEW_PT_bake", "SINEW_PT_character"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context) -> None:
        armature = operators.armature_of(context)
        character, message = armature.sinew, live.runtime(armature).message
        if live.suspended and message:  # a bake runs
            column = self.layout.column(align=True)  # the sidebar is too narrow for both in a row
            column.label(text=message, icon="SORTTIME")
            column.label(text="Esc cancels", icon="BLANK1")
            return
        column = self.layout.column()
        column.use_property_split, column.use_property_decorate = True, False
        for name in ("folder", "format", "scene_range") + (() if character.bake_scene_range else ("first", "last")):
            column.prop(character, "bake_" + name)
        column.operator("sinew.bake", icon="RENDER_ANIMATION")


_classes = (SINEW_PT_mesh, SINEW_PT_character, SINEW_PT_recipe, SINEW_PT_compare, SINEW_PT_bake)


def register() -> None:
    for each in _classes:
        bpy.utils.register_class(each)


def unregister() -> None:
    for each in reversed(_classes):
        bpy.utils.unregister_class(each)
