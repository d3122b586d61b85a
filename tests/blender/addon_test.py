"""The add-on in background Blender: as a user installs it, on characters that are authored here.

Handlers, operators and files are the real ones; what needs a window is not covered.
"""

import os
import pathlib
import signal
import sys
import time
import unittest

import bpy
import numpy as np

sys.path.insert(0, os.path.dirname(__file__))
from characters import add_shape, animate, chain, new_scene, select, tube, world_points  # noqa: E402
from sinew.testing import Server  # noqa: E402

import sinew_blender  # noqa: E402

FRAMES = (1, 4, 7, 10)
FOLDER = pathlib.Path(os.environ["SINEW_TEST_FOLDER"])


def preferences():
    return bpy.context.preferences.addons["sinew_blender"].preferences


def state(armature):
    return sinew_blender.live.runtime(armature)


class AddonTest(unittest.TestCase):

    def setUp(self):
        self.scene = new_scene()
        preferences().server = "LOCAL"

    def make(self):
        """Two meshes, of which one is scaled and has a shape key."""
        armature = chain()
        meshes = [tube(armature, "Body", 0.5), tube(armature, "Cloth", 0.6)]
        meshes[1].scale, meshes[1].location = (1.1, 1.3, 0.9), (0.1, 0, 0.1)
        add_shape(meshes[0])
        animate(armature)
        self.scene.frame_set(1)
        return armature, meshes

    def bind(self, armature, recipe):
        select(armature)
        armature.sinew.first.set_text(recipe)
        self.assertEqual(bpy.ops.sinew.bind(), {"FINISHED"})

    def at_frames(self, objects, frames=FRAMES):
        """World points by frame, one array for each object."""
        points = {}
        for frame in frames:
            self.scene.frame_set(frame)
            points[frame] = [world_points(each) for each in objects]
        return points

    def assert_close(self, got, expected, tolerance):
        diagonal = np.linalg.norm(np.ptp(np.concatenate(expected[1]), axis=0))
        for frame, points in expected.items():
            for one, other in zip(got[frame], points):
                self.assertLessEqual(np.abs(one - other).max(), tolerance * diagonal, f"frame {frame}")

    def outputs(self, armature):
        return [part.output for part in armature.sinew.parts]


class Accuracy(AddonTest):

    def test_lbs_and_dqs_are_blenders_own(self):
        armature, meshes = self.make()
        for preserve_volume, recipe in ((False, "shapes | lbs"), (True, "shapes | dqs")):
            for each in meshes:
                each.modifiers["Armature"].use_deform_preserve_volume = preserve_volume
            expected = self.at_frames(meshes)
            self.bind(armature, recipe)
            self.assert_close(self.at_frames(self.outputs(armature)), expected, 2e-6)
            self.assertEqual(state(armature).error, "")
            bpy.ops.sinew.unbind()

    def test_parent_with_armature_deform(self):
        armature = chain()
        mesh = tube(armature, "Body", 0.5)
        mesh.modifiers.clear()
        mesh.parent_type = "ARMATURE"
        animate(armature)
        expected = self.at_frames([mesh])
        self.bind(armature, "lbs")
        self.assert_close(self.at_frames(self.outputs(armature)), expected, 2e-6)

    def test_modifiers_after_armature_stay(self):
        armature, meshes = self.make()
        meshes[1].modifiers.new("Subdivision", "SUBSURF")
        expected = self.at_frames(meshes)
        self.bind(armature, "shapes | lbs")
        self.assert_close(self.at_frames(self.outputs(armature)), expected, 2e-6)

    def test_constraints_move_bones(self):
        armature = chain()
        mesh = tube(armature, "Body", 0.5)
        target = bpy.data.objects.new("Target", None)
        self.scene.collection.objects.link(target)
        for frame, place in ((1, (1, 2, 11)), (10, (6, 2, 6))):
            target.location = place
            target.keyframe_insert("location", frame=frame)
        armature.pose.bones["bone3"].constraints.new("IK").target = target
        expected = self.at_frames([mesh])
        self.assertGreater(np.abs(expected[10][0] - expected[1][0]).max(), 0.5)
        self.bind(armature, "lbs")
        self.assert_close(self.at_frames(self.outputs(armature)), expected, 2e-6)


class Scenes(AddonTest):

    def test_hidden_source_and_second_recipe(self):
        armature, meshes = self.make()
        self.bind(armature, "shapes | lbs")
        self.assertTrue(all(each.hide_get() and each.hide_render for each in meshes))
        armature.sinew.second.set_text("shapes | ddm")
        armature.sinew.colours = "DISTANCE"
        armature.sinew.compare = True
        self.scene.frame_set(1)  # at rest, where both are equal
        seconds = [part.second for part in armature.sinew.parts]
        for second, part in zip(seconds, armature.sinew.parts):
            moved = world_points(second) - world_points(part.output)
            np.testing.assert_allclose(moved, np.broadcast_to(armature.sinew.offset, moved.shape), atol=2e-5)
        self.scene.frame_set(7)
        self.assertGreater(state(armature).largest_distance, 0.01)
        self.assertIn("Sinew", seconds[0].data.color_attributes)
        armature.sinew.compare = False
        self.assertIsNone(armature.sinew.parts[0].second)
        bpy.ops.sinew.unbind()
        self.assertFalse(any(each.hide_get() or each.hide_render for each in meshes))
        self.assertEqual(len(bpy.data.meshes), 2)

    def test_saved_file_deforms_after_loading(self):
        armature, _ = self.make()
        self.bind(armature, "shapes | ddm(iterations=7)")
        expected = self.at_frames(self.outputs(armature))
        path = str(FOLDER / "saved.blend")
        bpy.ops.wm.save_as_mainfile(filepath=path)
        bpy.ops.wm.open_mainfile(filepath=path)
        self.scene = bpy.context.scene
        armature = bpy.data.objects["Rig"]
        self.assertEqual(armature.sinew.first.text, "shapes | ddm(iterations=7)")
        self.assert_close(self.at_frames(self.outputs(armature)), expected, 0)

    def test_final_render_has_each_pose(self):
        armature, _ = self.make()
        self.bind(armature, "shapes | dqs")
        camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
        camera.location, camera.data.clip_end = (1, -30, 6), 100
        camera.rotation_euler = (1.5, 0, 0)
        self.scene.collection.objects.link(camera)
        self.scene.camera = camera
        self.scene.render.engine = "CYCLES"
        self.scene.cycles.samples, self.scene.cycles.use_denoising = 1, False
        self.scene.render.resolution_x = self.scene.render.resolution_y = 48
        pictures = []
        for frame in (1, 10):
            self.scene.frame_start = self.scene.frame_end = frame
            self.scene.render.filepath = str(FOLDER / "render")
            bpy.ops.render.render(animation=True)
            pictures.append((FOLDER / f"render{frame:04d}.png").read_bytes())
        self.assertNotEqual(*pictures)

    def test_two_scenes(self):
        armature, meshes = self.make()
        expected = self.at_frames(meshes)
        self.bind(armature, "shapes | lbs")
        other = bpy.data.scenes.new("Other")
        for each in [armature, *meshes, *self.outputs(armature)]:
            other.collection.objects.link(each)
        self.scene.frame_set(1)
        bpy.context.window.scene = other
        self.scene = other
        self.assert_close(self.at_frames(self.outputs(armature)), expected, 2e-6)

    def test_objects_that_share_a_mesh(self):
        armature = chain()
        first = tube(armature, "Left", 0.5)
        second = first.copy()
        second.name, second.location = "Right", (2, 0, 0)
        self.scene.collection.objects.link(second)
        animate(armature)
        expected = self.at_frames([first, second])
        self.bind(armature, "lbs")
        self.assert_close(self.at_frames(self.outputs(armature)), expected, 2e-6)


class Vertices(AddonTest):

    def unweighted(self):
        armature = chain()
        mesh = tube(armature, "Body", 0.5)
        animate(armature)
        for group in mesh.vertex_groups:
            group.remove(range(10))
        return armature, mesh

    def test_refused_until_chosen(self):
        armature, _ = self.unweighted()
        select(armature)
        with self.assertRaisesRegex(RuntimeError, "10 vertices are in no group"):
            bpy.ops.sinew.bind()
        self.assertFalse(armature.sinew.bound)

    def test_still_is_what_the_modifier_does(self):
        armature, mesh = self.unweighted()
        armature.sinew.unweighted = "STILL"
        expected = self.at_frames([mesh])
        self.bind(armature, "lbs")
        self.assert_close(self.at_frames(self.outputs(armature)), expected, 2e-6)

    def test_nearest_moves_with_the_neighbours(self):
        armature, mesh = self.unweighted()
        armature.sinew.unweighted = "NEAREST"
        expected = self.at_frames([mesh])
        self.bind(armature, "lbs")
        got = self.at_frames(self.outputs(armature))
        self.assertGreater(np.abs(got[10][0][:10] - expected[10][0][:10]).max(), 0.1)
        np.testing.assert_allclose(got[10][0][10:], expected[10][0][10:], atol=1e-5)

    def test_weights_are_written_to_groups(self):
        armature = chain()
        mesh = tube(armature, "Body", 0.5)
        mesh.vertex_groups.clear()
        select(armature, mesh)
        bpy.ops.sinew.weights(method="heat", max_influences=3)
        self.assertEqual({group.name for group in mesh.vertex_groups}, {bone.name for bone in armature.data.bones})
        for vertex in mesh.data.vertices:
            self.assertLessEqual(len(vertex.groups), 3)
            self.assertAlmostEqual(sum(group.weight for group in vertex.groups), 1, places=4)

    def test_map_of_a_vertex_group(self):
        armature = chain()
        mesh = tube(armature, "Body", 0.5)
        mesh.vertex_groups.new(name="Twist").add(range(len(mesh.data.vertices)), 0.0, "REPLACE")
        animate(armature)
        expected = self.at_frames([mesh])
        self.bind(armature, "dqs(blend_map=Twist)")  # 0 everywhere: linear blending
        self.assert_close(self.at_frames(self.outputs(armature)), expected, 2e-6)


class Bakes(AddonTest):

    def test_cache_plays_without_the_addon(self):
        armature, meshes = self.make()
        self.bind(armature, "shapes | ddm")
        expected = self.at_frames(self.outputs(armature))
        for kind in ("pc2", "mdd"):
            self.assertEqual(bpy.ops.sinew.bake(directory=str(FOLDER / kind), format=kind, first=1, last=10),
                             {"FINISHED"})
            self.assertFalse(armature.sinew.bound)
            self.assertFalse(meshes[0].modifiers["Armature"].show_viewport)
            self.assert_close(self.at_frames(meshes), expected, 2e-6)
            for each in meshes:
                each.modifiers.remove(each.modifiers["Sinew Cache"])
                each.modifiers["Armature"].show_viewport = each.modifiers["Armature"].show_render = True
            self.bind(armature, "shapes | ddm")

    def test_wrong_ranges_and_folders(self):
        armature, _ = self.make()
        self.bind(armature, "shapes | lbs")
        for options, message in (({"first": 5, "last": 4}, "Last"), ({"directory": "//caches"}, "save the .blend"),
                                 ({"directory": "/proc/caches"}, "/proc")):
            with self.assertRaisesRegex(RuntimeError, message):
                bpy.ops.sinew.bake(**{"directory": str(FOLDER), "first": 1, "last": 2, **options})
            self.assertTrue(armature.sinew.bound)


class Servers(AddonTest):

    def remote(self, address):
        preferences().address = address
        preferences().server = "REMOTE"
        preferences().render_deadline = 2

    def test_killed_and_restarted(self):
        armature, meshes = self.make()
        expected = self.at_frames(meshes)
        with Server() as server:
            self.remote(server.address)
            self.bind(armature, "shapes | lbs")
            self.assert_close(self.at_frames(self.outputs(armature)), expected, 2e-6)
            server.stop(signal.SIGKILL)
            last = world_points(self.outputs(armature)[0])
            self.scene.frame_set(4)  # no exception; the last shape stays
            np.testing.assert_array_equal(world_points(self.outputs(armature)[0]), last)
            self.assertNotEqual(state(armature).error, "")
            with Server(listen=server.address):
                self.assert_close(self.at_frames(self.outputs(armature)), expected, 2e-6)
                self.assertEqual(state(armature).error, "")

    def test_frozen_server_costs_the_deadline(self):
        armature, _ = self.make()
        with Server() as server:
            self.remote(server.address)
            self.bind(armature, "shapes | lbs")
            self.scene.frame_set(1)
            server.process.send_signal(signal.SIGSTOP)
            start = time.monotonic()
            self.scene.frame_set(4)
            self.assertLess(time.monotonic() - start, 2 + 1.5)  # and the time that Blender needs
            self.assertNotEqual(state(armature).error, "")
            server.process.send_signal(signal.SIGCONT)
            self.scene.frame_set(7)
            self.assertEqual(state(armature).error, "")

    def test_nothing_listens(self):
        armature, _ = self.make()
        self.remote("127.0.0.1:1")
        self.bind(armature, "shapes | lbs")
        self.scene.frame_set(4)
        self.assertNotEqual(state(armature).error, "")


    def test_another_server_is_used_at_once(self):
        armature, meshes = self.make()
        expected = self.at_frames(meshes)
        self.bind(armature, "shapes | lbs")
        preferences().address, preferences().server = "127.0.0.1:1", "REMOTE"
        self.update_as_in_window(armature)
        self.assertIsNotNone(state(armature).job)  # binds, without end
        preferences().server = "LOCAL"
        self.update_as_in_window(armature)
        for _ in range(1000):
            if state(armature).job is None:
                break
            time.sleep(0.01)
            sinew_blender.live._poll_jobs()
        self.assertIsNone(state(armature).job)
        self.assertEqual(state(armature).error, "")
        self.assert_close(self.at_frames(self.outputs(armature)), expected, 2e-6)

    def update_as_in_window(self, armature):
        sinew_blender.live.update(armature, bpy.context.evaluated_depsgraph_get(), wait=False)


class Recipes(AddonTest):

    def test_parameters_are_those_of_the_server(self):
        armature = chain()
        for text in ("ddm", "lbs | delta_mush(iterations=20)", "dqs(blend=0.25, signs=parent)",
                     "ddm(radius=0.05, pop_guard=false)"):
            armature.sinew.first.set_text(text)
            self.assertEqual(armature.sinew.first.text, text)
        self.assertEqual(type(armature.sinew.first.stages[0].of_ddm).bl_rna.properties["alpha"].hard_max, 1)
        select(armature)
        bpy.ops.sinew.preset(recipe="first", preset="implicit_skinning")
        self.assertEqual(armature.sinew.first.text, "dqs | bulge_free | implicit | relax")

    def test_wrong_recipe_is_said(self):
        armature, _ = self.make()
        self.bind(armature, "relax")
        self.assertIn("relax reads posed positions", state(armature).error)


if __name__ == "__main__":
    result = unittest.main(argv=[sys.argv[0], *sys.argv[sys.argv.index("--") + 1:]], exit=False, verbosity=2).result
    if not result.wasSuccessful():
        sys.exit(1)
