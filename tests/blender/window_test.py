"""The add-on in a window, where it binds and waits for servers beside Blender's main thread.

Blender stays in its event loop; the tests are generators that a timer continues until what they wait for is there.
"""

import os
import re
import sys
import time
import traceback

import bpy
import numpy as np

sys.path.insert(0, os.path.dirname(__file__))
from base import FOLDER, diagonal, farthest, outputs, preferences, sinew_blender, state  # noqa: E402
from characters import add_camera, animate, chain, select, tube, world_points  # noqa: E402
from sinew.testing import Server  # noqa: E402

bpy.context.preferences.view.show_splash = False
ANGLES = (0.0, 0.4, 0.8)
SECONDS = 120  # longest wait; software rendering is slow


def until(condition, what):
    """Yields until the condition holds."""
    end = time.monotonic() + SECONDS
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not after {SECONDS} s")
        yield


def bend(armature, angle):
    armature.pose.bones["bone1"].rotation_euler.x = angle


class Character:
    """A tube on an armature, and what Blender's own modifier makes of its poses."""

    def __init__(self):
        bpy.data.batch_remove([*bpy.data.objects, *bpy.data.actions])
        preferences().server = "LOCAL"
        self.armature = chain()
        self.mesh = tube(self.armature, "Body", 0.5)
        for bone in self.armature.pose.bones:
            bone.rotation_mode = "XYZ"
        self.expected = {}
        for angle in reversed(ANGLES):
            bend(self.armature, angle)
            bpy.context.view_layer.update()
            self.expected[angle] = world_points(self.mesh)

    def bind(self, recipe="lbs"):
        select(self.armature)
        self.armature.sinew.first.set_text(recipe)
        assert bpy.ops.sinew.bind() == {"FINISHED"}

    def shows(self, angle):
        size = diagonal([self.expected[0.0]])
        points = [world_points(each) for each in outputs(self.armature)]
        return len(points) == 1 and farthest(points, [self.expected[angle]]) <= 2e-6 * size

    def poses(self):
        """Bends to each angle, and waits until it is shown."""
        for angle in ANGLES:
            bend(self.armature, angle)
            yield from until(lambda angle=angle: self.shows(angle), f"angle {angle}: {state(self.armature)}")


def test_live_poses():
    character = Character()
    character.bind()
    yield from character.poses()
    assert state(character.armature).error == "", state(character.armature).error


def animated_character():
    """Bound, and its points at frame 7."""
    character = Character()
    animate(character.armature)
    bpy.context.scene.frame_set(7)
    expected = [world_points(character.mesh)]
    character.bind()
    return character, expected


def test_playback():
    character, expected = animated_character()
    bpy.context.scene.frame_set(7)
    size = diagonal(expected)
    yield from until(lambda: farthest([world_points(outputs(character.armature)[0])], expected) <= 2e-6 * size,
                     "frame 7")
    bpy.context.scene.frame_set(1)


def test_server_is_lost_and_comes_back():
    character = Character()
    with Server() as server:
        preferences().address, preferences().server = server.address, "REMOTE"
        character.bind()
        yield from character.poses()
        server.stop()
        bend(character.armature, ANGLES[1])
        yield from until(lambda: state(character.armature).error, "an error")
        assert state(character.armature).message == "Waiting for the server"
        assert character.shows(ANGLES[-1])  # the last shape stays
        with Server(listen=server.address):
            yield from until(lambda: character.shows(ANGLES[1]), "the pose, once the server is back")
            assert state(character.armature).error == "", state(character.armature).error
    preferences().server = "LOCAL"


def test_bind_without_a_server():
    character = Character()
    preferences().address, preferences().server = "127.0.0.1:1", "REMOTE"
    bend(character.armature, ANGLES[2])
    bpy.context.view_layer.update()
    character.bind()
    assert character.shows(ANGLES[2])  # as the Armature modifier had it
    yield from until(lambda: state(character.armature).error, "an error")
    assert state(character.armature).error == "No server at 127.0.0.1:1 (connection refused)"
    assert character.shows(ANGLES[2])
    preferences().server = "LOCAL"
    yield from character.poses()
    assert state(character.armature).error == "", state(character.armature).error


def _view():
    return next(each for each in bpy.context.window.screen.areas if each.type == "VIEW_3D")


def _bake(armature, last):
    """Starts a bake once the character is bound."""
    yield from until(lambda: state(armature).milliseconds, "a frame")
    armature.sinew.bake_folder, armature.sinew.bake_scene_range = str(FOLDER / "cache"), False
    armature.sinew.bake_last = last
    area = _view()
    with bpy.context.temp_override(window=bpy.context.window, area=area, region=area.regions[-1]):
        assert bpy.ops.sinew.bake("INVOKE_DEFAULT") == {"RUNNING_MODAL"}
    assert state(armature).message == "Baking"


def test_bake_is_cancelled_with_escape():
    character = Character()
    animate(character.armature)
    character.bind()
    yield from _bake(character.armature, 2000)
    yield from until(lambda: bpy.context.scene.frame_current > 3, "the bake")
    message = state(character.armature).message
    assert re.fullmatch(r"Frame \d+ of 2000", message), message
    for value in ("PRESS", "RELEASE"):
        bpy.context.window.event_simulate(type="ESC", value=value, x=10, y=10)
    yield from until(lambda: not sinew_blender.live.suspended, "the end of the bake")
    assert character.armature.sinew.bound
    assert not list((FOLDER / "cache").iterdir())


def test_bake_plays():
    character, expected = animated_character()
    yield from _bake(character.armature, 10)
    yield from until(lambda: not character.armature.sinew.bound, "the bake")
    assert [each.name for each in character.mesh.modifiers] == ["Armature", "Sinew Cache"]
    bpy.context.scene.frame_set(7)
    assert farthest([world_points(character.mesh)], expected) <= 2e-6 * diagonal(expected)


def test_workbench_renders_the_heat_map():
    character = Character()
    animate(character.armature)
    character.armature.sinew.offset = (6, 0, 0)
    character.armature.sinew.second.set_text("dqs")
    character.armature.sinew.compare, character.armature.sinew.colours = True, "DISTANCE"
    green = bpy.data.materials.new("Green")
    green.diffuse_color = (0, 1, 0, 1)
    character.mesh.data.materials.append(green)
    character.bind()
    scene = bpy.context.scene
    add_camera()
    scene.render.engine, scene.frame_start, scene.frame_end = "BLENDER_WORKBENCH", 10, 10
    scene.render.resolution_x = scene.render.resolution_y = 96
    scene.render.filepath = str(FOLDER / "window")
    bpy.ops.sinew.show_colours()
    bpy.ops.render.render(animation=True)
    image = bpy.data.images.load(str(FOLDER / "window0010.png"))
    pixels = np.array(image.pixels).reshape(-1, 4)
    assert np.count_nonzero(pixels[:, 2] - pixels[:, 0] > 0.3) > 20  # blue
    assert np.count_nonzero(pixels[:, 0] - pixels[:, 2] > 0.3) > 5  # red
    assert np.count_nonzero(pixels[:, 1] - pixels[:, :3:2].max(axis=1) > 0.3) > 20  # green: the first keeps it
    scene.frame_set(10)
    yield from until(lambda: state(character.armature).largest_distance, "a heat map")
    pixels = _screenshot()
    region = next(each for each in _view().regions if each.type == "WINDOW")
    left, right = (pixels[region.y + 22, region.x + region.width // 2 + side] for side in (-75, 75))
    assert left[2] - left[0] > 0.3 and right[0] - right[2] > 0.3, (left, right)  # the legend: blue to red


def _screenshot():
    """(height, width, 4): the window, whose first row is the lowest."""
    path = str(FOLDER / "window.png")
    bpy.ops.wm.redraw_timer(type="DRAW_WIN_SWAP", iterations=1)
    bpy.ops.screen.screenshot(filepath=path)
    image = bpy.data.images.load(path)
    return np.array(image.pixels).reshape(image.size[1], image.size[0], 4)


def run(names):
    for name, test in list(globals().items()):
        if not name.startswith("test_") or names and name not in names:
            continue
        print(name, "...", flush=True)
        yield from test()
        print("ok", flush=True)


steps = run(sys.argv[sys.argv.index("--") + 1:])


def step():
    code = None
    try:
        with bpy.context.temp_override(window=bpy.context.window_manager.windows[0]):
            next(steps)
    except StopIteration:
        code = 0
    except BaseException:  # pylint: disable=broad-except
        traceback.print_exc()
        code = 1
    if code is not None:
        sys.stdout.flush()
        sinew_blender.connection.cancel_jobs()
        os._exit(code)  # does not ask to save the file
    return 0.05


bpy.app.timers.register(step, first_interval=1.0)
