"""OpenUSD characters in sinew.usd: points are those of UsdSkel, and what cannot be read is an error that says why.

usage: read_test.py --package FOLDER --sinew FILE --tools FOLDER     FOLDER: a virtual environment, made if missing
"""

import argparse
import os
import pathlib
import sys
import tempfile
import unittest
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import virtual_environment  # noqa: E402  pylint: disable=wrong-import-position

_PACKAGES = ["usd-core==26.11"]

parser = argparse.ArgumentParser()
parser.add_argument("--package", type=pathlib.Path, required=True)
parser.add_argument("--sinew", type=pathlib.Path, required=True)
parser.add_argument("--tools", type=pathlib.Path, required=True)
options, rest = parser.parse_known_args()
sys.path.insert(0, str(options.package.resolve()))

try:
    import numpy as np
    import sinew
    import sinew.usd
    import characters
    from pxr import Gf, Usd, UsdGeom, UsdSkel, UsdUtils
except ImportError:
    virtual_environment.enter(options.tools, _PACKAGES)

# This share of the diagonal is rounding: float32 in both, points, matrices and sums of up to four influences.
ROUNDING = 1e-6


def load(source, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sinew.load(source, **more) if isinstance(source, (str, os.PathLike)) else sinew.usd.load(source, **more)


class UsdReading(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="sinew-usd-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, make, name="hero.usda"):
        make(self.folder / name).Save()
        return str(self.folder / name)

    def simple(self, **more):
        """An open stage with one skinned mesh: /Hero/Body, /Hero/Skel and /Hero/Walk."""
        stage = characters.new_stage(self.folder / "hero.usda", **more)
        UsdSkel.Root.Define(stage, "/Hero")
        self.skeleton = characters.add_skeleton(stage, "/Hero/Skel")
        self.animation = characters.add_animation(stage, "/Hero/Walk", self.skeleton)
        self.mesh = characters.add_mesh(stage, "/Hero/Body")
        self.binding = characters.bind_mesh(self.mesh, self.skeleton)
        return stage

    def expect_points_of_usdskel(self, source, recipe, fps=48.0):
        """Every frame, also between samples. Returns the rig."""
        rig = load(source)
        stage = Usd.Stage.Open(source) if isinstance(source, str) else source
        clip, = rig.clips.values()
        poses = clip.poses(fps)
        self.assertGreater(len(poses), 10)
        with sinew.local() as client:
            frames = client.character(rig, recipe).clip(poses)
        start = stage.GetStartTimeCode() if stage.HasAuthoredTimeCodeRange() else 1
        worst = 0.0
        for k, frame in enumerate(frames):
            need = characters.skinned_points(stage, start + k / fps * stage.GetTimeCodesPerSecond())
            worst = max(worst, abs(need - frame).max() / np.linalg.norm(np.ptp(need, axis=0)))
        print(f"{self.id().rsplit('.', 1)[-1]}: {len(frames)} frames of {rig.vertices} vertices, {worst:.2g} of the diagonal")
        self.assertLess(worst, ROUNDING)
        self.assertGreater(abs(frames[-1] - frames[0]).max(), 0.01)
        return rig


class Points(UsdReading):

    def test_joint_orders_of_mesh_and_animation(self):
        rig = self.expect_points_of_usdskel(self.write(characters.joint_orders), "lbs")
        self.assertEqual((rig.joints, rig.parents.tolist()), (["hip", "spine", "head", "leg"], characters.PARENTS))
        self.assertEqual((rig.format, rig.label, list(rig.clips)), ("USD", "hero.usda", ["Walk"]))
        need = [np.array(each).T[:3] for each in characters.world(characters.rest_locals(12))]
        np.testing.assert_allclose(rig.rest_pose, need, atol=1e-6)

    def test_geometry_bind_and_inherited_bindings(self):
        rig = self.expect_points_of_usdskel(self.write(characters.geometry_bind, "hero.usdc"), "lbs")
        stage = Usd.Stage.Open(str(self.folder / "hero.usdc"))
        mesh = UsdGeom.Mesh(stage.GetPrimAtPath("/Hero/Geo/Body"))
        np.testing.assert_array_equal(rig.meshes[0].positions, mesh.GetPointsAttr().Get())
        sizes = rig.meshes[0].face_sizes
        self.assertEqual((sizes.tolist()[0], sizes.tolist()[-1]), (4, 7))
        # Faces of a left-handed mesh are turned over, from the first corner on.
        first = mesh.GetFaceVertexIndicesAttr().Get()[:4]
        self.assertEqual(rig.meshes[0].face_vertices[:4].tolist(), [first[0], first[3], first[2], first[1]])

    def test_blend_shapes_with_in_betweens(self):
        rig = self.expect_points_of_usdskel(self.write(characters.blend_shapes, "hero.usd"), "shapes | lbs")
        self.assertEqual(rig.controls, ["blink", "brows", "face", "smile"])

    def test_two_skeletons_of_equal_names(self):
        rig = self.expect_points_of_usdskel(self.write(characters.two_skeletons), "shapes | lbs")
        self.assertEqual([mesh.name for mesh in rig.meshes], ["Body", "Body.2", "Hat"])
        self.assertEqual((rig.joints[4:], rig.controls), (["hip.2", "spine.2", "head.2", "leg.2"], ["swell", "swell.2"]))

    def test_moving_skeleton_in_centimetres(self):
        rig = self.expect_points_of_usdskel(self.write(characters.moving_skeleton), "lbs", fps=50)
        self.assertEqual((rig.up_axis, rig.meters_per_unit), ("Z", 0.01))
        self.assertIn("info: frame 0 of the clip is time code 1001 of the stage at Fly", rig.problems)

    def test_rigid_and_unskinned_meshes(self):
        rig = self.expect_points_of_usdskel(self.write(characters.rigid_meshes), "shapes | lbs")
        self.assertEqual(rig.joints[4:], ["Lamp", "Badge"])
        self.assertEqual(sum("has no joint weights" in problem for problem in rig.problems), 2)

    def test_dual_quaternions_of_unscaled_joints(self):
        rig = self.expect_points_of_usdskel(self.write(characters.dual_quaternions), "dqs")
        self.assertIn("skel:skinningMethod is dualQuaternion", "".join(rig.problems))

    def test_instances_move_by_themselves(self):
        rig = self.expect_points_of_usdskel(self.write(characters.instances), "lbs")
        self.assertEqual(len(rig.joints), 8)

    def test_package_of_files(self):
        UsdUtils.CreateNewUsdzPackage(self.write(characters.joint_orders), str(self.folder / "hero.usdz"))
        self.expect_points_of_usdskel(str(self.folder / "hero.usdz"), "lbs")

    def test_open_stage_with_its_session_layer(self):
        stage = self.simple()
        stage.SetEditTarget(stage.GetSessionLayer())
        self.skeleton.GetPrim().GetParent().GetChild("Body").GetAttribute("points").Set(
            [point * 2 for point in self.mesh.GetPointsAttr().Get()])
        rig = self.expect_points_of_usdskel(stage, "lbs")
        np.testing.assert_array_equal(rig.meshes[0].positions, self.mesh.GetPointsAttr().Get())


class Contents(UsdReading):

    def test_six_influences(self):
        stage = self.simple()
        tail = [characters.matrix((0, -0.3, 0)), characters.matrix((0, -0.2, 0.1))]
        rest = list(self.skeleton.GetRestTransformsAttr().Get())
        bind = list(self.skeleton.GetBindTransformsAttr().Get())
        self.skeleton.GetJointsAttr().Set(characters.JOINTS + ["hip/tail", "hip/tail/tip"])
        self.skeleton.GetRestTransformsAttr().Set(rest + tail)
        self.skeleton.GetBindTransformsAttr().Set(bind + [tail[0] * bind[0], tail[1] * tail[0] * bind[0]])
        points = len(self.mesh.GetPointsAttr().Get())
        self.binding.CreateJointIndicesPrimvar(False, 6).Set(list(range(6)) * points)
        self.binding.CreateJointWeightsPrimvar(False, 6).Set([1 / 6] * (6 * points))
        rig = self.expect_points_of_usdskel(stage, "lbs")
        self.assertEqual((rig.meshes[0].weights > 0).sum(axis=1).max(), 6)

    def test_clips_of_other_files_are_refused(self):
        self.simple().Save()
        with self.assertRaisesRegex(sinew.InvalidArgument, "clips: got files for hero.usda"):
            sinew.load(self.folder / "hero.usda", clips=["walk.fbx"])

    def test_held_samples_change_at_their_frame(self):
        stage = self.simple(rate=25, times=(1, 40))  # 29 / 25 * 25 is less than 29
        stage.SetInterpolationType(Usd.InterpolationTypeHeld)
        joints = self.animation.GetJointsAttr().Get()
        for time in range(1, 41):
            self.animation.GetTranslationsAttr().Set([(time, 0, 0)] * len(joints), time)
        poses = load(stage).clips["Walk"].poses(25)
        np.testing.assert_array_equal(poses.joints[:, 0, 0, 3], np.arange(1, 41))

    def test_unnormalised_weights_are_reported(self):
        stage = self.simple()
        weights = self.binding.GetJointWeightsAttr()
        need = np.array(weights.Get()).reshape(-1, 3)
        weights.Set([value * 0.9 for value in weights.Get()])
        rig = load(stage)
        self.assertIn("warning: weights of 84 vertices normalised, which UsdSkel does not do; their sums ran from 0.9 to 0.9 "
                      "at /Hero/Body", rig.problems)
        indices = np.array(self.binding.GetJointIndicesAttr().Get()).reshape(-1, 3)
        np.testing.assert_allclose(np.take_along_axis(rig.meshes[0].weights, indices, 1), need, atol=1e-6)

    def test_warnings_are_python_warnings(self):
        path = self.write(characters.rigid_meshes)
        with self.assertWarnsRegex(sinew.FileWarning, "hero.usda: .*has no joint weights"):
            sinew.load(path)
        with self.assertRaisesRegex(sinew.InvalidArgument, "strict: got warnings"):
            sinew.load(path, strict=True)

    def test_stage_without_animation_has_no_clip(self):
        stage = self.simple(times=None)
        stage.RemovePrim("/Hero/Walk")
        rig = load(stage)
        self.assertEqual(rig.clips, {})
        self.assertIn("warning: skel:animationSource /Hero/Walk is no SkelAnimation; the skeleton keeps its rest pose at "
                      "/Hero/Skel", rig.problems)

    def test_animation_of_one_pose_is_a_clip(self):
        stage = characters.new_stage(self.folder / "hero.usda", times=None)
        UsdSkel.Root.Define(stage, "/Hero")
        skeleton = characters.add_skeleton(stage, "/Hero/Skel")
        characters.add_animation(stage, "/Hero/Sit", skeleton, times=(Usd.TimeCode.Default(),))
        characters.bind_mesh(characters.add_mesh(stage, "/Hero/Body"), skeleton)
        self.assertEqual(len(load(stage).clips["Sit"].poses()), 1)

    def test_missing_rest_pose_is_the_bind_pose(self):
        stage = self.simple()
        UsdSkel.BindingAPI(self.skeleton.GetPrim()).GetAnimationSourceRel().ClearTargets(True)
        self.skeleton.GetRestTransformsAttr().Clear()
        rig = load(stage)
        need = [np.array(each).T[:3] for each in self.skeleton.GetBindTransformsAttr().Get()]
        np.testing.assert_allclose(rig.rest_pose, need, atol=1e-6)
        self.assertIn("has no restTransforms", "".join(rig.problems))

    def test_animation_of_blend_shapes_alone_needs_no_rest_pose(self):
        stage = self.simple()
        for attribute in (self.animation.GetJointsAttr(), self.animation.GetTranslationsAttr(),
                          self.animation.GetRotationsAttr(), self.animation.GetScalesAttr(),
                          self.skeleton.GetRestTransformsAttr()):
            attribute.GetPrim().RemoveProperty(attribute.GetName())
        characters.add_shapes(self.mesh, ["smile"])
        characters.animate_shapes(self.animation, ["smile"], {1: (0,), 11: (1,)})
        rig = load(stage)
        poses = rig.clips["Walk"].poses(24)
        np.testing.assert_allclose(poses.controls[:, 0], np.arange(11) / 10, atol=1e-6)
        np.testing.assert_allclose(poses.joints, np.broadcast_to(rig.rest_pose, poses.joints.shape), atol=1e-6)

    def test_skeleton_outside_of_the_root(self):
        stage = characters.new_stage(self.folder / "hero.usda")
        UsdSkel.Root.Define(stage, "/Hero")
        UsdGeom.Xform.Define(stage, "/Rigs").AddTranslateOp().Set((5, 0, 0))
        skeleton = characters.add_skeleton(stage, "/Rigs/Skel")
        characters.add_animation(stage, "/Rigs/Walk", skeleton)
        characters.bind_mesh(characters.add_mesh(stage, "/Hero/Body"), skeleton)
        self.expect_points_of_usdskel(stage, "lbs")

    def test_joint_names_of_the_skeleton(self):
        stage = self.simple()
        self.skeleton.CreateJointNamesAttr(["A", "B", "C", "D"])
        self.assertEqual(load(stage).joints, ["A", "B", "C", "D"])

    def test_texture_coordinates_reach_a_cache(self):
        stage = self.simple()
        rig = load(stage)
        with sinew.local() as client:
            client.character(rig, "lbs").bake(rig.clips["Walk"].poses(), self.folder / "out.usda")
        baked = Usd.Stage.Open(str(self.folder / "out.usda"))
        mesh = next(prim for prim in baked.Traverse() if prim.IsA(UsdGeom.Mesh))
        need = UsdGeom.PrimvarsAPI(self.mesh).GetPrimvar("st").ComputeFlattened()
        np.testing.assert_array_equal(UsdGeom.PrimvarsAPI(mesh).GetPrimvar("st").ComputeFlattened(), need)

    def test_normals_follow_blend_shapes(self):
        stage = self.simple()
        characters.add_shapes(self.mesh, ["smile"])
        self.mesh.CreateSubdivisionSchemeAttr("none")
        self.mesh.SetNormalsInterpolation("vertex")
        self.mesh.CreateNormalsAttr([Gf.Vec3f(0, 2, 0)] * 84)
        rig = load(stage)
        self.assertNotIn("normals", "".join(rig.problems))
        pose = rig.clips["Walk"].poses(1).joints[0]
        with sinew.local() as client:
            character = client.character(rig, "shapes | lbs")
            frames = [character.deform(pose, [value], normals=True) for value in (0, 1)]
        self.assertGreater(abs(frames[0].normals - frames[1].normals).max(), 0.01)

    def test_meshes_without_skin_are_placed(self):
        stage = characters.new_stage(self.folder / "hero.usda", times=None)
        mesh = characters.add_mesh(stage, "/Box")
        mesh.AddScaleOp().Set((-2, 1, 1))
        with self.assertRaisesRegex(sinew.InvalidArgument, "hero.usda: /: no mesh below a SkelRoot is bound"):
            load(stage)
        rig = load(stage, allow_no_skin=True)
        points = np.array(mesh.GetPointsAttr().Get()) * (-2, 1, 1)
        np.testing.assert_allclose(rig.meshes[0].positions, points, atol=1e-6)
        corners = list(mesh.GetFaceVertexIndicesAttr().Get()[:4])
        self.assertEqual(rig.meshes[0].face_vertices[:4].tolist(), [corners[0], *corners[:0:-1]])

    def test_vertices_without_weights_are_a_choice(self):
        stage = self.simple()
        weights = list(self.binding.GetJointWeightsAttr().Get())
        weights[:3] = 0, 0, 0
        self.binding.GetJointWeightsAttr().Set(weights)
        with self.assertRaisesRegex(sinew.InvalidArgument, "/Hero/Body: 1 vertex has no weight, the first is 0"):
            load(stage)
        rig = load(stage, unweighted="still")
        self.assertEqual(rig.joints[-1], "still")
        poses = rig.clips["Walk"].poses()
        with sinew.local() as client:
            frames = client.character(rig, "lbs").clip(poses)
        self.assertEqual(np.ptp(frames[:, 0], axis=0).max(), 0)

    def test_unused_skeletons_and_animations_are_reported(self):
        stage = self.simple()
        characters.add_animation(stage, "/Hero/Jump", None)
        characters.add_skeleton(stage, "/Hero/Cape")
        characters.add_mesh(stage, "/Ground")
        UsdGeom.BasisCurves.Define(stage, "/Hero/Hair")
        rig = load(stage)
        self.assertEqual((len(rig.joints), len(rig.meshes), list(rig.clips)), (4, 1, ["Walk"]))
        for problem in ("info: 1 animation is the skel:animationSource of no skeleton, and not read at /Hero/Jump",
                        "info: no mesh is bound to the skeleton; it is not read at /Hero/Cape",
                        "info: 1 mesh outside of SkelRoots is not read at /",
                        "warning: a BasisCurves; only meshes are read at /Hero/Hair"):
            self.assertIn(problem, rig.problems)

    def test_hidden_meshes_are_reported(self):
        stage = self.simple()
        self.assertNotIn("hides", "".join(load(stage).problems))
        UsdGeom.Imageable(stage.GetPrimAtPath("/Hero")).MakeInvisible()
        self.assertIn("warning: the stage hides this mesh, which is read all the same; remove what is not part of the "
                      "character at /Hero/Body", load(stage).problems)

    def test_faces_that_are_holes_are_left_out(self):
        stage = self.simple()
        whole, = load(stage).meshes
        self.mesh.CreateHoleIndicesAttr([0, 2])
        pierced, = load(stage).meshes
        self.assertEqual(len(pierced.face_sizes), len(whole.face_sizes) - 2)
        self.assertEqual(len(pierced.positions), len(whole.positions))
        self.mesh.GetHoleIndicesAttr().Set([10**6])
        with self.assertRaisesRegex(sinew.InvalidArgument, "/Hero/Body.holeIndices: got 1000000, need 0 to"):
            load(stage)

    def test_lost_references_are_reported(self):
        stage = self.simple()
        stage.DefinePrim("/Hero/Hat").GetReferences().AddReference("missing.usda")
        self.assertIn("Could not open asset @missing.usda@", "".join(load(stage).problems))


class BadStages(UsdReading):

    def expect(self, message, stage):
        with self.assertRaises(sinew.InvalidArgument) as raised:
            load(stage)
        self.assertIn(message, str(raised.exception))
        self.assertEqual(raised.exception.exit_code, 65)

    def test_wrong_skeletons(self):
        for change, message in (
                (lambda: self.skeleton.GetBindTransformsAttr().Clear(),
                 "/Hero/Skel: bindTransforms: missing, need one for each of the 4 joints"),
                (lambda: self.skeleton.GetBindTransformsAttr().Set([Gf.Matrix4d(1)]),
                 "/Hero/Skel: bindTransforms: got 1, need one for each of the 4 joints"),
                (lambda: self.skeleton.GetBindTransformsAttr().Set([Gf.Matrix4d(0)] * 4),
                 "/Hero/Skel.bindTransforms: that of 'hip' has no inverse"),
                (lambda: self.skeleton.GetBindTransformsAttr().Set([Gf.Matrix4d(float("nan"))] * 4),
                 "/Hero/Skel.bindTransforms: value 0 is not finite"),
                (lambda: self.skeleton.GetRestTransformsAttr().Set([Gf.Matrix4d(1)] * 3),
                 "/Hero/Skel: restTransforms: got 3, need one for each of the 4 joints"),
                (lambda: self.skeleton.GetRestTransformsAttr().Clear(),
                 "/Hero/Skel: restTransforms: missing, need them because /Hero/Walk does not move all joints"),
                (lambda: self.skeleton.GetJointsAttr().Set(["hip/spine", "hip", "hip/leg", "hip/arm"]),
                 "/Hero/Skel: joints: "),
                (lambda: self.skeleton.GetJointsAttr().Set(["hip", "hip", "hip/leg", "hip/arm"]),
                 "/Hero/Skel: joints: 'hip' is named twice"),
                (lambda: self.skeleton.GetJointsAttr().Set([]), "/Hero/Skel: joints: got none")):
            with self.subTest(message):
                stage = self.simple()
                change()
                self.expect("hero.usda: " + message, stage)
                del stage

    def test_wrong_weights(self):
        indices, weights = (lambda: self.binding.GetJointIndicesPrimvar()), (lambda: self.binding.GetJointWeightsPrimvar())
        place = "/Hero/Body.primvars:skel:"
        for change, message in (
                (lambda: indices().Set([0, 1, 9] * 84), place + "jointIndices: vertex 0 names joint 9, need 0 to 3"),
                (lambda: indices().Set([0, 1, -1] * 84), place + "jointIndices: vertex 0 names joint -1, need 0 to 3"),
                (lambda: indices().Set([0] * 7), place + "jointIndices: got 7 values, need 252: 3 for each of 84 points"),
                (lambda: weights().Set([1.0] * 84), place + "jointWeights: got 84 values, need 252"),
                (lambda: weights().SetElementSize(2), place + "jointWeights: elementSize: got 2, need that of jointIndices, 3"),
                (lambda: weights().SetInterpolation("constant"), place + "jointWeights: interpolation: got constant"),
                (lambda: indices().SetInterpolation("faceVarying"), place + "jointIndices: interpolation: got faceVarying"),
                (lambda: weights().Set([-1.0, 1, 1] * 84), place + "jointWeights: vertex 0 has the weight -1, need >= 0"),
                (lambda: weights().Set([float("inf"), 1, 1] * 84), place + "jointWeights: value 0 is not finite"),
                (lambda: self.mesh.GetPrim().RemoveProperty("primvars:skel:jointWeights"),
                 "/Hero/Body: primvars:skel:jointWeights is missing"),
                (lambda: self.binding.GetSkeletonRel().ClearTargets(True),
                 "/Hero/Body: has joint weights and no skeleton: need skel:skeleton"),
                (lambda: self.mesh.GetPrim().RemoveAPI(UsdSkel.BindingAPI), "/Hero/Body: has joint weights and no skeleton"),
                (lambda: self.binding.CreateJointsAttr(["hip", "tail"]), "/Hero/Body.skel:joints: 'tail' at 1 is no joint of "
                 "/Hero/Skel")):
            with self.subTest(message):
                stage = self.simple()
                change()
                self.expect("hero.usda: " + message, stage)
                del stage

    def test_wrong_meshes_and_shapes(self):
        def shape(**more):
            characters.add_shapes(self.mesh, ["smile"], **more)
            return UsdSkel.BlendShape(self.mesh.GetPrim().GetChild("smile"))

        for change, message in (
                (lambda: self.mesh.GetPointsAttr().Set([Gf.Vec3f(float("nan"))] * 84), "/Hero/Body.points: value 0 is not finite"),
                (lambda: self.mesh.GetFaceVertexIndicesAttr().Set([0, 1, 99]), "/Hero/Body.faceVertexIndices: got 3, need the sum"),
                (lambda: self.mesh.GetFaceVertexIndicesAttr().Set([999] * len(self.mesh.GetFaceVertexIndicesAttr().Get())),
                 "/Hero/Body.faceVertexIndices: got 999 at 0, need 0 to 83"),
                (lambda: shape().GetOffsetsAttr().Set([(1, 0, 0)]), "/Hero/Body/smile.offsets: got 1 offset, need 28: one for "
                 "each of pointIndices"),
                (lambda: shape(sparse=False).GetOffsetsAttr().Set([(1, 0, 0)]), "got 1 offset, need 84: one for each of the "
                 "points"),
                (lambda: shape().GetPointIndicesAttr().Set([84]), "/Hero/Body/smile.pointIndices: got 84, need 0 to 83"),
                (lambda: shape().GetInbetween("between0").SetOffsets([(1, 0, 0)]), "smile.inbetweens:between0: got 1 offset"),
                (lambda: shape(between=((0.5, 0.5),)), "/Hero/Body/smile: two in-betweens have the weight 0.5"),
                (lambda: (shape(), self.binding.GetBlendShapesAttr().Set(["smile", "frown"])),
                 "/Hero/Body.skel:blendShapeTargets: got 1, need one for each of the 2 names"),
                (lambda: (shape(), self.binding.GetBlendShapeTargetsRel().SetTargets(["/Hero/Skel"])),
                 "/Hero/Body.skel:blendShapeTargets: /Hero/Skel is no BlendShape")):
            with self.subTest(message):
                stage = self.simple()
                change()
                self.expect(message, stage)
                del stage

    def test_wrong_animations_and_stages(self):
        for change, message in (
                (lambda: self.animation.GetScalesAttr().Clear(), "/Hero/Walk.scales: got 0 values at time 1, need one for each "
                 "of the 3 joints"),
                (lambda: self.animation.GetTranslationsAttr().Set([Gf.Vec3f(float("nan"))] * 3, 1),
                 "joint 'hip': its transform at time 1 is not finite"),
                (lambda: UsdGeom.SetStageMetersPerUnit(self.mesh.GetPrim().GetStage(), 0), "metersPerUnit: got 0, need more than 0"),
                (lambda: self.mesh.GetPrim().GetStage().SetEndTimeCode(0), "endTimeCode: got 0, need at least startTimeCode 1"),
                (lambda: self.mesh.GetPrim().GetStage().SetTimeCodesPerSecond(0), "timeCodesPerSecond: got 0")):
            with self.subTest(message):
                stage = self.simple()
                change()
                self.expect(message, stage)
                del stage

    def test_later_error_ends_poses(self):
        stage = self.simple()
        self.animation.GetScalesAttr().Set([Gf.Vec3h(1)], 6)
        clip = load(stage).clips["Walk"]
        with self.assertRaisesRegex(sinew.InvalidArgument, "/Hero/Walk.scales: got 1 value at time 6"):
            clip.poses(24)
        self.assertEqual(len(clip.poses(24, last=4)), 5)

    def test_files_that_are_no_stage(self):
        with self.assertRaisesRegex(sinew.NotFound, "nothing.usd: no such file"):
            sinew.load(self.folder / "nothing.usd")
        for name, text in (("bad.usda", "#usda 1.0\ndef Mesh {"), ("bad.usdc", "hello"), ("bad.usdz", "PK"), ("bad.usd", "")):
            (self.folder / name).write_text(text)
            with self.assertRaisesRegex(sinew.InvalidArgument, f"{name}: OpenUSD cannot read it: .*"):
                sinew.load(self.folder / name)
        with self.assertRaisesRegex(sinew.InvalidArgument, "is no file"):
            sinew.load(self.folder.rename(self.folder.with_suffix(".usd")))
        self.folder.with_suffix(".usd").rename(self.folder)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
