"""Baking a frame range to point caches that Blender plays without this add-on."""

import pathlib
import typing

import bpy
import numpy as np
import sinew
from sinew._text import counted

from . import cache, connection, live, operators, snapshot

_STEP_SECONDS = 0.05  # between steps of a bake in the window


class _Frames:
    """Collects the poses of a frame range, some frames at a time, and puts the scene back."""

    def __init__(self, context, armature, first: int, last: int) -> None:
        self._context, self._armature = context, armature
        self._back, self._next, self.first, self.last = context.scene.frame_current, first, first, last
        self.count = last + 1 - first
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
    bl_idname, bl_label, bl_options = "sinew.bake", "Bake", {"UNDO"}

    _armature = _frames = _job = _timer = None

    @classmethod
    def poll(cls, context) -> bool:
        armature = operators.armature_of(context)
        bound = armature is not None and armature.sinew.bound
        cls.poll_message_set("Wait for the server" if bound else "Bind first")
        return bound and not live.suspended and live.runtime(armature).job is None

    def _start(self, context) -> None:
        """Raises BindError and sinew.Error."""
        self._armature = operators.armature_of(context)
        settings = self._armature.sinew
        first, last = context.scene.frame_start, context.scene.frame_end
        if not settings.bake_scene_range:
            first, last = settings.bake_first, settings.bake_last
        if last < first:
            raise snapshot.BindError(f"Last: got {last}, need {first}, the first frame, or more")
        if settings.bake_folder.startswith("//") and not bpy.data.filepath:
            raise snapshot.BindError("Folder: save the .blend file first, or choose a folder")
        folder = pathlib.Path(bpy.path.abspath(settings.bake_folder))
        cache.check_order(self._armature)
        self._character = live.character_of(self._armature)
        self._spaces = {part.source: part.to_object for part in live.runtime(self._armature).rest.parts}
        folder.mkdir(parents=True, exist_ok=True)
        self._frames = _Frames(context, self._armature, first, last)
        name = bpy.path.clean_name(self._armature.name)
        self._path = str(folder / f"{name}.{{mesh}}.{settings.bake_format}")
        self._fps = context.scene.render.fps / context.scene.render.fps_base

    def _bake(self, progress) -> typing.List[str]:
        return self._character.bake(self._frames.clip(self._fps), self._path, split=True, progress=progress,
                                    spaces=self._spaces, start_frame=max(self._frames.first, 0))

    def _finish(self, context, paths: typing.Sequence[str]) -> None:
        sources = [part.source for part in self._armature.sinew.parts]
        operators.unbind(self._armature)
        for source, path in zip(sources, paths):
            cache.play(source, self._armature, path, self._frames.first)
        self.report({"INFO"}, f"baked frames {self._frames.first} to {self._frames.last} to "
                    f"{counted(len(paths), 'cache')} in {pathlib.Path(paths[0]).parent}")

    def execute(self, context):
        try:
            self._start(context)
        except (snapshot.BindError, sinew.Error, OSError) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        try:
            self._frames.step(self._frames.count)
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
        self._say("Baking")
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
            self._say(f"Frame {len(self._frames.poses)} of {self._frames.count}")
            return {"RUNNING_MODAL"}
        if self._job is None:
            self._job = connection.Job(lambda job: self._bake(job.progress))
        self._say(f"Baking {self._job.fraction:.0%}")
        context.window_manager.progress_update(int(self._job.fraction * 100))
        if not self._job.done:
            return {"RUNNING_MODAL"}
        self._end(context)
        if self._job.error is not None:
            self.report({"ERROR"}, str(self._job.error))
            return {"CANCELLED"}
        self._finish(context, self._job.result)
        return {"FINISHED"}

    def _say(self, message: str) -> None:
        live.runtime(self._armature).message = message
        live.redraw()

    def _end(self, context) -> None:
        self._frames.end()
        self._say("")
        context.window_manager.progress_end()
        context.window_manager.event_timer_remove(self._timer)


def register() -> None:
    bpy.utils.register_class(SINEW_OT_bake)


def unregister() -> None:
    bpy.utils.unregister_class(SINEW_OT_bake)
