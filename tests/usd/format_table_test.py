"""The column OpenUSD of the table in client/docs/formats.md: every entry has a test in read_test.py.

The other columns are in tests/unit/client/import/format_table_test.cc.
"""

import pathlib
import unittest


class FormatTable(unittest.TestCase):
    SHOWN = {
        "vertex order of the file": ("read", "test_geometry_bind_and_inherited_bindings"),
        "polygons of any size": ("read", "test_geometry_bind_and_inherited_bindings"),
        "more than four influences": ("read", "test_six_influences"),
        "weights that do not sum to 1": ("normalised", "test_unnormalised_weights_are_reported"),
        "vertices without weights": ("refused", "test_vertices_without_weights_are_a_choice"),
        "meshes without a skin": ("read", "test_rigid_and_unskinned_meshes"),
        "several characters": ("read", "test_two_skeletons_of_equal_names"),
        "linear keys": ("read", "test_joint_orders_of_mesh_and_animation"),
        "stepped keys": ("read", "test_held_samples_change_at_their_frame"),
        "transforms of the geometry alone": ("read", "test_geometry_bind_and_inherited_bindings"),
        "morph targets and their keys": ("read", "test_blend_shapes_with_in_betweens"),
        "in-betweens": ("read", "test_blend_shapes_with_in_betweens"),
        "unit and up axis": ("read", "test_moving_skeleton_in_centimetres"),
        "skinning with dual quaternions asked for": ("reported", "test_dual_quaternions_of_unscaled_joints"),
        "hidden meshes": ("reported", "test_hidden_meshes_are_reported"),
        "face holes": ("read", "test_faces_that_are_holes_are_left_out"),
        "clips in other files": ("refused", "test_clips_of_other_files_are_refused"),
    }

    def test_every_entry_is_shown(self):
        text = (pathlib.Path(__file__).parents[2] / "client/docs/formats.md").read_text(encoding="utf-8")
        rows = [[cell.strip() for cell in line.split("|")] for line in text.splitlines() if line.count("|") == 7]
        column = next(row for row in rows if row[1] == "feature").index("OpenUSD")
        documented = {row[1]: row[column] for row in rows if row[column] not in ("-", "---", "OpenUSD")}
        self.assertEqual(documented, {feature: state for feature, (state, _) in self.SHOWN.items()})
        tests = (pathlib.Path(__file__).parent / "read_test.py").read_text(encoding="utf-8")
        for _, test in self.SHOWN.values():
            self.assertIn(f"    def {test}(self):", tests)


if __name__ == "__main__":
    unittest.main()
