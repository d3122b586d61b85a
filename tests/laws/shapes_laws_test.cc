// Laws of every method that reads rest points, for points displaced by blend shapes, whether or not
// it stores its bind pose.
#include <gtest/gtest.h>
#include <tbb/task_arena.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/base/table_io.h"
#include "core/deform/engine/deformer.h"
#include "core/deform/engine/recipe_text.h"
#include "core/deform/engine/registry.h"
#include "core/simd/target.h"
#include "tests/laws/law_frame.h"
#include "tests/reference/shapes_reference.h"
#include "tests/support/compare.h"
#include "tests/support/small_rigs.h"
#include "tests/support/tube.h"

namespace sinew {
namespace {

using testing::Distance;
using testing::Evaluate;
using testing::Frame;
using testing::SameBits;

// Values of sway, bulge and pinch; simple fractions, so that sums of offsets are exact.
const std::vector<float> kOn = {0.5f, 0.75f, 0.5f};
const std::vector<float> kOff = {0, 0, 0};

const Rig& ShapedTube() {
  static const auto* const kRig = new Rig(testing::TubeWithShapes());
  return *kRig;
}

// Recipes whose first stage reads rest points, without shapes.
std::vector<std::string> RestReaders() {
  std::vector<std::string> recipes;
  for (const MethodInfo& method : ListMethods()) {
    if (method.reads == "rest" && method.name != ShapesParams::kName) {
      recipes.push_back(method.example);
    }
  }
  recipes.insert(recipes.end(), {"lbs(max_influences=1)", "dqs(blend=0.5)", "ddm(alpha=0.5)",
                                 "ddm(smoothing=explicit, lambda=0.5, iterations=8)",
                                 "enhanced_ddm(radius=0.05, pop_guard=false)"});
  return recipes;
}

Deformer BindTo(const Rig& rig, const std::string& recipe_text) {
  const auto recipe = ParseRecipe(recipe_text);
  EXPECT_TRUE(recipe.ok()) << recipe.status();
  Task task;
  auto deformer = Deformer::Bind(rig, *recipe, task);
  if (!deformer.ok()) throw std::runtime_error(deformer.status().ToString());
  return *std::move(deformer);
}

Frame Must(const Deformer& deformer, std::span<const Affine> joints,
           std::span<const float> controls) {
  // Shapes do not carry normals, so neither may the recipes that they are compared with.
  absl::StatusOr<Frame> frame =
      testing::Evaluate(deformer, {.joints = joints, .controls = controls}, testing::OnOneThread(),
                        nullptr, NormalRule::kRecomputed);
  if (!frame.ok()) throw std::runtime_error(frame.status().ToString());
  return *std::move(frame);
}

double Tolerance() {
  return 2e-5 * ShapedTube().mesh().diagonal();
}

class ShapesLaws : public ::testing::TestWithParam<std::string> {
 protected:
  const Rig& rig() const { return ShapedTube(); }
  std::vector<Vec3d> rest() const { return reference::ShapedRest(rig(), kOff); }
  std::vector<Vec3d> moved_rest() const { return reference::ShapedRest(rig(), kOn); }
  Deformer plain() const { return BindTo(rig(), GetParam()); }
  Deformer shaped() const { return BindTo(rig(), "shapes | " + GetParam()); }
};

TEST_P(ShapesLaws, RigidMotionCarriesMovedPoints) {
  const Deformer deformer = shaped();
  const auto points = moved_rest();
  for (const double far : {0.0, 3.0}) {
    const AffineD motion = testing::RigidMotion({0.36, 0.48, 0.8}, 137, {far, -far, 2 * far});
    const auto frame = Must(deformer, testing::Moved(motion, testing::RestPose(rig())), kOn);
    for (std::size_t v = 0; v < points.size(); ++v) {
      ASSERT_LE(Distance(Apply(motion, points[v]), ToDouble(frame.positions[v])),
                Tolerance() * (1 + far))
          << "vertex " << v;
    }
  }
}

// Far from the other joint's vertices, so that methods which smooth weights are covered too.
TEST_P(ShapesLaws, SingleJointVertexFollowsMatrix) {
  const auto pose = testing::TurnPose(rig(), {0.6, 0, 0.8}, 70);
  const auto skin = testing::SkinMatrices(rig(), pose);
  const auto frame = Must(shaped(), pose, kOn);
  const auto points = moved_rest();
  std::size_t tested = 0;
  for (const ShapeTarget& target : {rig().shapes().front().targets.front()}) {
    for (const std::uint32_t v : target.vertices) {
      ASSERT_EQ(rig().influences().bindings(v).size(), 1u);
      ASSERT_LE(Distance(Apply(skin[rig().influences().bindings(v).front()], points[v]),
                         ToDouble(frame.positions[v])),
                Tolerance())
          << "vertex " << v;
      tested += Distance(points[v], rest()[v]) > 0.05 ? 1 : 0;
    }
  }
  EXPECT_GE(tested, 100u) << "offsets that count";
}

TEST_P(ShapesLaws, ZeroControlsGiveBitsWithoutShapes) {
  const Deformer without = plain(), with = shaped(),
                 weak = BindTo(rig(), "shapes(strength=0) | " + GetParam());
  for (const double degrees : {0.0, 80.0, 150.0}) {
    const auto pose = testing::BendPose(rig(), degrees);
    const auto expected = Must(without, pose, kOn);
    EXPECT_TRUE(expected.SameBits(Must(with, pose, kOff))) << degrees;
    EXPECT_TRUE(expected.SameBits(Must(with, pose, {}))) << degrees << ", defaults";
    EXPECT_TRUE(expected.SameBits(Must(weak, pose, kOn))) << degrees << ", strength 0";
    EXPECT_FALSE(expected.SameBits(Must(with, pose, kOn))) << degrees << ", turned on";
  }
}

// The offset of a vertex is rotated by a matrix of its own, which depends on the joints only.
TEST_P(ShapesLaws, OffsetsAreLinearPerVertex) {
  const Deformer deformer = shaped();
  const auto points = moved_rest(), still = rest();
  for (const auto& pose : {testing::BendPose(rig(), 75), testing::TwistPose(rig(), 100)}) {
    const auto base = Must(deformer, pose, kOff).positions,
               one = Must(deformer, pose, kOn).positions,
               twice =
                   Must(BindTo(rig(), "shapes(strength=2) | " + GetParam()), pose, kOn).positions;
    std::size_t at_rest = 0;
    for (std::size_t v = 0; v < points.size(); ++v) {
      const Vec3d first = ToDouble(one[v]) - ToDouble(base[v]);
      const Vec3d second = ToDouble(twice[v]) - ToDouble(base[v]);
      ASSERT_LE(Distance(2.0 * first, second), Tolerance()) << "vertex " << v;
      ASSERT_LE(Distance(first, {}), Distance(points[v], still[v]) * 1.001 + Tolerance());
      if (Distance(points[v], still[v]) > 0) continue;
      ++at_rest;
      ASSERT_TRUE(SameBits(std::span(&base[v], 1), std::span(&one[v], 1))) << "vertex " << v;
    }
    EXPECT_GE(at_rest, 50u);
  }
}

TEST_P(ShapesLaws, ThreadsIsaAndSavingDoNotChangeBits) {
  const auto pose = testing::BendPose(rig(), 80);
  Frame scalar;
  for (const Isa isa : SupportedIsas()) {
    ASSERT_TRUE(ForceIsa(isa).ok());
    const Deformer deformer = shaped();
    for (const int threads : {1, 4}) {
      tbb::task_arena arena(threads);
      arena.execute([&] {
        const auto frame = Must(deformer, pose, kOn);
        if (scalar.positions.empty()) scalar = frame;
        EXPECT_TRUE(scalar.SameBits(frame)) << IsaName(isa) << ", " << threads << " threads";
      });
    }
  }
  ASSERT_TRUE(ForceIsa(Isa::kAuto).ok());
  TableWriter writer;
  shaped().Save(writer);
  const std::string file = writer.Finish();
  const auto reader = TableReader::Open(file);
  ASSERT_TRUE(reader.ok());
  const auto loaded = Deformer::Load(*reader);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_TRUE(scalar.SameBits(Must(*loaded, pose, kOn)));
}

TEST_P(ShapesLaws, AnyControlGivesFinitePointsOrError) {
  const Deformer deformer = shaped();
  const auto pose = testing::BendPose(rig(), 80);
  for (const float value : {-3.0f, 7.5f, 1e6f, -1e30f, 3e38f, 1e-42f}) {
    const std::vector<float> controls(3, value);
    const auto frame = Evaluate(deformer, {.joints = pose, .controls = controls});
    if (!frame.ok()) {
      EXPECT_EQ(frame.status().code(), absl::StatusCode::kInvalidArgument) << value;
      EXPECT_GT(std::abs(value), 1e20f) << frame.status();
      continue;
    }
    for (const auto* values : {&frame->positions, &frame->normals}) {
      for (const Vec3f& p : *values) {
        ASSERT_TRUE(std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z)) << value;
      }
    }
  }
}

std::string Readable(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, ShapesLaws, ::testing::ValuesIn(RestReaders()), Readable);

// Methods that store nothing of the rest pose cannot distinguish displaced points from a rig made
// of them.
TEST(ShapesLaw, LbsAndDqsEqualDisplacedRigBitwise) {
  RigSource displaced = testing::TubeWithShapesSource();
  const auto points = reference::ShapedRest(ShapedTube(), kOn);
  for (std::size_t v = 0; v < points.size(); ++v) {
    displaced.mesh.positions[v] = ToFloat(points[v]);
    ASSERT_EQ(Distance(ToDouble(displaced.mesh.positions[v]), points[v]), 0) << "not exact";
  }
  const Rig rig = testing::MakeRig(std::move(displaced));
  ASSERT_EQ(Distance(rig.mesh().centre(), ShapedTube().mesh().centre()), 0);
  const auto pose = testing::BendPose(rig, 80);
  for (const std::string recipe_text : {"lbs", "lbs(max_influences=1)", "dqs", "dqs(blend=0.5)"}) {
    const auto expected = Must(BindTo(rig, recipe_text), pose, kOff);
    const auto frame = Must(BindTo(ShapedTube(), "shapes | " + recipe_text), pose, kOn);
    EXPECT_TRUE(SameBits(expected.positions, frame.positions)) << recipe_text;
    // Normals of the displaced surface: the rig of displaced points has the same ones.
    for (std::size_t v = 0; v < points.size(); ++v) {
      ASSERT_LE(Distance(ToDouble(expected.normals[v]), ToDouble(frame.normals[v])), 1e-5);
    }
  }
}

// Later stages see the displaced skin; at zero they see the same bits as before.
TEST(ShapesLaw, ZeroShapesChangeNoBit) {
  for (const MethodInfo& method : ListMethods()) {
    const auto pose = testing::BendPose(ShapedTube(), 60);
    const auto expected = Must(BindTo(ShapedTube(), method.example), pose, kOff);
    const auto frame = Must(BindTo(ShapedTube(), "shapes | " + method.example), pose, kOff);
    EXPECT_TRUE(expected.SameBits(frame)) << method.name;
  }
}

}  // namespace
}  // namespace sinew
