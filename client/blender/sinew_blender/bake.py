"""Baking a frame range to point caches that Blender plays without this add-on."""

import pathlib
import typing

import bpy
import numpy as np
import sinew
from sinew._text import counted

from . import connection, live, operators, snapshot

_STEP_SECONDS = 0.05  # between steps of a bake in the window
_BLEND_RELATIVE = {"PATH_SUPPORTS_BLEND_RELATIVE"} if bpy.app.version >= (4, 5, 0) else set()  # for a leading //


class _Frames:
    """Collects the poses of a frame range, some frames at a time, and puts the scene back."""

    def __init__(self, context, armature, first: int, last: int) -> None:
        self._context, self._armature = context, armature
        self._back, self._next, self.first, self.last = context.scene.frame_current, first, first, last
        self.poses: list = []
        self.controls: list = []
        live.suspended = True

    @property
    def done(self) -> bool:
        return self._next > self.last

    def step(self, count: int) -> None:
        for _ in range(min(count, self.last + 1 - self._next)):
            self._context.scene.frame_set(self._next)
            pose, controls = live.pose_of(self._armature, self._context.evaluated_depsgraph_get())
            self.poses.append(pose)
            self.controls.append(controls)
            self._next += 1

    def end(self) -> None:
        live.suspended = False
        self._context.scene.frame_set(self._back)

    def clip(self, fps: float) -> sinew.Poses:
        return sinew.Poses(np.array(self.poses), None if self.controls[0] is None else np.array(self.controls), fps)


class SINEW_OT_bake(bpy.types.Operator):
    """Bake the frame range to one point cache for each mesh, and let Blender's Mesh Cache modifier play them"""
    bl_idname, bl_label, bl_options = "sinew.bake", "Bake", {"REGISTER", "UNDO"}

    directory: bpy.props.StringProperty(name="Folder", subtype="DIR_PATH", default="//sinew_cache",
                                        options=_BLEND_RELATIVE,
                                        description="Where the caches go; // is the folder of the .blend file")
    format: bpy.props.EnumProperty(name="Format", items=(("pc2", "PC2", ""), ("mdd", "MDD", "")))
    first: bpy.props.IntProperty(name="First", description="Frame; the scene's first by default")
    last: bpy.props.IntProperty(name="Last", description="Frame; the scene's last by default")

    _armature = _frames = _job = _timer = None

    @classmethod
    def poll(cls, context) -> bool:
        armature = operators.armature_of(context)
        return armature is not None and armature.sinew.bound and not live.suspended

    def _start(self, context) -> None:
        """Raises BindError and sinew.Error."""
        if not self.properties.is_property_set("first"):
            self.first = context.scene.frame_start
        if not self.properties.is_property_set("last"):
            self.last = context.scene.frame_end
        if self.last < self.first:
            raise snapshot.BindError(f"Last: got {self.last}, need {self.first}, the first frame, or more")
        folder = pathlib.Path(bpy.path.abspath(self.directory))
        if self.directory.startswith("//") and not bpy.data.filepath:
            raise snapshot.BindError("Folder: save the .blend file first, or choose a folder")
        self._armature = operators.armature_of(context)
        _check_order(self._armature)
        character = live.character_of(self._armature)
        folder.mkdir(parents=True, exist_ok=True)
        self._frames = _Frames(context, self._armature, self.first, self.last)
        name = bpy.path.clean_name(self._armature.name)
        self._path = str(folder / f"{name}.{{mesh}}.{self.format}")
        self._character = character
        self._fps = context.scene.render.fps / context.scene.render.fps_base

    def _bake(self, progress) -> typing.List[str]:
        parts = live.runtime(self._armature).rest.parts
        return self._character.bake(self._frames.clip(self._fps), self._path, split=True, progress=progress,
                                    spaces={part.source: part.to_object for part in parts})

    def _finish(self, context, paths: typing.Sequence[str]) -> None:
        character = self._armature.sinew
        sources = [part.source for part in character.parts]
        operators.unbind(self._armature)
        for source, path in zip(sources, paths):
            _play(source, self._armature, path, self.format, self.first)
        self.report({"INFO"}, f"baked frames {self.first} to {self.last} to {counted(len(paths), 'cache')}")

    def execute(self, context):
        try:
            self._start(context)
        except (snapshot.BindError, sinew.Error, OSError) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        try:
            self._frames.step(self.last + 1 - self.first)
            paths = self._bake(None)
        except sinew.Error as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        finally:
            self._frames.end()
        self._finish(context, paths)
        return {"FINISHED"}

    def invoke(self, context, _event):
        try:
            self._start(context)
        except (snapshot.BindError, sinew.Error, OSError) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        context.window_manager.progress_begin(0, 100)
        self._timer = context.window_manager.event_timer_add(_STEP_SECONDS, window=context.window)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        if event.type == "ESC":
            if self._job is not None:
                self._job.cancel(timeout=5.0)
            self._end(context)
            self.report({"INFO"}, "bake cancelled; no cache is written")
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        if not self._frames.done:
            self._frames.step(1)
            return {"RUNNING_MODAL"}
        if self._job is None:
            self._job = connection.Job(lambda job: self._bake(job.progress))
        state = live.runtime(self._armature)
        state.message = f"Baking {self._job.fraction:.0%}, Esc cancels"
        context.window_manager.progress_update(int(self._job.fraction * 100))
        if not self._job.done:
            return {"RUNNING_MODAL"}
        self._end(context)
        if self._job.error is not None:
            self.report({"ERROR"}, str(self._job.error))
            return {"CANCELLED"}
        self._finish(context, self._job.result)
        return {"FINISHED"}

    def _end(self, context) -> None:
        self._frames.end()
        live.runtime(self._armature).message = ""
        context.window_manager.progress_end()
        context.window_manager.event_timer_remove(self._timer)


def _check_order(armature: bpy.types.Object) -> None:
    """Overrides keep the modifiers of their library before new ones. Raises BindError."""
    for part in armature.sinew.parts:
        armature_last = part.source is None or not part.source.modifiers or \
            part.source.modifiers[-1] == snapshot.armature_modifier(part.source, armature)
        if not armature_last and part.source.override_library:
            raise snapshot.BindError(f"{part.source.name}: a cache cannot go before the modifiers after Armature of a "
                                     "library override; make the object local first")


def _play(source: bpy.types.Object, armature: bpy.types.Object, path: str, kind: str, first: int) -> None:
    """Puts a Mesh Cache in the place of the Armature modifier, which is switched off with those before it."""
    before = snapshot.armature_modifier(source, armature)
    index = list(source.modifiers).index(before) + 1 if before is not None else 0
    for modifier in source.modifiers[:index]:
        modifier.show_viewport = modifier.show_render = False
    if source.parent_type == "ARMATURE":
        source.parent_type = "OBJECT"
    cache = source.modifiers.new("Sinew Cache", "MESH_CACHE")
    cache.cache_format = kind.upper()
    cache.filepath = bpy.path.relpath(path) if bpy.data.filepath else path
    cache.frame_start = first  # Blender does not read it from the file
    cache.forward_axis, cache.up_axis = "POS_Y", "POS_Z"  # the axes of the object
    while source.modifiers.find(cache.name) > index:
        with bpy.context.temp_override(object=source):
            bpy.ops.object.modifier_move_up(modifier=cache.name)


def register() -> None:
    bpy.utils.register_class(SINEW_OT_bake)


def unregister() -> None:
    bpy.utils.unregister_class(SINEW_OT_bake)
