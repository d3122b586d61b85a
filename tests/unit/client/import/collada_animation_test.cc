// Clips of COLLADA files. What is right is computed here, from the numbers of the file.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "sinew/import.h"
#include "tests/support/collada_file.h"
#include "tests/support/gltf_builder.h"
#include "tests/support/linear_blend.h"
#include "tests/unit/client/import/collada_edits.h"

namespace sinew::client {
namespace {

using ::testing::AllOf;
using testing::ColladaAnimation;
using testing::ColladaFile;
using testing::ColladaKeys;
using testing::ColladaLibrary;
using ::testing::HasSubstr;
using ::testing::Not;

using Matrix = Eigen::Affine3d;

Matrix Turn(double degrees, const Eigen::Vector3d& axis) {
  return Matrix(Eigen::AngleAxisd(degrees * std::numbers::pi / 180, axis.normalized()));
}
Matrix TurnX(double degrees) {
  return Turn(degrees, Eigen::Vector3d::UnitX());
}
Matrix TurnY(double degrees) {
  return Turn(degrees, Eigen::Vector3d::UnitY());
}
Matrix TurnZ(double degrees) {
  return Turn(degrees, Eigen::Vector3d::UnitZ());
}
Matrix Move(double x, double y, double z) {
  return Matrix(Eigen::Translation3d(x, y, z));
}

// Joint a at the origin, b two up in it, with three rotations in the order of Maya.
const char kArm[] = R"(<node id="a" sid="A" type="JOINT"><translate sid="t">0 0 0</translate>
<node id="b" sid="B" type="JOINT"><translate sid="t">0 2 0</translate>
<rotate sid="rz">0 0 1 10</rotate><rotate sid="ry">0 1 0 20</rotate><rotate sid="rx">1 0 0 30</rotate>
<scale sid="s">1 1 1</scale></node></node>
)";

std::string Arm(const std::vector<ColladaKeys>& channels) {
  return ColladaFile({"A", "B"}, kArm, ColladaLibrary(channels));
}

ImportedScene Import(const std::string& file) {
  const auto scene = ImportFile(testing::WriteFile("x.dae", file));
  EXPECT_TRUE(scene.ok()) << scene.status();
  return scene.ok() ? *scene : ImportedScene();
}

// The joint called `name` at a time of the clip, to model space.
Matrix JointAt(const ImportedScene& scene, const std::string& name, double seconds,
               std::size_t clip = 0) {
  Matrix out = Matrix::Identity();
  const auto sampled = SampleClip(scene, clip, {.fps = 1, .frame_numbers = {seconds}});
  EXPECT_TRUE(sampled.ok()) << sampled.status();
  const auto joint = std::ranges::find(scene.rig.joints, name, &Joint::name);
  if (!sampled.ok() || joint == scene.rig.joints.end()) {
    ADD_FAILURE() << "no joint " << name;
    return out;
  }
  const float* m =
      &sampled->joint_transforms[static_cast<std::size_t>(joint - scene.rig.joints.begin()) * 12];
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < 4; ++column) out(row, column) = m[row * 4 + column];
  }
  return out;
}

void ExpectNear(const Matrix& got, const Matrix& want, const std::string& what) {
  EXPECT_LT((got.matrix() - want.matrix()).cwiseAbs().maxCoeff(), 2e-6)
      << what << "\n"
      << got.matrix() << "\nwanted\n"
      << want.matrix();
}

TEST(ColladaClip, StepKeysHoldUntilTheNext) {
  const ImportedScene scene = Import(Arm({{"b/rx.ANGLE", {0, 0.5, 1}, {5, 40, -20}, "STEP"}}));
  for (const auto& [seconds, angle] :
       {std::pair(0.0, 5.0), {0.49, 5.0}, {0.5, 40.0}, {0.99, 40.0}, {1.0, -20.0}, {3.0, -20.0}}) {
    ExpectNear(JointAt(scene, "b", seconds), Move(0, 2, 0) * TurnZ(10) * TurnY(20) * TurnX(angle),
               absl::StrCat(seconds));
  }
}

// At one second A is moved by (4, 0, 0), and B, which is (0, 2, 0) above it, turned about z by 90
// degrees. Each vertex is the mean of where the two take it.
TEST(ColladaClip, MovesVerticesAsCalculatedByHand) {
  const char nodes[] = R"(<node id="a" sid="A"><translate sid="t">0 0 0</translate>
<node id="b" sid="B"><translate>0 2 0</translate><rotate sid="r">0 0 1 0</rotate></node></node>)";
  const ImportedScene scene = Import(
      ColladaFile({"A", "B"}, nodes,
                  ColladaLibrary({{"a/t.X", {0, 1}, {0, 4}}, {"b/r.ANGLE", {0, 1}, {0, 90}}})));
  ASSERT_EQ(scene.rig.meshes.size(), 1u);
  const auto clip = SampleClip(scene, 0, {.fps = 1});
  ASSERT_TRUE(clip.ok()) << clip.status();
  const auto posed = testing::LinearBlend(scene.rig, scene.rig.meshes[0], *clip, 1);
  const double want[3][3] = {{4, 1, 0}, {4.5, 1.5, 0}, {3.5, 1.5, 0}};
  ASSERT_EQ(posed.size(), 3u);
  for (std::size_t v = 0; v < 3; ++v) {
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(posed[v][i], want[v][i], 1e-6) << v << " " << i;
  }
}

// 10 / 24 written with six digits is after the frame.
TEST(ColladaClip, RoundedTimeOfKeyMeetsItsFrame) {
  const ImportedScene scene = Import(Arm({{"b/t.X", {0, 0.416667}, {1, 3}, "STEP"}}));
  EXPECT_EQ(JointAt(scene, "b", 10.0 / 24).translation().x(), 3);
  EXPECT_EQ(JointAt(scene, "b", 9.99 / 24).translation().x(), 1);
}

TEST(ColladaClip, BezierKeysFollowTheirControlPoints) {
  // Two spans; the second overshoots, and its tangents cross in time.
  const double t[] = {0, 0.1, 0.7, 1, 1.9, 1.2, 2};
  const double v[] = {-10, 60, 35, 20, 200, -150, 50};
  const ImportedScene scene = Import(Arm({{"b/rx.ANGLE",
                                           {t[0], t[3], t[6]},
                                           {v[0], v[3], v[6]},
                                           "BEZIER",
                                           {-0.1, 0, t[2], v[2], t[5], v[5]},
                                           {t[1], v[1], t[4], v[4], 9, 9}}}));
  const auto bezier = [](const double* p, double s) {
    return std::pow(1 - s, 3) * p[0] + 3 * s * std::pow(1 - s, 2) * p[1] +
           3 * s * s * (1 - s) * p[2] + std::pow(s, 3) * p[3];
  };
  for (const int span : {0, 3}) {
    for (double s = 0.05; s < 1; s += 0.1) {
      const double angle = bezier(v + span, s);
      ExpectNear(JointAt(scene, "b", bezier(t + span, s)),
                 Move(0, 2, 0) * TurnZ(10) * TurnY(20) * TurnX(angle), absl::StrCat(span, " ", s));
    }
  }
}

TEST(ColladaClip, BezierKeysOfSeveralNumbersHaveOwnTangents) {
  const ImportedScene scene = Import(Arm({{"b/t",
                                           {0, 1},
                                           {0, 0, 0, 3, 3, 3},
                                           "BEZIER",
                                           {0, 0, 0, 0, 0, 0, 0.5, 3, 2.0 / 3, 2, 0.5, 3},
                                           {0.5, 0, 1.0 / 3, 1, 0.5, 0, 1, 3, 1, 3, 1, 3}}}));
  // Ease in and out in x and z: the time is t = 3/2 s - 3/2 s^2 + s^3, the value 3 (3 s^2 - 2 s^3).
  // Tangents at thirds are a line in y.
  const double s = 0.3, time = 1.5 * s - 1.5 * s * s + s * s * s,
               eased = 3 * (3 * s * s - 2 * s * s * s);
  const Eigen::Vector3d moved = JointAt(scene, "b", time).translation();
  EXPECT_NEAR(moved.x(), eased, 1e-6);
  EXPECT_NEAR(moved.y(), 3 * time, 1e-6);
  EXPECT_NEAR(moved.z(), eased, 1e-6);
}

TEST(ColladaClip, AxesKeepKeysOfTheirOwn) {
  const ImportedScene scene = Import(Arm({{"b/rz.ANGLE", {0, 1}, {0, 100}},
                                          {"b/ry.ANGLE", {0.25, 0.5, 2}, {10, -60, 30}},
                                          {"b/rx.ANGLE", {0.75}, {-75}}}));
  const auto line = [](double t, double t0, double v0, double t1, double v1) {
    const double u = std::clamp((t - t0) / (t1 - t0), 0.0, 1.0);
    return v0 + u * (v1 - v0);
  };
  for (double t = 0; t < 2.2; t += 0.09) {
    const double y = t < 0.5 ? line(t, 0.25, 10, 0.5, -60) : line(t, 0.5, -60, 2, 30);
    ExpectNear(JointAt(scene, "b", t),
               Move(0, 2, 0) * TurnZ(line(t, 0, 0, 1, 100)) * TurnY(y) * TurnX(-75),
               absl::StrCat(t));
  }
  EXPECT_EQ(scene.clips.at(0).start, 0);
  EXPECT_EQ(scene.clips.at(0).end, 2);
  EXPECT_EQ(scene.clips.at(0).channels, 3u);
  EXPECT_EQ(scene.clips.at(0).keys, 3u);
}

TEST(ColladaClip, KindsMayChangeFromKeyToKey) {
  std::string file = Arm({{"b/t.X", {0, 1, 2}, {0, 4, 8}, "STEP"}});
  file = absl::StrReplaceAll(file, {{"STEP STEP STEP", "STEP LINEAR HERMITE"}});
  const ImportedScene scene = Import(file);
  EXPECT_EQ(JointAt(scene, "b", 0.9).translation().x(), 0);
  EXPECT_NEAR(JointAt(scene, "b", 1.25).translation().x(), 5, 1e-6);
  EXPECT_EQ(JointAt(scene, "b", 2.5).translation().x(), 8) << "nothing follows the last key";
}

// Blender's exporter writes matrices like these.
TEST(ColladaClip, MatrixKeysInterpolateElements) {
  const char nodes[] = R"(<node id="Arm_up" sid="up" name="up" type="JOINT">
<matrix sid="transform">1 0 0 1 0 1 0 0 0 0 1 0 0 0 0 1</matrix>
<node id="Arm_low" sid="low" name="low" type="JOINT">
<matrix sid="transform">1 0 0 0 0 1 0 2 0 0 1 0 0 0 0 1</matrix></node></node>)";
  const std::vector<double> first = {0, -1, 0, 1, 1, 0, 0, 2, 0, 0, 1, 3, 0, 0, 0, 1},
                            second = {1, 0, 0, 5, 0, 0, -1, 6, 0, 1, 0, 7, 0, 0, 0, 1};
  std::vector<double> both = first;
  both.insert(both.end(), second.begin(), second.end());
  const ImportedScene scene = Import(ColladaFile(
      {"up", "low"}, nodes,
      ColladaLibrary({{"Arm_up/transform", {0, 0.5}, both, "LINEAR", {}, {}, "float4x4"}})));
  for (const double u : {0.0, 0.25, 1.0}) {
    Matrix want = Matrix::Identity();
    for (int row = 0; row < 3; ++row) {
      for (int column = 0; column < 4; ++column) {
        const auto i = static_cast<std::size_t>(row * 4 + column);
        want(row, column) = (1 - u) * first[i] + u * second[i];
      }
    }
    ExpectNear(JointAt(scene, "Arm_up", u * 0.5), want, absl::StrCat(u));
    ExpectNear(JointAt(scene, "Arm_low", u * 0.5), want * Move(0, 2, 0), absl::StrCat(u));
  }
}

TEST(ColladaClip, IndicesOfMatrixAreColumnAndRow) {
  const char nodes[] = R"(<node id="a" sid="A"><matrix sid="m">1 0 0 4 0 1 0 5 0 0 1 6 0 0 0 1
</matrix></node>)";
  const ImportedScene scene = Import(ColladaFile(
      {"A"}, nodes, ColladaLibrary({{"a/m(3)(1)", {0}, {9}}, {"a/m(1)(0)", {0}, {0.5}}})));
  Matrix want = Move(4, 9, 6);
  want(0, 1) = 0.5;
  ExpectNear(JointAt(scene, "a", 0), want, "row 1 of column 3, row 0 of column 1");
}

TEST(ColladaClip, DrivesWholeElementsAndIndices) {
  const ImportedScene scene = Import(Arm({{"b/s", {0, 1}, {1, 2, 3, 3, 4, 5}},
                                          {"b/rz", {0}, {0, 3, 4, 50}},  // an axis of length 5
                                          {"b/t(2)", {0}, {7}},
                                          {"a/t.Y", {0}, {-1}}}));
  ExpectNear(JointAt(scene, "b", 0.5),
             Move(0, -1, 0) * Move(0, 2, 7) * Turn(50, {0, 0.6, 0.8}) * TurnY(20) * TurnX(30) *
                 Eigen::Scaling(2.0, 3.0, 4.0),
             "scale, axis, index");
}

// Joint orients are rotations that no channel drives, between those that are.
TEST(ColladaClip, KeepsElementsWithoutChannelsInOrder) {
  const char nodes[] = R"(<node id="a" sid="A"><translate sid="translate">1 2 3</translate>
<translate sid="rotatePivot">0 1 0</translate><rotate sid="jointOrientX">1 0 0 35</rotate>
<rotate sid="rotateY">0 1 0 0</rotate><rotate sid="axis">0 0 1 -15</rotate>
<translate sid="rotatePivotInverse">0 -1 0</translate></node>)";
  const ImportedScene scene =
      Import(ColladaFile({"A"}, nodes, ColladaLibrary({{"a/rotateY.ANGLE", {0, 2}, {0, 80}}})));
  ExpectNear(JointAt(scene, "a", 1.5),
             Move(1, 2, 3) * Move(0, 1, 0) * TurnX(35) * TurnY(60) * TurnZ(-15) * Move(0, -1, 0),
             "pivot and orient");
}

TEST(ColladaClip, FindsNodesBelowByTheirSids) {
  const ImportedScene scene = Import(Arm({{"a/B/rx.ANGLE", {0}, {-90}}}));
  ExpectNear(JointAt(scene, "b", 0), Move(0, 2, 0) * TurnZ(10) * TurnY(20) * TurnX(-90), "a/B/rx");
}

TEST(ColladaClip, SidsMayHaveDots) {
  const std::string nodes = absl::StrReplaceAll(kArm, {{"\"rx\"", "\"rot.X\""}});
  const ImportedScene scene =
      Import(ColladaFile({"A", "B"}, nodes, ColladaLibrary({{"b/rot.X.ANGLE", {0}, {-90}}})));
  ExpectNear(JointAt(scene, "b", 0), Move(0, 2, 0) * TurnZ(10) * TurnY(20) * TurnX(-90), "rot.X");
}

TEST(ColladaClip, MovesNodesAboveJoints) {
  const std::string nodes =
      absl::StrCat("<node id=\"rig\"><scale sid=\"s\">1 1 1</scale>", kArm, "</node>");
  const ImportedScene scene =
      Import(ColladaFile({"A", "B"}, nodes, ColladaLibrary({{"rig/s.X", {0, 1}, {1, 3}}})));
  EXPECT_NEAR(JointAt(scene, "a", 0.5).linear()(0, 0), 2, 1e-6);
}

TEST(ColladaClip, MovesEveryInstanceOfNode) {
  const std::string library = absl::StrCat("<library_nodes>", kArm, "</library_nodes>",
                                           ColladaLibrary({{"b/rx.ANGLE", {0, 1}, {0, 90}}}));
  const ImportedScene scene = Import(ColladaFile(
      {"a", "b"}, "<node id=\"top\"><translate>5 0 0</translate><instance_node url=\"#a\"/></node>",
      library));
  ExpectNear(JointAt(scene, "b", 1), Move(5, 2, 0) * TurnZ(10) * TurnY(20) * TurnX(90), "instance");
}

TEST(ColladaClip, StaysInUnitAndAxesOfFile) {
  const ImportedScene scene =
      Import(ColladaFile({"A", "B"}, kArm, ColladaLibrary({{"b/t.Z", {1, 3}, {0, 10}}}),
                         "<unit name=\"inch\" meter=\"0.0254\"/><up_axis>Z_UP</up_axis>"));
  EXPECT_NEAR(scene.rig.meters_per_unit, 0.0254, 1e-8);
  EXPECT_EQ(scene.rig.up_axis, UpAxis::kZ);
  EXPECT_NEAR(JointAt(scene, "b", 1.5).translation().z(), 2.5, 1e-6);
  EXPECT_NEAR(JointAt(scene, "b", 0).translation().z(), 0, 1e-6) << "before the first key";
  EXPECT_NEAR(JointAt(scene, "b", 9).translation().z(), 10, 1e-6) << "after the last key";
}

TEST(ColladaClip, RestIsThatOfFile) {
  const char nodes[] = R"(<node id="a" sid="A"><lookat>1 2 3 1 2 -5 0 3 1</lookat>
<rotate>0 0 7 90</rotate><rotate>0 0 0 0</rotate></node>)";
  const ImportedScene scene = Import(ColladaFile({"A"}, nodes, ""));
  Matrix got = Matrix::Identity();
  for (int i = 0; i < 12; ++i)
    got(i / 4, i % 4) = scene.rig.rest_local[static_cast<std::size_t>(i)];
  ExpectNear(got, Move(1, 2, 3) * TurnZ(90), "looks along -z with y up, axis of length 7");
}

// The clips of a file with a clip library.
std::string WithClips(const std::string& clips) {
  return ColladaFile(
      {"A", "B"}, kArm,
      absl::StrCat(ColladaLibrary({{"b/t.X", {0, 4}, {0, 40}}, {"b/t.Z", {0, 4}, {0, 8}}}),
                   "<library_animation_clips>", clips, "</library_animation_clips>"));
}

TEST(ColladaClip, AnimationClipsCountFromTheirStart) {
  const ImportedScene scene =
      Import(WithClips(R"(<animation_clip id="c1" name="walk" start="1" end="2.5">
<instance_animation url="#an0"/><instance_animation url="#an1"/></animation_clip>
<animation_clip id="run"><instance_animation url="#an0"/></animation_clip>)"));
  ASSERT_EQ(scene.clips.size(), 2u);
  EXPECT_EQ(scene.clips[0].name, "walk");
  EXPECT_EQ(scene.clips[0].end, 1.5);
  EXPECT_EQ(scene.clips[1].name, "run");
  EXPECT_EQ(scene.clips[1].end, 4);
  EXPECT_NEAR(JointAt(scene, "b", 0.5, 0).translation().x(), 15, 1e-5);
  EXPECT_NEAR(JointAt(scene, "b", 0.5, 0).translation().z(), 3, 1e-5);
  EXPECT_NEAR(JointAt(scene, "b", 3, 0).translation().x(), 25, 1e-5) << "after its end";
  EXPECT_NEAR(JointAt(scene, "b", 0.5, 1).translation().x(), 5, 1e-5);
  EXPECT_EQ(JointAt(scene, "b", 0.5, 1).translation().z(), 0) << "an1 is not in this clip";
}

TEST(ColladaClip, ReportsChannelsInNoClip) {
  const ImportedScene scene = Import(
      WithClips(R"(<animation_clip id="run"><instance_animation url="#an0"/></animation_clip>)"));
  EXPECT_THAT(scene.problems,
              ::testing::Contains(::testing::Field(
                  &Problem::message, HasSubstr("1 channel that no animation clip plays"))));
}

TEST(ColladaClip, AnimationsOfOneNumberAreClips) {
  const ImportedScene scene = Import(Arm({{"b/t.X", {0, 1}, {0, 4}}, {"b/t.X", {0, 3}, {0, 30}}}));
  ASSERT_EQ(scene.clips.size(), 2u);
  EXPECT_EQ(scene.clips[0].name, "an0");
  EXPECT_NEAR(JointAt(scene, "b", 0.5, 0).translation().x(), 2, 1e-6);
  EXPECT_NEAR(JointAt(scene, "b", 0.5, 1).translation().x(), 5, 1e-6);
}

TEST(ColladaClip, ReportsChannelsThatMoveNothingOfRig) {
  const std::string nodes =
      absl::StrCat(kArm, "<node id=\"camera\"><translate sid=\"t\">0 0 0</translate></node>");
  const ImportedScene scene =
      Import(ColladaFile({"A", "B"}, nodes,
                         ColladaLibrary({{"b/t.X", {0, 1}, {0, 4}},
                                         {"lens/YFOV", {0, 1}, {0, 4}},
                                         {"b/visibility", {0}, {1}},
                                         {"camera/t.X", {0, 2}, {0, 1}, "CARDINAL"},
                                         {"camera/t.Y", {0, 2}, {0, 1}}})));
  EXPECT_THAT(scene.problems, ::testing::Contains(::testing::Field(
                                  &Problem::message, HasSubstr("3 channels that move nothing"))));
  ASSERT_EQ(scene.clips.size(), 1u);
  EXPECT_EQ(scene.clips[0].name, "animation");
  EXPECT_EQ(scene.clips[0].channels, 2u);
}

// What the error says after the file's name: one line that names the channel.
std::string Refusal(const std::string& file) {
  const std::string path = testing::WriteFile("x.dae", file);
  const std::string message = MessageOf(ImportFile(path).status());
  EXPECT_LT(message.size() - path.size(), 300u) << message;
  EXPECT_THAT(message, Not(HasSubstr("\n")));
  return message.substr(std::min(message.size(), path.size()));
}

TEST(ColladaClip, RefusesChannelsThatCannotBeEvaluated) {
  const double inf = std::numeric_limits<double>::infinity();
  struct Case {
    ColladaKeys keys;
    const char* message;
  };
  for (const Case& c : {
           Case{{"b/rx.ANGLE", {0, 1}, {0, 1}, "HERMITE"}, "'HERMITE', need STEP, LINEAR or BEZ"},
           Case{{"b/rx.ANGLE", {0, 1}, {0, 1}, "CARDINAL"}, "'CARDINAL'"},
           Case{{"b/rx.ANGLE", {0, 1}, {0, 1}, "BSPLINE"}, "'BSPLINE'"},
           Case{{"b/rx.ANGLE", {0, 1}, {0, 1}, "bezier"}, "'bezier'"},
           Case{{"b/rx.ANGLE", {0, 1}, {0, 1}, "BEZIER"}, "no IN_TANGENT source"},
           Case{{"b/rx.ANGLE", {0, 1}, {0, 1}, "BEZIER", {0, 0}, {0, 0}, "float", 1},
                "IN_TANGENT: 2 tangents of 1 number, need 2 of 2"},
           Case{{"b/rx.ANGLE", {0, 1}, {0, 1}, "BEZIER", {0, 0, -2, 0}, {2, 0, 0, 0}},
                "after key 0 go back in time"},
           Case{{"b/rx.ANGLE", {0, 1}, {0, 1}, "BEZIER", {0, 0, 0.5, 0}, {-0.2, 0, 0, 0}},
                "go back in time"},
           Case{{"b/rx.ANGLE", {0, 2, 1}, {0, 1, 2}}, "key 2 is 1 after 2"},
           Case{{"b/rx.ANGLE", {0, 1}, {0, inf}}, "'inf' in <float_array>"},
           Case{{"b/rx.ANGLE", {0, 1}, {0, std::nan("")}}, "'nan'"},
           Case{{"b/rx", {0, 1}, {0, 1}}, "keys of 1 number, its target has 4"},
           Case{{"b/rx.ANGEL", {0, 1}, {0, 1}}, "no number '.ANGEL'"},
           Case{{"b/t.ANGLE", {0, 1}, {0, 1}}, "no number '.ANGLE'"},
           Case{{"b/t(3)", {0, 1}, {0, 1}}, "no number '(3)'"},
           Case{{"b/t(0)(0)", {0, 1}, {0, 1}}, "no number '(0)(0)'"},
           Case{{"b/nothing.X", {0, 1}, {0, 1}}, "no element with the sid 'nothing.X'"},
           Case{{"a/rx.ANGLE", {0, 1}, {0, 1}}, "no element with the sid 'rx.ANGLE'"},
           Case{{"b/rx.ANGLE",
                 {0, 1},
                 {0, 1},
                 "LINEAR",
                 {},
                 {},
                 "float",
                 2,
                 " post_behavior=\"CYCLE\""},
                "post_behavior 'CYCLE'"},
       }) {
    EXPECT_THAT(
        Refusal(Arm({c.keys})),
        AllOf(HasSubstr(absl::StrCat("channel '", c.keys.target, "'")), HasSubstr(c.message)));
  }
}

TEST(ColladaClip, RefusesTwoChannelsOfOneNumber) {
  const std::string both = absl::StrCat("<library_animations><animation id=\"all\">",
                                        ColladaAnimation("an0", {"b/t.X", {0, 1}, {0, 4}}),
                                        ColladaAnimation("an1", {"b/t", {0}, {0, 4, 5}}),
                                        "</animation></library_animations>");
  EXPECT_THAT(Refusal(ColladaFile({"A", "B"}, kArm, both)),
              HasSubstr("channel 'b/t': another channel drives the same number"));
}

TEST(ColladaClip, RefusesDamagedSources) {
  const std::string good = Arm({{"b/rx.ANGLE", {0, 1, 2}, {0, 10, 20}}});
  struct Case {
    const char *right, *wrong, *message;
  };
  for (const auto& [right, wrong, message] :
       {Case{"source=\"#an0-k-a\" count=\"3\"", "source=\"#an0-k-a\" count=\"2\"",
             "2 interpolations for 3 keys"},
        Case{"source=\"#an0-s\"", "source=\"#elsewhere\"", "no sampler '#elsewhere'"},
        Case{"semantic=\"INPUT\"", "semantic=\"INPUTS\"", "no INPUT source"},
        Case{"source=\"#an0-i-a\"", "source=\"other.dae#an0-i-a\"", "no array 'other.dae#"}}) {
    EXPECT_THAT(Refusal(absl::StrReplaceAll(good, {{right, wrong}})),
                AllOf(HasSubstr("channel 'b/rx.ANGLE'"), HasSubstr(message)));
  }
}

TEST(ColladaClip, RefusesTransformsThatAreNone) {
  struct Case {
    const char *element, *message;
  };
  for (const auto& [element, message] :
       {Case{"<rotate>0 0 0 30</rotate>", "the axis of a rotation is 0"},
        Case{"<translate>0 1 2 3</translate>", "<translate> of 4 numbers, need 3"},
        Case{"<lookat>0 1 0 0 2 0 0 1 0</lookat>", "<lookat> has no direction"},
        Case{"<skew>30 1 0 0 0 1 0</skew>", "<skew> is not supported"},
        Case{"<matrix>1 0 0 0 0 1 0 0 0 0 1 0 0 0 1 1</matrix>", "need 0 0 0 1"}}) {
    const std::string nodes = absl::StrCat("<node id=\"a\" sid=\"A\">", element, "</node>");
    EXPECT_THAT(Refusal(ColladaFile({"A"}, nodes, "")),
                AllOf(HasSubstr("node 'a'"), HasSubstr(message)));
  }
}

TEST(ColladaClip, NamesNodeWhoseMotionCannotBeComposed) {
  const ImportedScene scene = Import(Arm({{"b/rx", {0, 1}, {1, 0, 0, 90, -1, 0, 0, 90}}}));
  const auto sampled = SampleClip(scene, 0, {.fps = 2, .last_frame = 2});
  EXPECT_EQ(sampled.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(sampled.status().message()),
              HasSubstr("node 'b' at 0.5 s: the axis of a rotation is 0"));
}

// The file has them in the other order: instances come behind children.
TEST(ColladaClip, NamesFirstNodeOfSceneThatCannotBeComposed) {
  const char turn[] = "<rotate sid=\"r\">1 0 0 0</rotate>";
  const std::vector<double> over = {1, 0, 0, 90, -1, 0, 0, 90};
  const ImportedScene scene = Import(
      ColladaFile({"x", "y"},
                  absl::StrCat("<node id=\"top\"><node id=\"x\">", turn,
                               "</node><instance_node url=\"#y\"/></node>"),
                  absl::StrCat("<library_nodes><node id=\"y\">", turn, "</node></library_nodes>",
                               ColladaLibrary({{"y/r", {0, 1}, over}, {"x/r", {0, 1}, over}}))));
  const auto sampled = SampleClip(scene, 0, {.fps = 2, .last_frame = 2});
  EXPECT_THAT(std::string(sampled.status().message()), HasSubstr("node 'x' at 0.5 s"));
}

TEST(ColladaClip, RefusesClipsThatCannotBePlayed) {
  EXPECT_THAT(Refusal(WithClips(R"(<animation_clip id="c" start="2" end="1">
<instance_animation url="#an0"/></animation_clip>)")),
              HasSubstr("animation_clip 'c': begins at 2 s and ends at 1 s"));
  EXPECT_THAT(Refusal(WithClips(R"(<animation_clip id="c" start="soon"/>)")),
              HasSubstr("start is 'soon'"));
  EXPECT_THAT(Refusal(WithClips(R"(<animation_clip id="c"><instance_animation url="#b"/>
</animation_clip>)")),
              HasSubstr("no animation '#b'"));
  EXPECT_THAT(Refusal(WithClips(R"(<animation_clip id="c"><instance_formula/></animation_clip>)")),
              HasSubstr("formulas are not supported"));
}

}  // namespace
}  // namespace sinew::client
