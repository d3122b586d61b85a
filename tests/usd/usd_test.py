"""Baked .usda files in OpenUSD: they pass its validators, and their points are those of a .npy bake.

usage: usd_test.py --sinew FILE --tools FOLDER     FOLDER: a virtual environment, made if missing
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import virtual_environment  # noqa: E402  pylint: disable=wrong-import-position

_PACKAGES = ["usd-core==26.11"]

parser = argparse.ArgumentParser()
parser.add_argument("--sinew", type=pathlib.Path, required=True)
parser.add_argument("--tools", type=pathlib.Path, required=True)
options, rest = parser.parse_known_args()


try:
    import numpy
    from pxr import Sdf, Usd, UsdGeom, UsdValidation
except ImportError:
    virtual_environment.enter(options.tools, _PACKAGES)


class UsdTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="sinew-usd-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def sinew(self, *arguments, code=0):
        """Runs a command in the folder; returns what it wrote to stderr."""
        done = subprocess.run([options.sinew.resolve(), *arguments], cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    def bake(self, out, *more, character="model:hand", deformer="ddm", code=0):
        return self.sinew("bake", character, "--deformer", deformer, "--out", out, "--local", "--quiet", *more, code=code)

    def array(self, name):
        return numpy.load(self.folder / name)

    def open(self, name):
        return Usd.Stage.Open(str(self.folder / name))

    def expect_compliant(self, name):
        # What `usdchecker` runs.
        context = UsdValidation.ValidationContext(UsdValidation.ValidationRegistry().GetOrLoadAllValidators())
        self.assertEqual([error.GetErrorAsString() for error in context.Validate(self.open(name))], [])

    def expect_points(self, prim, array, times, attribute="points"):
        values = prim.GetAttribute(attribute)
        for row, time in enumerate(times):
            numpy.testing.assert_array_equal(numpy.array(values.Get(time), dtype=numpy.float32), array[row],
                                             err_msg=f"{attribute} at {time}")

    def test_mesh_opens_by_itself_with_all_samples(self):
        self.bake("hand.npy", "--normals", "--velocities")
        self.bake("hand.usda", "--normals", "--velocities")
        self.expect_compliant("hand.usda")
        stage = self.open("hand.usda")
        self.assertEqual((stage.GetStartTimeCode(), stage.GetEndTimeCode()), (0, 47))
        self.assertEqual(stage.GetTimeCodesPerSecond(), 24)
        self.assertEqual(UsdGeom.GetStageMetersPerUnit(stage), 1)
        self.assertEqual(UsdGeom.GetStageUpAxis(stage), "Y")
        self.assertEqual(stage.GetDefaultPrim().GetPath(), "/model_hand")
        mesh = UsdGeom.Mesh(stage.GetPrimAtPath("/model_hand/hand"))
        self.assertTrue(mesh)
        self.assertTrue(UsdGeom.Mesh.ValidateTopology(mesh.GetFaceVertexIndicesAttr().Get(),
                                                      mesh.GetFaceVertexCountsAttr().Get(), 9140)[0])
        self.assertEqual(mesh.GetNormalsInterpolation(), "vertex")
        self.assertEqual(mesh.GetPointsAttr().GetTimeSamples(), list(range(48)))
        for name, attribute in (("hand.npy", "points"), ("hand.npy.normals.npy", "normals"),
                                ("hand.npy.velocities.npy", "velocities")):
            self.expect_points(mesh.GetPrim(), self.array(name), range(48), attribute)
        points = self.array("hand.npy")
        for time in (0, 20, 47):
            extent = numpy.array(mesh.GetExtentAttr().Get(time), dtype=numpy.float32)
            numpy.testing.assert_array_equal(extent, [points[time].min(axis=0), points[time].max(axis=0)])
            numpy.testing.assert_array_equal(
                extent, numpy.array(UsdGeom.PointBased.ComputeExtent(mesh.GetPointsAttr().Get(time)), dtype=numpy.float32))
        self.sinew("verify", "hand.usda")

    def test_shutter_samples_have_their_times(self):
        more = ("--shutter", "-0.25..0.25", "--samples", "3", "--frames", "10-12", "--axes", "blender")
        self.bake("blur.npy", *more)
        self.bake("blur.usda", *more)
        self.expect_compliant("blur.usda")
        stage = self.open("blur.usda")
        self.assertEqual((stage.GetStartTimeCode(), stage.GetEndTimeCode()), (10, 12))
        self.assertEqual(UsdGeom.GetStageUpAxis(stage), "Z")
        times = [frame + offset for frame in (10, 11, 12) for offset in (-0.25, 0, 0.25)]
        prim = stage.GetPrimAtPath("/model_hand/hand")
        self.assertEqual(prim.GetAttribute("points").GetTimeSamples(), times)
        self.expect_points(prim, self.array("blur.npy"), times)

    def test_time_codes_are_the_frames_of_the_shot(self):
        self.bake("hand.npy", "--frames", "0-19")
        more = ("--start-frame", "1001", "--frames", "1001-1020")
        self.bake("hand.usda", *more)
        self.bake("clips.usda", *more, "--usd", "clips", "--chunk", "15")
        for name in ("hand.usda", "clips.usda"):
            self.expect_compliant(name)
            stage = self.open(name)
            self.assertEqual((stage.GetStartTimeCode(), stage.GetEndTimeCode()), (1001, 1020))
            self.expect_points(stage.GetPrimAtPath("/model_hand/hand"), self.array("hand.npy"), range(1001, 1021))
        self.assertTrue((self.folder / "clips.clips/1016-1020.usda").exists())

    def test_value_clips_resolve_in_every_clip(self):
        self.bake("hand.npy", "--normals")
        self.bake("hand.usda", "--normals", "--usd", "clips", "--chunk", "10")
        self.assertEqual(sorted(path.name for path in (self.folder / "hand.clips").iterdir()),
                         ["0-9.usda", "10-19.usda", "20-29.usda", "30-39.usda", "40-47.usda", "manifest.usda",
                          "topology.usda"])
        self.expect_compliant("hand.usda")
        stage = self.open("hand.usda")
        prim = stage.GetPrimAtPath("/model_hand/hand")
        points = self.array("hand.npy")
        self.expect_points(prim, points, range(48))
        self.expect_points(prim, self.array("hand.npy.normals.npy"), range(48), "normals")
        used = {layer.GetDisplayName() for layer in stage.GetUsedLayers()}
        self.assertLessEqual({"0-9.usda", "10-19.usda", "40-47.usda"}, used)
        # Between the last sample of a clip and the first of the next one.
        between = numpy.array(prim.GetAttribute("points").Get(19.5))
        numpy.testing.assert_allclose(between, (points[19] + points[20]) / 2, atol=1e-7)
        self.sinew("verify", "hand.usda")
        clip = self.folder / "hand.clips/20-29.usda"
        clip.write_bytes(clip.read_bytes().replace(b"0", b"1", 1))
        self.sinew("verify", "hand.usda", code=65)
        # A bake of other clips leaves no layer of the earlier one.
        self.bake("hand.usda", "--usd", "clips", "--chunk", "24")
        self.assertEqual(sorted(path.name for path in (self.folder / "hand.clips").iterdir()),
                         ["0-23.usda", "24-47.usda", "manifest.usda", "topology.usda"])
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()),
                         ["hand.clips", "hand.npy", "hand.npy.json", "hand.npy.normals.npy", "hand.usda", "hand.usda.json"])

    def test_overs_move_the_meshes_of_another_layer(self):
        root = ("--usd-root", "/Hero/geo")
        self.bake("rest.usda", "--frames", "0", *root)
        self.bake("walk.usda", "--usd", "over", "--frames", "5-9", *root)
        self.bake("walk.npy", "--frames", "5-9")
        self.expect_compliant("rest.usda")
        self.expect_compliant("walk.usda")
        self.assertNotIn("faceVertex", (self.folder / "walk.usda").read_text())
        layer = Sdf.Layer.CreateNew(str(self.folder / "shot.usda"))
        layer.subLayerPaths[:] = ["./walk.usda", "./rest.usda"]
        stage = Usd.Stage.Open(layer)
        prim = stage.GetPrimAtPath("/Hero/geo/hand")
        self.assertTrue(UsdGeom.Mesh(prim).GetFaceVertexCountsAttr().Get())
        self.expect_points(prim, self.array("walk.npy"), range(5, 10))

    def test_parts_equal_whole(self):
        for layout in ("mesh", "over", "clips"):
            more = ("--usd", layout, "--velocities", "--chunk", "16")
            self.bake("whole.usda", *more)
            for frames in ("20-47", "0-19"):
                self.bake("parts.usda", *more, "--part", "--frames", frames)
            self.sinew("join", "parts.usda", "--frames", "0-47")
            text = (self.folder / "whole.usda").read_text().replace("whole.clips", "parts.clips")
            self.assertEqual((self.folder / "parts.usda").read_text(), text)
            if layout == "clips":
                for path in (self.folder / "whole.clips").iterdir():
                    self.assertEqual(path.read_bytes(), (self.folder / "parts.clips" / path.name).read_bytes())
            self.assertFalse((self.folder / "parts.usda.parts").exists())
        self.bake("whole.usda", "--velocities", "--resume", "--usd", "clips", "--chunk", "16")
        self.assertIn("bake it again", self.sinew("repair", "whole.usda", "model:hand", "--local", code=65))

    def test_binary_conversion_keeps_the_points(self):
        self.bake("hand.usda", "--frames", "3-4")
        self.bake("hand.npy", "--frames", "3-4")
        Sdf.Layer.FindOrOpen(str(self.folder / "hand.usda")).Export(str(self.folder / "hand.usdc"))
        stage = self.open("hand.usdc")
        self.expect_points(stage.GetPrimAtPath("/model_hand/hand"), self.array("hand.npy"), (3, 4))

    def test_wrong_options_are_explained(self):
        for more, message in ((("--usd-root", "Hero"), "--usd-root"), (("--usd-root", "/Hero/"), "--usd-root"),
                              (("--usd-root", "/1a"), "--usd-root")):
            self.assertIn(message, self.bake("a.usda", *more, code=64))
        self.assertIn("--usd: is for .usda", self.bake("a.npy", "--usd", "over", code=64))
        self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
