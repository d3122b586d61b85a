"""Characters of this Blender process: bound to their recipes, and deformed when their pose changes.

Nothing here is stored in the .blend file. In the viewport, binding and waiting for a lost server happen in a job, and the
last shape stays meanwhile. Final renders and background Blender wait instead.
"""

import contextlib
import dataclasses
import sys
import time
import typing

import bpy
import numpy as np
import sinew
from bpy.app.handlers import persistent

from . import connection, output, snapshot

_POLL_SECONDS = 0.1  # between looks at running jobs
_ROUNDING = 1e-5  # of the size of a character: smaller distances are not worth a heat map


@dataclasses.dataclass
class Runtime:
    """What is known about a bound character."""
    rest: typing.Optional[snapshot.Snapshot] = None
    maps: typing.Tuple[str, ...] = ()
    generation: int = -1  # of the connection
    characters: typing.Dict[str, sinew.Character] = dataclasses.field(default_factory=dict)  # by recipe text
    failed: typing.Dict[str, str] = dataclasses.field(default_factory=dict)  # recipes that cannot be bound, and why
    job: typing.Optional[connection.Job] = None
    offline: bool = False  # the server did not answer in time; a job waits for it
    shown: typing.Any = None  # what the outputs show
    message: str = ""
    error: str = ""
    printed: typing.Tuple[int, str] = (0, "")  # frame and error, the last on the console
    milliseconds: float = 0.0  # of the last frame
    largest_distance: float = 0.0  # between first and second, in the world


_runtimes: typing.Dict[str, Runtime] = {}  # by the name of the armature object
_busy = False  # a handler runs: what it writes causes no further updates
suspended = False  # while a bake steps through the frames, or a recipe is half made


@contextlib.contextmanager
def suspend() -> typing.Iterator[None]:
    """Nothing is updated meanwhile."""
    global suspended
    before, suspended = suspended, True
    try:
        yield
    finally:
        suspended = before


def runtime(armature: bpy.types.Object) -> Runtime:
    return _runtimes.setdefault(armature.name_full, Runtime())


def forget(armature: bpy.types.Object) -> None:
    """Binds again at the next update, with the objects as they are then."""
    old = _runtimes.pop(armature.name_full, None)
    if old is not None and old.job is not None:
        old.job.cancel()


def bound_armatures(scene: bpy.types.Scene) -> typing.List[bpy.types.Object]:
    return [each for each in scene.objects if each.type == "ARMATURE" and each.sinew.bound]


def _wanted(armature: bpy.types.Object) -> typing.List[str]:
    character = armature.sinew
    return [character.first.text] + ([character.second.text] if character.compare else [])


def _read(armature: bpy.types.Object, state: Runtime) -> None:
    """Raises BindError."""
    character = armature.sinew
    maps = tuple(character.first.map_names() + (character.second.map_names() if character.compare else []))
    if state.rest is not None and state.generation == connection.generation and set(maps) <= set(state.maps):
        return
    sources = [part.source for part in character.parts]
    for part in character.parts:
        if part.source is None or part.output is None:
            raise snapshot.BindError("an object of the character was deleted; bind again")
        if len(part.source.data.vertices) != len(part.output.data.vertices):
            raise snapshot.BindError(f"{part.source.name}: its vertices have changed; bind again")
    state.rest = snapshot.read(armature, sources, character.unweighted, maps)
    state.maps, state.generation = maps, connection.generation
    state.characters, state.failed, state.shown = {}, {}, None


def _bind(client: sinew.Client, rig: sinew.Rig, recipes: typing.Sequence[str], progress) -> tuple:
    """Characters, and messages of recipes that cannot be bound. Raises sinew.Unavailable and sinew.Timeout."""
    characters, failed = {}, {}
    for k, recipe in enumerate(recipes):
        try:
            characters[recipe] = client.character(rig, recipe, lambda part: progress((k + part) / len(recipes)))
        except (sinew.Unavailable, sinew.Timeout):
            raise
        except sinew.Error as error:
            failed[recipe] = str(error)
    return characters, failed


def _missing(armature: bpy.types.Object, state: Runtime) -> typing.List[str]:
    return [text for text in _wanted(armature) if text not in state.characters and text not in state.failed]


def _ready(armature: bpy.types.Object, state: Runtime, wait: bool) -> bool:
    """Whether all recipes are bound or cannot be. Starts a job that binds, or binds now."""
    _read(armature, state)
    client = connection.client()  # also where all is bound: the user may have forbidden the network since
    recipes = _missing(armature, state)
    if not recipes:
        return True
    rig = state.rest.rig
    if wait:
        characters, failed = _bind(client, rig, recipes, lambda fraction: None)
        state.characters.update(characters)
        state.failed.update(failed)
        return True
    if state.job is None:
        state.message = "Binding"
        state.job = connection.Job(lambda job: _bind_job(job, client, rig, recipes))
        _poll()
    return False


def _bind_job(job: connection.Job, client: sinew.Client, rig: sinew.Rig, recipes: typing.Sequence[str]) -> tuple:
    while True:
        try:
            return _bind(client, rig, recipes, job.progress)
        except (sinew.Unavailable, sinew.Timeout) as error:
            job.wait_for_server(error)


def _reach_job(job: connection.Job, character: sinew.Character, pose, controls) -> tuple:
    """Ends once the server answers. A lost session is made again by this call."""
    while True:
        try:
            character.deform(pose, controls, deadline=60)
            return {}, {}
        except (sinew.Unavailable, sinew.Timeout) as error:
            job.wait_for_server(error)


def _poll() -> None:
    if not bpy.app.background and not bpy.app.timers.is_registered(_poll_jobs):
        bpy.app.timers.register(_poll_jobs, first_interval=_POLL_SECONDS)


def _poll_jobs() -> typing.Optional[float]:
    running = False
    for name, state in list(_runtimes.items()):
        if state.job is None:
            continue
        if not state.job.done:
            running = True
            if state.job.lacks is not None:
                state.message, state.error = "Waiting for the server", connection.failure(state.job.lacks)
            elif state.job.fraction > 0:  # it has answered
                state.message, state.error = "Binding", ""
            continue
        job, state.job, state.offline, state.message = state.job, None, False, ""
        if job.error is not None:
            state.error = str(job.error)
        else:
            state.characters.update(job.result[0])
            state.failed.update(job.result[1])
        if name in bpy.data.objects:
            refresh_soon()
    redraw()
    return _POLL_SECONDS if running else None


def redraw() -> None:
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()


def _controls(armature: bpy.types.Object, state: Runtime, depsgraph: bpy.types.Depsgraph) -> typing.Optional[np.ndarray]:
    return state.rest.controls([output.shape_values(part.source, part.output, depsgraph)
                                    for part in armature.sinew.parts])


def pose_of(armature: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> tuple:
    """Joint matrices and control values of a bound character at a depsgraph's time."""
    state = runtime(armature)
    return state.rest.pose(armature.evaluated_get(depsgraph)), _controls(armature, state, depsgraph)


def character_of(armature: bpy.types.Object) -> sinew.Character:
    """The character of the first recipe, with waiting for its bind. Raises BindError and sinew.Error."""
    state = runtime(armature)
    _ready(armature, state, wait=True)
    recipe = armature.sinew.first.text
    if recipe in state.failed:
        raise snapshot.BindError(state.failed[recipe])
    return state.characters[recipe]


def update(armature: bpy.types.Object, depsgraph: bpy.types.Depsgraph, wait: bool = False) -> None:
    """Shows the character's pose. Never raises for what a server or a user does; see Runtime.error.

    wait: until it is bound and deformed, at most for the deadline of renders.
    """
    state = runtime(armature)
    _drop_job_of_other_server(state)
    try:
        if wait or not state.offline:
            _update(armature, state, depsgraph, wait)
    except (sinew.Unavailable, sinew.Timeout, sinew.NotFound) as error:
        state.error = connection.failure(error)
        if not wait:
            _wait_for_server(armature, state, depsgraph)
    except (sinew.Error, snapshot.BindError) as error:
        state.error = str(error)
    failure = (depsgraph.scene.frame_current, state.error)
    if wait and state.error and state.printed != failure:  # a render evaluates a frame more than once
        print(f"Sinew: {armature.name}, frame {failure[0]} is not deformed: {state.error}", file=sys.stderr)
    if wait:
        state.printed = failure


def _drop_job_of_other_server(state: Runtime) -> None:
    """It may wait without end for a server that is no longer chosen."""
    if state.job is not None and state.generation != connection.generation:
        state.job.cancel()
        state.job, state.offline, state.message = None, False, ""


def _wait_for_server(armature: bpy.types.Object, state: Runtime, depsgraph: bpy.types.Depsgraph) -> None:
    state.offline, state.message = True, "Waiting for the server"
    character = next(iter(state.characters.values()), None)
    if state.job is None and character is not None:
        pose, controls = pose_of(armature, depsgraph)
        state.job = connection.Job(lambda job: _reach_job(job, character, pose, controls))
    _poll()


def _update(armature: bpy.types.Object, state: Runtime, depsgraph: bpy.types.Depsgraph, wait: bool) -> None:
    ready = _ready(armature, state, wait)
    recipes = _wanted(armature)
    errors = [state.failed[text] for text in recipes if text in state.failed]
    state.error = "; ".join(errors)
    if not ready or errors:
        return
    settings = armature.sinew
    pose, controls = pose_of(armature, depsgraph)
    shown = (pose.tobytes(), None if controls is None else controls.tobytes(), tuple(recipes), settings.colours)
    if shown == state.shown:
        return
    limit = connection.preferences().render_deadline if wait else connection.preferences().deadline
    start = time.perf_counter()
    frames = []
    for text in recipes:
        left = max(limit - (time.perf_counter() - start), 0.01)  # all recipes share the time
        # Half the bytes while an artist moves a joint; renders get every bit.
        compact = connection.is_remote() and not wait
        frames.append(state.characters[text].deform(pose, controls, vertex_status=settings.colours == "STATUS",
                                                    compact=compact, deadline=left))
    for part, place in zip(settings.parts, state.rest.parts):
        for frame, target in zip(frames, (part.output, part.second)):
            if target is None or len(target.data.vertices) != place.last - place.first:
                raise snapshot.BindError("an object that shows the character was changed or deleted; bind again")
    positions = [frame.positions for frame in frames]
    _write(settings, state.rest, positions)
    _colour(settings, state, frames, positions)
    state.shown = shown
    state.milliseconds = (time.perf_counter() - start) * 1000


def _write(settings, rest: snapshot.Snapshot, positions: typing.Sequence[np.ndarray]) -> None:
    for part, place in zip(settings.parts, rest.parts):
        matrix = place.to_object.astype(np.float32)
        identity = np.array_equal(matrix, np.eye(4, dtype=np.float32)[:3])
        for points, target in zip(positions, (part.output, part.second)):
            own = points[place.first:place.last]
            output.write_positions(target, own if identity else own @ matrix[:, :3].T + matrix[:, 3])


def _colour(settings, state: Runtime, frames: typing.Sequence[sinew.Frame], positions) -> None:
    colours: typing.List[typing.Optional[np.ndarray]] = [None, None]
    if settings.colours == "STATUS":
        for k, frame in enumerate(frames):
            status = frame.vertex_status
            if status is not None:
                colours[k] = output.STATUS_COLOURS[np.minimum(status, len(output.STATUS_COLOURS) - 1)]
    elif settings.colours == "DISTANCE" and len(positions) == 2:
        to_world = np.array(settings.id_data.matrix_world, np.float32)[:3, :3].T
        distances = np.linalg.norm((positions[1] - positions[0]) @ to_world, axis=1)
        size = float(np.linalg.norm(np.ptp(positions[0] @ to_world, axis=0)))
        state.largest_distance = max(float(distances.max()), _ROUNDING * size)
        colours[1] = output.heat(distances, state.largest_distance)
    for part, place in zip(settings.parts, state.rest.parts):
        for each, target in zip(colours, (part.output, part.second)):
            if each is not None:
                output.write_colours(target, each[place.first:place.last])
            elif target is not None and any(other is not None for other in colours):
                output.write_materials(target)
            elif target is not None:
                output.remove_colours(target)


def _update_scene(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    global _busy
    if _busy or suspended:
        return
    _busy = True
    try:
        wait = bpy.app.background or depsgraph.mode == "RENDER"
        for armature in bound_armatures(scene):
            if armature.sinew.live:
                update(armature, depsgraph, wait)
    finally:
        _busy = False


@persistent
def _frame_changed(scene, depsgraph) -> None:
    _update_scene(scene, depsgraph)


@persistent
def _pose_changed(scene, depsgraph) -> None:
    if any(isinstance(each.id, (bpy.types.Armature, bpy.types.Key)) or
           isinstance(each.id, bpy.types.Object) and each.id.type == "ARMATURE" for each in depsgraph.updates):
        _update_scene(scene, depsgraph)


@persistent
def _undone(_scene, *_) -> None:
    for state in _runtimes.values():
        state.shown = None  # the meshes are those of another time
    refresh_soon()


@persistent
def _loaded(*_) -> None:
    for state in _runtimes.values():
        if state.job is not None:
            state.job.cancel()
    _runtimes.clear()
    refresh_soon()


def _refresh_now() -> None:
    context = bpy.context
    if context.scene is not None:
        _update_scene(context.scene, context.evaluated_depsgraph_get())
        redraw()


def refresh_soon() -> None:
    """Updates all characters of the scene once Blender is idle; in background Blender, now."""
    if bpy.app.background:
        _refresh_now()
    elif not bpy.app.timers.is_registered(_refresh_now):
        bpy.app.timers.register(_refresh_now, first_interval=0.0)


# Update callbacks of properties.


def refresh(_self, _context) -> None:
    refresh_soon()


def recipe_changed(_self, _context) -> None:
    refresh_soon()


def compare_changed(self, _context) -> None:
    if self.bound:
        with suspend():
            output.make_second(self.id_data)
        runtime(self.id_data).shown = None
        refresh_soon()


def offset_changed(self, _context) -> None:
    if self.bound and self.compare:
        output.place_second(self.id_data)


_handlers = (("frame_change_post", _frame_changed), ("depsgraph_update_post", _pose_changed), ("undo_post", _undone),
             ("redo_post", _undone), ("load_post", _loaded))


def register() -> None:
    for name, handler in _handlers:
        getattr(bpy.app.handlers, name).append(handler)


def unregister() -> None:
    for name, handler in _handlers:
        getattr(bpy.app.handlers, name).remove(handler)
    for timer in (_poll_jobs, _refresh_now):
        if bpy.app.timers.is_registered(timer):
            bpy.app.timers.unregister(timer)
    connection.cancel_jobs()
    _runtimes.clear()
    connection.reset()
