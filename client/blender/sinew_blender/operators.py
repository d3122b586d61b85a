"""Binding, recipes, weights."""

import typing
import warnings

import bpy
import numpy as np
import sinew
from sinew._text import counted

from . import cache, connection, live, methods, output, snapshot


def armature_of(context) -> typing.Optional[bpy.types.Object]:
    """The armature that the active object is, is deformed by, or shows."""
    active = context.object
    if active is None or active.type == "ARMATURE":
        return active
    for each in context.scene.objects:
        if each.type == "ARMATURE" and any(active in (part.source, part.output, part.second)
                                           for part in each.sinew.parts):
            return each
    for modifier in active.modifiers:
        if modifier.type == "ARMATURE" and modifier.object is not None:
            return modifier.object
    return active.parent if active.parent is not None and active.parent.type == "ARMATURE" else None


def deforms(armature: bpy.types.Object, mesh: bpy.types.Object) -> bool:
    return snapshot.armature_modifier(mesh, armature) is not None or (
        mesh.parent == armature and mesh.parent_type == "ARMATURE")


def _chosen_meshes(context, armature: bpy.types.Object) -> typing.List[bpy.types.Object]:
    """The selected meshes of the armature, or all if none is selected."""
    shown = {each for part in armature.sinew.parts for each in (part.output, part.second)}
    meshes = [each for each in context.scene.objects
              if each.type == "MESH" and deforms(armature, each) and each not in shown]
    return [each for each in meshes if each.select_get()] or meshes


def unbind(armature: bpy.types.Object) -> None:
    """Removes the objects that show the character and shows its sources again."""
    character = armature.sinew
    for part in character.parts:
        output.remove(part.output)
        output.remove(part.second)
        if part.source is not None:
            output.hide_source(part.source, False)
    character.parts.clear()
    character.bound = False
    live.forget(armature)
    if bpy.context.view_layer.objects.active is None:  # it was one of those, and the panel needs one
        bpy.context.view_layer.objects.active = armature


class SINEW_OT_bind(bpy.types.Operator):
    """Bind the selected meshes to the recipe. Each is hidden, and a copy shows it deformed by Sinew"""
    bl_idname, bl_label, bl_options = "sinew.bind", "Bind", {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context) -> bool:
        return context.mode in ("OBJECT", "POSE", "PAINT_WEIGHT") and armature_of(context) is not None

    def execute(self, context):
        armature = armature_of(context)
        if armature.library is not None:
            self.report({"ERROR"}, f"{armature.name} is linked from a library; make a library override first")
            return {"CANCELLED"}
        character = armature.sinew
        meshes = [part.source for part in character.parts if part.source is not None] or \
            _chosen_meshes(context, armature)
        if not meshes:
            self.report({"ERROR"}, f"no mesh has an Armature modifier for {armature.name}")
            return {"CANCELLED"}
        if not character.first.stages:
            character.first.set_text("ddm")
        if not character.second.stages:
            character.second.set_text("lbs")
        try:
            names = character.first.map_names() + character.second.map_names()
            taken = snapshot.read(armature, meshes, character.unweighted, names)
        except (snapshot.BindError, sinew.Error) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        for warning in taken.warnings:
            self.report({"WARNING"}, warning)
        last = {part.source: output.points_of(part.output) for part in character.parts if part.output is not None}
        unbind(armature)
        for mesh in meshes:
            cache.remove(mesh, armature)
        shapes = [last[mesh] if len(last.get(mesh, ())) == len(mesh.data.vertices) else output.posed(mesh, armature)
                  for mesh in meshes]
        for mesh, shape in zip(meshes, shapes):
            part = character.parts.add()
            part.source = mesh
            part.output = output.make(mesh, armature, mesh.name + " (Sinew)", shape)
        for mesh in meshes:
            output.hide_source(mesh, True)
        output.make_second(armature)
        character.bound = True
        live.refresh_soon()
        self.report({"INFO"}, f"{counted(len(meshes), 'mesh', 'meshes')}, {taken.rig.vertices} vertices, "
                    f"{counted(len(taken.bones), 'bone')}")
        return {"FINISHED"}


class SINEW_OT_unbind(bpy.types.Operator):
    """Remove what Sinew shows and show the original meshes again"""
    bl_idname, bl_label, bl_options = "sinew.unbind", "Unbind", {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context) -> bool:
        armature = armature_of(context)
        return armature is not None and armature.sinew.bound

    def execute(self, context):
        unbind(armature_of(context))
        return {"FINISHED"}


class SINEW_OT_stage(bpy.types.Operator):
    """Add, remove or move a stage of the recipe"""
    bl_idname, bl_label, bl_options = "sinew.stage", "Stage", {"REGISTER", "UNDO"}

    recipe: bpy.props.EnumProperty(items=(("first", "First", ""), ("second", "Second", "")))
    action: bpy.props.EnumProperty(items=(("ADD", "Add", ""), ("REMOVE", "Remove", ""), ("UP", "Up", "")))
    index: bpy.props.IntProperty()

    def execute(self, context):
        stages = getattr(armature_of(context).sinew, self.recipe).stages
        if self.action == "ADD":
            stages.add().method = "relax" if len(stages) > 1 else "ddm"
        elif self.action == "REMOVE" and len(stages) > 1:
            stages.remove(self.index)
        elif self.action == "UP" and self.index > 0:
            stages.move(self.index, self.index - 1)
        live.refresh_soon()
        return {"FINISHED"}


def _preset_items(_self, _context) -> list:
    return methods.items(methods.PRESETS)


class SINEW_OT_preset(bpy.types.Operator):
    """Replace all stages by a common recipe"""
    bl_idname, bl_label, bl_options = "sinew.preset", "Presets", {"REGISTER", "UNDO"}

    recipe: bpy.props.EnumProperty(items=(("first", "First", ""), ("second", "Second", "")))
    preset: bpy.props.EnumProperty(items=_preset_items)

    def execute(self, context):
        getattr(armature_of(context).sinew, self.recipe).set_text(methods.PRESETS[self.preset]["recipe"])
        return {"FINISHED"}


class SINEW_OT_weights(bpy.types.Operator):
    """Compute skin weights of the selected meshes for the bones of the armature, into vertex groups"""
    bl_idname, bl_label, bl_options = "sinew.weights", "Compute Weights", {"REGISTER", "UNDO"}

    method: bpy.props.EnumProperty(name="Method", default="heat", items=(
        ("heat", "Bone heat", "Smooth weights by heat diffusion over the surface"),
        ("geodesic", "Geodesic", "By distance through the inside; for open and overlapping meshes"),
        ("capsule", "Capsule", "By distance from the bones; fast and rough")))
    max_influences: bpy.props.IntProperty(name="Influences", default=4, min=1, max=255,
                                          description="Most bones that move one vertex")

    @classmethod
    def poll(cls, context) -> bool:
        return context.mode == "OBJECT" and armature_of(context) is not None

    def invoke(self, context, _event):
        return context.window_manager.invoke_props_dialog(self)

    def execute(self, context):
        armature = armature_of(context)
        meshes = [each for each in context.selected_objects if each.type == "MESH"] or _chosen_meshes(context, armature)
        joints = [bone.name for bone in armature.data.bones if bone.use_deform]
        context.window.cursor_set("WAIT") if context.window else None
        try:
            _check_writable(meshes)
            taken = snapshot.read(armature, meshes, "REFUSE", need_weights=False)
            with warnings.catch_warnings(record=True) as doubts:
                warnings.simplefilter("always")
                weighted = connection.client().weights(taken.rig, self.method, self.max_influences, joints)
        except (snapshot.BindError, sinew.Error) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        finally:
            context.window.cursor_set("DEFAULT") if context.window else None
        for mesh_object, mesh in zip(meshes, weighted.meshes):
            _write_groups(mesh_object, weighted.joints, mesh.weights)
            if not deforms(armature, mesh_object):
                mesh_object.modifiers.new("Armature", "ARMATURE").object = armature
        live.forget(armature)
        live.refresh_soon()
        for doubt in doubts:
            self.report({"WARNING"}, str(doubt.message))
        self.report({"INFO"}, f"{self.method} weights for {counted(len(meshes), 'mesh', 'meshes')}")
        return {"FINISHED"}


class SINEW_OT_fit_skeleton(bpy.types.Operator):
    """Make an armature and place its bones in the selected meshes"""
    bl_idname, bl_label, bl_options = "sinew.fit_skeleton", "Fit Skeleton", {"REGISTER", "UNDO"}

    template: bpy.props.EnumProperty(name="Template", default="human", items=(
        ("human", "Human", "Two legs, two arms"), ("quadruped", "Quadruped", "Four legs, a tail"),
        ("horse", "Horse", "As quadruped, with heels"), ("centaur", "Centaur", "Four legs, two arms, a tail")))
    faces_forward: bpy.props.BoolProperty(name="Faces Forward", default=False,
                                          description="It faces -Y: try no other direction")
    scale: bpy.props.FloatProperty(name="Scale", default=1, min=0.5, max=2,
                                   description="Size of the template against that of the body")

    @classmethod
    def poll(cls, context) -> bool:
        return context.mode == "OBJECT" and any(each.type == "MESH" for each in context.selected_objects)

    def invoke(self, context, _event):
        return context.window_manager.invoke_props_dialog(self)

    def execute(self, context):
        meshes = [each for each in context.selected_objects if each.type == "MESH"]
        active = context.view_layer.objects.active
        armature = bpy.data.objects.new("Skeleton", bpy.data.armatures.new("Skeleton"))
        context.scene.collection.objects.link(armature)
        context.window.cursor_set("WAIT") if context.window else None
        try:
            _set_bones(context, armature, ["root"], [-1], np.zeros((1, 3)))
            taken = snapshot.read(armature, meshes, "REFUSE", need_weights=False)
            fit = connection.client().fit_skeleton(taken.rig, self.template, scale=self.scale,
                                                   faces_forward=self.faces_forward)
        except (snapshot.BindError, sinew.Error) as error:
            bpy.data.armatures.remove(armature.data)  # and the object
            context.view_layer.objects.active = active
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        finally:
            context.window.cursor_set("DEFAULT") if context.window else None
        _set_bones(context, armature, fit.rig.joints, fit.rig.parents, fit.rig.rest_pose[:, :, 3])
        armature.show_in_front = True
        armature.select_set(True)
        for warning in fit.warnings:
            self.report({"WARNING"}, warning)
        self.report({"INFO"}, f"{counted(len(fit.rig.joints), 'bone')}, residual {fit.residual:.3f}; "
                    "look at them before you compute weights")
        return {"FINISHED"}


def _set_bones(context, armature: bpy.types.Object, names: typing.Sequence[str], parents: typing.Sequence[int],
               places: np.ndarray) -> None:
    """Replaces all bones. Each ends where its only child begins, or goes on in the direction of its parent."""
    context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    try:
        bones = armature.data.edit_bones
        for bone in list(bones):
            bones.remove(bone)
        size = max(np.ptp(places, axis=0).max(), 1e-3)
        for j, (name, parent, place) in enumerate(zip(names, parents, places)):
            below = [k for k, other in enumerate(parents) if other == j]
            end = places[below[0]] - place if len(below) == 1 else np.zeros(3)
            if np.linalg.norm(end) < 1e-3 * size and parent >= 0:
                end = 0.5 * (place - places[parent])
            if np.linalg.norm(end) < 1e-3 * size:
                end = np.array([0, 0, 0.1 * size])
            bone = bones.new(name)
            bone.head, bone.tail = place, place + end
            bone.parent = bones[names[parent]] if parent >= 0 else None
    finally:
        bpy.ops.object.mode_set(mode="OBJECT")


def _check_writable(meshes: typing.Sequence[bpy.types.Object]) -> None:
    for each in meshes:
        if each.data.library is not None:
            raise snapshot.BindError(f"{each.name}: its mesh is linked from a library, which cannot take weights; "
                                     "make it local first")


def _write_groups(mesh_object: bpy.types.Object, joints: typing.Sequence[str], weights: np.ndarray) -> None:
    for joint, column in zip(joints, weights.T):
        group = mesh_object.vertex_groups.get(joint)
        if group is not None:
            mesh_object.vertex_groups.remove(group)
        vertices = np.flatnonzero(column)
        if len(vertices):
            group = mesh_object.vertex_groups.new(name=joint)
            for v in vertices:
                group.add([int(v)], float(column[v]), "REPLACE")


class SINEW_OT_show_colours(bpy.types.Operator):
    """Show the colours in this viewport, with solid shading by attribute, and in renders with Workbench"""
    bl_idname, bl_label = "sinew.show_colours", "Show Colours"

    def execute(self, context):
        for area in context.screen.areas if context.screen else ():
            if area.type == "VIEW_3D":
                area.spaces.active.shading.type = "SOLID"
                area.spaces.active.shading.color_type = "VERTEX"
        context.scene.display.shading.color_type = "VERTEX"
        return {"FINISHED"}


_classes = (SINEW_OT_bind, SINEW_OT_unbind, SINEW_OT_stage, SINEW_OT_preset, SINEW_OT_weights,
            SINEW_OT_fit_skeleton, SINEW_OT_show_colours)


def register() -> None:
    for each in _classes:
        bpy.utils.register_class(each)


def unregister() -> None:
    for each in reversed(_classes):
        bpy.utils.unregister_class(each)
