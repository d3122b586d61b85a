// Laws of every method for rigs that were made by mirroring; deformer_laws_test has those of poses.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>
#include <vector>

#include "core/deform/engine/deformer.h"
#include "core/deform/engine/recipe_text.h"
#include "tests/laws/law_cases.h"
#include "tests/laws/law_frame.h"
#include "tests/laws/law_recipes.h"
#include "tests/support/compare.h"
#include "tests/support/run_method.h"

namespace sinew {
namespace {

using testing::Distance;
using testing::Frame;
using testing::ScaleMotion;

struct NamedSource {
  std::string name;
  RigSource source;
};

const std::vector<NamedSource>& Sources() {
  static const auto* const kSources = new std::vector<NamedSource>{
      {"chain",
       testing::TubeSource(
           {.rings = 49, .around = 16, .joints = 4, .weights = testing::TubeWeights::kFour})},
      {"palm", testing::PalmSource(32)},
      {"muscles", testing::TubeWithMusclesSource()}};
  return *kSources;
}

class MirrorLaws : public ::testing::TestWithParam<std::tuple<std::string, std::size_t>> {
 protected:
  const RigSource& source() const { return Sources()[std::get<1>(GetParam())].source; }
  static Deformer Bind(const Rig& rig) {
    Task task;
    return testing::ValueOrDie(
        Deformer::Bind(rig, testing::ValueOrDie(ParseRecipe(std::get<0>(GetParam()))), task));
  }
  // That `other` in `other_pose` is `motion` of `rig` in `pose`, but for rounding, which some
  // methods amplify.
  static void ExpectMoved(const Rig& rig, std::span<const Affine> pose, const AffineD& motion,
                          const Rig& other, std::span<const Affine> other_pose,
                          const std::string& what) {
    const Deformer deformer = Bind(rig);
    const Frame want = testing::Must(deformer, {.joints = pose});
    const Frame got = testing::Must(Bind(other), {.joints = other_pose});
    const double tolerance = 2e-5 * rig.mesh().diagonal();
    const auto spread = testing::SpreadOf(want, pose, 1e-6 * rig.mesh().diagonal(),
                                          [&](std::span<const Affine> joints) {
                                            return testing::Must(deformer, {.joints = joints});
                                          });
    for (std::size_t v = 0; v < rig.vertices(); ++v) {
      ASSERT_LE(Distance(Apply(motion, ToDouble(want.positions[v])), ToDouble(got.positions[v])),
                tolerance + 2 * spread.positions[v])
          << what << ", vertex " << v;
    }
  }
};

std::vector<std::vector<Affine>> Poses(const Rig& rig) {
  return {testing::RestPose(rig), testing::TurnPose(rig, {0.6, 0, 0.8}, 50)};
}

TEST_P(MirrorLaws, MirrorAboveSkeletonMirrorsFrame) {
  const Rig rig = testing::MakeRig(source());
  for (const testing::NamedMirror& mirror : testing::Mirrors()) {
    RigSource mirrored = source();
    for (std::size_t j = 0; j < mirrored.joints.size(); ++j) {
      if (mirrored.joints[j].parent != kNoParent) continue;
      mirrored.rest_local[j] = Compose(mirror.motion, mirrored.rest_local[j]);
    }
    const Rig other = testing::MakeRig(std::move(mirrored));
    for (const auto& pose : Poses(rig)) {
      ExpectMoved(rig, pose, mirror.motion, other, testing::Moved(mirror.motion, pose),
                  mirror.name);
    }
  }
}

// Joints whose axes are left-handed, as those of a limb that was made by mirroring: skin matrices
// are the same.
TEST_P(MirrorLaws, MirroredAxesChangeNothing) {
  if (!source().muscles.empty()) GTEST_SKIP() << "muscles are given in joint space";
  const Rig rig = testing::MakeRig(source());
  for (const std::size_t first : {std::size_t{0}, rig.joints() - 1}) {
    RigSource mirrored = source();
    const AffineD mirror = ScaleMotion({-1, 1, 1});
    const auto axes = [&](std::size_t j) { return j >= first ? mirror : AffineD{}; };
    for (std::size_t j = 0; j < rig.joints(); ++j) {
      const std::uint32_t parent = mirrored.joints[j].parent;
      if (parent != kNoParent) {
        mirrored.rest_local[j] = Compose(axes(parent), mirrored.rest_local[j]);
      }
      mirrored.rest_local[j] = Compose(mirrored.rest_local[j], axes(j));
    }
    for (Binding& binding : mirrored.bindings) {
      binding.inverse_bind = Compose(axes(binding.joint), binding.inverse_bind);
    }
    const Rig other = testing::MakeRig(std::move(mirrored));
    for (const auto& pose : Poses(rig)) {
      std::vector<Affine> posed;
      for (std::size_t j = 0; j < pose.size(); ++j) {
        posed.push_back(ToFloat(Compose(ToDouble(pose[j]), axes(j))));
      }
      ExpectMoved(rig, pose, {}, other, posed, "from joint " + std::to_string(first));
    }
  }
}

std::string Readable(const ::testing::TestParamInfo<MirrorLaws::ParamType>& info) {
  std::string name = std::get<0>(info.param) + "_" + Sources()[std::get<1>(info.param)].name;
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, MirrorLaws,
                         ::testing::Combine(::testing::ValuesIn(testing::LawRecipes()),
                                            ::testing::Range<std::size_t>(0, Sources().size())),
                         Readable);

}  // namespace
}  // namespace sinew
