"""The add-on in background Blender: as a user installs it, on characters that are authored here.

Handlers, operators and files are the real ones; what needs a window is not covered.
"""

import ast
import contextlib
import graphlib
import io
import os
import pathlib
import sys
import types
import unittest

import bpy
import numpy as np

sys.path.insert(0, os.path.dirname(__file__))
from authored import library, uses_library  # noqa: E402
from base import FOLDER, CharacterTest, farthest, outputs, reopened, run, sinew_blender, state  # noqa: E402
from characters import animate, chain, new_scene, select, statue, tube, world_points  # noqa: E402


def drawn(panel):
    """What a panel draws: properties, operators and texts."""
    seen = []

    class Layout:
        def column(self, **_):
            return self

        row = box = column

        def label(self, text, **_):
            seen.append(text)

        def prop(self, _, name, **_options):
            seen.append(name)

        def operator(self, name, *_, **_options):
            seen.append(name)
            return types.SimpleNamespace()

        operator_menu_enum = operator

    getattr(sinew_blender.panel, "SINEW_PT_" + panel).draw(types.SimpleNamespace(layout=Layout()), bpy.context)
    return seen


class Accuracy(CharacterTest):

    def test_lbs_and_dqs_are_blenders_own(self):
        armature, meshes = self.make()
        for preserve_volume, recipe in ((False, "shapes | lbs"), (True, "shapes | dqs")):
            for each in meshes:
                each.modifiers["Armature"].use_deform_preserve_volume = preserve_volume
            expected = self.at_frames(meshes)
            self.bind(armature, recipe)
            self.assert_close(self.at_frames(outputs(armature)), expected, 2e-6)
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
        self.assert_close(self.at_frames(outputs(armature)), expected, 2e-6)

    def test_modifiers_after_armature_stay(self):
        armature, meshes = self.make()
        meshes[1].modifiers.new("Smooth", "SMOOTH")
        expected = self.at_frames(meshes)
        self.bind(armature, "shapes | lbs")
        self.assert_close(self.at_frames(outputs(armature)), expected, 2e-6)

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
        self.assert_close(self.at_frames(outputs(armature)), expected, 2e-6)


class Scenes(CharacterTest):

    def test_hidden_source_and_second_recipe(self):
        armature, meshes = self.make()
        self.bind(armature, "shapes | lbs")
        self.assertTrue(all(each.hide_get() and each.hide_viewport and each.hide_render for each in meshes))
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
        self.assertFalse(any(each.hide_get() or each.hide_viewport or each.hide_render for each in meshes))
        self.assertEqual(len(bpy.data.meshes), 2)

    def test_second_stands_beside_the_first(self):
        armature, meshes = self.make()
        self.bind(armature, "shapes | lbs")
        armature.sinew.compare = True
        self.scene.frame_set(7)
        first, second = [np.concatenate([world_points(each) for each in objects]) for objects in
                         (outputs(armature), [part.second for part in armature.sinew.parts])]
        gap = second[:, 0].min() - first[:, 0].max()
        self.assertGreater(gap, 0)
        self.assertLess(gap, np.ptp(first[:, 0]))
        armature.sinew.offset = (0, 5, 0)  # the user's own stays
        self.bind(armature, "shapes | lbs")
        self.assertEqual(tuple(armature.sinew.offset), (0, 5, 0))

    def test_legend_and_materials_beside_a_heat_map(self):
        armature, meshes = self.make()
        for colour in ((1, 0, 0, 1), (0, 0, 1, 1)):
            material = bpy.data.materials.new("Material")
            material.diffuse_color = colour
            meshes[0].data.materials.append(material)
        meshes[0].data.polygons[3].material_index = 1
        armature.scale = (1, 2, 3)
        armature.sinew.second.set_text("shapes | ddm")
        armature.sinew.compare, armature.sinew.offset, armature.sinew.colours = True, (0, 0, 0), "DISTANCE"
        self.scene.unit_settings.scale_length = 0.01
        self.bind(armature, "shapes | lbs")
        self.scene.frame_set(10)
        largest = farthest(*[[world_points(getattr(part, name)) for part in armature.sinew.parts]
                             for name in ("output", "second")])
        self.assertAlmostEqual(state(armature).largest_distance / largest, 1, places=4)
        self.assertIn(f"Blue: 0, red: {largest * 10:.3g} mm", drawn("compare"))
        mesh = outputs(armature)[0].data
        colours = np.empty(len(mesh.loops) * 4, np.float32)
        self.assertNotIn("Sinew", mesh.color_attributes)
        mesh.color_attributes.active_color.data.foreach_get("color", colours)
        expected = np.tile(np.float32((1, 0, 0, 1)), (len(mesh.loops), 1))
        expected[mesh.polygons[3].loop_start:][:mesh.polygons[3].loop_total] = (0, 0, 1, 1)
        np.testing.assert_array_equal(colours.reshape(-1, 4), expected)
        armature.sinew.colours = "NONE"
        self.assertEqual(len(mesh.color_attributes), 0)

    def test_unbind_restores_the_selection(self):
        armature, meshes = self.make()
        select(armature, meshes[1])
        for _ in range(2):
            bpy.ops.sinew.bind()
            self.assertEqual([part.source for part in armature.sinew.parts], meshes[1:])
            select(outputs(armature)[0])
            bpy.ops.sinew.unbind()
            self.assertEqual(bpy.context.selected_objects, meshes[1:])
            self.assertEqual(bpy.context.object, armature)

    def test_saved_file_deforms_after_loading(self):
        armature, _ = self.make()
        self.bind(armature, "shapes | ddm(iterations=7)")
        expected = self.at_frames(outputs(armature))
        self.scene = reopened("saved.blend")
        armature = bpy.data.objects["Rig"]
        self.assertEqual(armature.sinew.first.text, "shapes | ddm(iterations=7)")
        self.assert_close(self.at_frames(outputs(armature)), expected, 0)

    def test_undo_and_redo_show_the_pose(self):
        armature, _ = self.make()
        self.bind(armature, "shapes | ddm")
        bpy.ops.ed.undo_push(message="bound")
        frames = {}
        for name, angle in (("before", 0.2), ("after", 0.9)):
            armature.animation_data_clear()
            armature.pose.bones["bone1"].rotation_euler.x = angle
            bpy.context.view_layer.update()
            frames[name] = [world_points(each) for each in outputs(armature)]
            bpy.ops.ed.undo_push(message=name)
        self.assertGreater(np.abs(frames["after"][0] - frames["before"][0]).max(), 0.1)
        for step, name in ((bpy.ops.ed.undo, "before"), (bpy.ops.ed.redo, "after")):
            step()
            armature = bpy.data.objects["Rig"]
            for each, points in zip(outputs(armature), frames[name]):
                np.testing.assert_array_equal(world_points(each), points)
        armature.pose.bones["bone1"].rotation_euler.x = 0.2  # and it is live again
        bpy.context.view_layer.update()
        np.testing.assert_array_equal(world_points(outputs(armature)[0]), frames["before"][0])

    def test_undo_of_bind_and_unbind(self):
        armature, meshes = self.make()
        expected = self.at_frames(meshes)
        bpy.ops.ed.undo_push(message="made")
        self.bind(armature, "shapes | lbs")
        bpy.ops.ed.undo_push(message="bound")
        bpy.ops.sinew.unbind()
        bpy.ops.ed.undo_push(message="unbound")
        bpy.ops.ed.undo()
        armature, self.scene = bpy.data.objects["Rig"], bpy.context.scene
        self.assertTrue(armature.sinew.bound)
        self.assert_close(self.at_frames(outputs(armature)), expected, 2e-6)
        bpy.ops.ed.undo()
        armature = bpy.data.objects["Rig"]
        self.assertFalse(armature.sinew.bound)
        self.assertFalse(bpy.data.objects["Body"].hide_get())

    def test_two_scenes(self):
        armature, meshes = self.make()
        expected = self.at_frames(meshes)
        self.bind(armature, "shapes | lbs")
        other = bpy.data.scenes.new("Other")
        for each in [armature, *meshes, *outputs(armature)]:
            other.collection.objects.link(each)
        self.scene.frame_set(1)
        bpy.context.window.scene = other
        self.scene = other
        self.assert_close(self.at_frames(outputs(armature)), expected, 2e-6)

    def test_scenes_with_a_character_each(self):
        armature, meshes = self.make()
        expected = self.at_frames(meshes)
        self.bind(armature, "shapes | lbs")
        first, second = self.scene, bpy.data.scenes.new("Other")
        self.scene = bpy.context.window.scene = second
        other = chain(name="Other")
        mesh = tube(other, "Tube", 0.5)
        animate(other, 0.7)
        other_expected = self.at_frames([mesh])
        self.bind(other, "lbs")
        for scene, rig, points in 2 * ((second, other, other_expected), (first, armature, expected)):
            self.scene = bpy.context.window.scene = scene
            self.assert_close(self.at_frames(outputs(rig)), points, 2e-6)
        self.assertEqual((state(armature).error, state(other).error), ("", ""))

    def test_bind_again_where_a_parent_has_moved(self):
        armature, meshes = self.make()
        root = armature.parent = bpy.data.objects.new("Root", None)
        self.scene.collection.objects.link(root)
        for frame, place in ((1, 0), (10, 5)):
            root.location.x = place
            root.keyframe_insert("location", frame=frame)
        expected = self.at_frames(meshes)
        self.scene.frame_set(1)
        self.bind(armature, "shapes | lbs")
        self.scene.frame_set(10)
        self.bind(armature, "shapes | lbs")
        self.assert_close(self.at_frames(outputs(armature)), expected, 2e-6)

    def test_objects_that_share_a_mesh(self):
        armature = chain()
        first = tube(armature, "Left", 0.5)
        second = first.copy()
        second.name, second.location = "Right", (2, 0, 0)
        self.scene.collection.objects.link(second)
        animate(armature)
        expected = self.at_frames([first, second])
        self.bind(armature, "lbs")
        self.assert_close(self.at_frames(outputs(armature)), expected, 2e-6)


class Vertices(CharacterTest):

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
        self.assert_close(self.at_frames(outputs(armature)), expected, 2e-6)

    def test_nearest_moves_with_the_neighbours(self):
        armature, mesh = self.unweighted()
        armature.sinew.unweighted = "NEAREST"
        expected = self.at_frames([mesh])
        self.bind(armature, "lbs")
        got = self.at_frames(outputs(armature))
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

    def test_skeleton_is_fitted_and_weighted(self):
        mesh = statue()
        select(mesh, mesh)
        self.assertEqual(bpy.ops.sinew.fit_skeleton(template="human"), {"FINISHED"})
        armature = bpy.context.object
        self.assertEqual(armature.type, "ARMATURE")
        bones = armature.data.bones
        self.assertEqual(len(bones), 22)
        for name, place in (("left_hand_end", (1.2, -.3, 4)), ("right_foot", (-.3, -.2, 2.4)), ("head_top", (0, 0, 5.4))):
            head = armature.matrix_world @ bones[name].head_local
            self.assertLess(np.linalg.norm(np.subtract(head, place)), 0.3, f"{name} at {tuple(head)}")
        bpy.ops.sinew.weights(method="heat")
        self.assertIn("left_knee", mesh.vertex_groups)
        self.bind(armature, "ddm")

    def test_failed_fit_leaves_nothing(self):
        bpy.ops.mesh.primitive_plane_add()
        plane = bpy.context.object
        with self.assertRaisesRegex(RuntimeError, "mesh"):
            bpy.ops.sinew.fit_skeleton(template="human")
        self.assertEqual(list(bpy.context.scene.objects), [plane])
        self.assertEqual(bpy.context.object, plane)

    def test_map_of_a_vertex_group(self):
        armature = chain()
        mesh = tube(armature, "Body", 0.5)
        mesh.vertex_groups.new(name="Twist").add(range(len(mesh.data.vertices)), 0.0, "REPLACE")
        animate(armature)
        expected = self.at_frames([mesh])
        self.bind(armature, "dqs(blend_map=Twist)")  # 0 everywhere: linear blending
        self.assert_close(self.at_frames(outputs(armature)), expected, 2e-6)


    def test_mesh_without_a_parent_is_reported(self):
        armature, meshes = self.make()
        read = sinew_blender.snapshot.read
        self.assertEqual(read(armature, meshes, "REFUSE").warnings, [])
        meshes[0].parent = None
        warning, = read(armature, meshes, "REFUSE").warnings
        self.assertIn("Body: is not parented to Rig", warning)


class Bakes(CharacterTest):

    def test_cache_plays_without_the_addon(self):
        armature, meshes = self.make()
        for kind in ("pc2", "mdd"):
            self.bind(armature, "shapes | ddm")
            expected = self.at_frames(outputs(armature))
            self.bake(armature, format=kind)
            self.assertFalse(armature.sinew.bound)
            self.assertFalse(meshes[0].modifiers["Armature"].show_viewport)
            self.assert_close(self.at_frames(meshes), expected, 2e-6)

    def test_bind_and_bake_replace_the_cache(self):
        armature, meshes = self.make()
        meshes[0].modifiers.clear()
        before = meshes[0].modifiers.new("Before", "SMOOTH")
        before.show_viewport = before.show_render = False
        meshes[0].modifiers.new("Armature", "ARMATURE").object = armature
        meshes[1].modifiers.new("After", "SMOOTH")
        switches = [(each.name, each.show_viewport, each.show_render) for mesh in meshes for each in mesh.modifiers]
        armatures_own = self.at_frames(meshes)
        self.bind(armature, "shapes | ddm")
        self.assertGreater(self.distance(self.at_frames(outputs(armature)), armatures_own), 0.005)
        self.bake(armature, folder=str(FOLDER / "first"))
        self.bind(armature, "shapes | lbs")
        self.assert_close(self.at_frames(outputs(armature)), armatures_own, 2e-6)
        self.bake(armature, folder=str(FOLDER / "second"))
        self.assert_close(self.at_frames(meshes), armatures_own, 2e-6)
        self.assertEqual([each.name for each in meshes[1].modifiers], ["Armature", "Sinew Cache", "After"])
        self.bind(armature, "shapes | ddm")
        bpy.ops.sinew.unbind()
        self.assertEqual([(each.name, each.show_viewport, each.show_render) for mesh in meshes
                          for each in mesh.modifiers], switches)
        self.assert_close(self.at_frames(meshes), armatures_own, 0)

    def test_bind_after_bake_of_a_parent_with_armature_deform(self):
        armature = chain()
        mesh = tube(armature, "Body", 0.5)
        mesh.modifiers.clear()
        mesh.parent_type = "ARMATURE"
        animate(armature)
        armatures_own = self.at_frames([mesh])
        self.bind(armature, "ddm")
        expected = self.at_frames(outputs(armature))
        self.bake(armature)
        self.assert_close(self.at_frames([mesh]), expected, 2e-6)
        self.bind(armature, "lbs")
        self.assert_close(self.at_frames(outputs(armature)), armatures_own, 2e-6)

    def test_cache_without_a_record_is_replaced(self):
        armature, meshes = self.make()
        armatures_own = self.at_frames(meshes)
        self.bind(armature, "shapes | ddm")
        self.bake(armature)
        for mesh in meshes:
            del mesh["sinew_replaced"]
        self.bind(armature, "shapes | lbs")
        bpy.ops.sinew.unbind()
        self.assert_close(self.at_frames(meshes), armatures_own, 0)

    def test_wrong_ranges_and_folders(self):
        armature, _ = self.make()
        self.bind(armature, "shapes | lbs")
        for options, message in (({"first": 5, "last": 4}, "Last"), ({"folder": "//caches"}, "save the .blend"),
                                 ({"folder": "/proc/caches"}, "/proc")):
            with self.assertRaisesRegex(RuntimeError, message):
                self.bake(armature, **options)
            self.assertTrue(armature.sinew.bound)

    def test_options_and_progress_are_in_the_panel(self):
        armature, meshes = self.make()
        self.bind(armature, "shapes | lbs")
        self.assertEqual(drawn("bake"), ["bake_folder", "bake_format", "bake_scene_range", "sinew.bake"])
        armature.sinew.bake_scene_range = False
        self.assertEqual(drawn("bake")[3:], ["bake_first", "bake_last", "sinew.bake"])
        with sinew_blender.live.suspend():
            state(armature).message = "Frame 3 of 9"
            self.assertEqual(drawn("bake"), ["Frame 3 of 9", "Esc cancels"])
        armature.sinew.bake_scene_range, armature.sinew.bake_folder = True, str(FOLDER / "range")
        self.scene.frame_start, self.scene.frame_end = 3, 5
        self.assertEqual(bpy.ops.sinew.bake(), {"FINISHED"})
        header = (FOLDER / "range" / "Rig.Body.pc2").read_bytes()[:32]
        self.assertEqual(int.from_bytes(header[28:32], "little"), 3)  # frames
        self.assertEqual(np.frombuffer(header, "<f4", 1, 20), [3])  # the first of them
        self.assertEqual(meshes[0].modifiers["Sinew Cache"].frame_start, 3)


class Libraries(CharacterTest):

    def setUp(self):
        super().setUp()
        library()
        path = bpy.data.filepath
        self.scene = new_scene()
        uses_library(path)
        self.armature = next(each for each in self.scene.objects if each.type == "ARMATURE")

    def test_second_stands_at_the_offset(self):
        self.armature.sinew.second.set_text("shapes | lbs")
        self.armature.sinew.compare = True
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors):
            self.bind(self.armature, "shapes | lbs")
            self.scene.frame_set(7)
        self.assertEqual(errors.getvalue(), "")
        for part in self.armature.sinew.parts:
            moved = world_points(part.second) - world_points(part.output)
            np.testing.assert_allclose(moved, np.broadcast_to(self.armature.sinew.offset, moved.shape), atol=2e-5)

    def test_weights_need_a_mesh_of_this_file(self):
        select(self.armature, self.scene.objects["Body"])
        with self.assertRaisesRegex(RuntimeError, "Body: its mesh is linked from a library"):
            bpy.ops.sinew.weights(method="capsule")

    def test_no_bake_behind_modifiers_of_a_library(self):
        self.bind(self.armature, "shapes | lbs")
        with self.assertRaisesRegex(RuntimeError, "Body: a cache cannot go before the modifiers"):
            self.bake(self.armature)
        self.assertTrue(self.armature.sinew.bound)


class Modules(unittest.TestCase):

    def test_no_circle(self):
        folder = pathlib.Path(sinew_blender.__file__).parent
        imports = {file.stem: {name.name for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
                               if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module is None
                               for name in node.names} for file in folder.glob("*.py")}
        self.assertIn("connection", imports["live"])
        graphlib.TopologicalSorter(imports).prepare()  # or CycleError


class Recipes(CharacterTest):

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
    run()
