// fit_weights_table - fits weights and coefficients to what a deformer makes of random poses, and
// prints how far they are from it in other random poses, as a Markdown table: root mean square /
// largest, in % of the diagonal, and how many times smaller the first is in random poses that were
// fitted.
//
//   fit_weights_table [--deformer RECIPE] CHARACTER...
//
// Trained with each joint alone, at 45 degrees about three axes both ways, and 60 random poses, in
// which every joint turns by up to 35 degrees about a random axis; 40 such poses are the test. The
// results are evaluated by the deformation methods themselves.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "client/bake/character/character_file.h"
#include "client/bake/fit/fit_weights.h"
#include "core/deform/engine/deformer.h"
#include "core/deform/engine/recipe_text.h"
#include "server/convert/rig.h"
#include "tests/support/random.h"
#include "tests/support/run_method.h"
#include "tests/support/tube.h"

namespace sinew {
namespace {

using testing::RigidMotion;
using testing::ValueOrDie;

constexpr std::size_t kRandom = 60, kTest = 40;

// Local turns of the joints, to model-space matrices.
void AppendPose(const Rig& rig, const std::vector<AffineD>& turns, std::vector<float>& poses) {
  std::vector<AffineD> model;
  for (std::size_t j = 0; j < rig.joints(); ++j) {
    const AffineD local = Compose(rig.skeleton().rest_local()[j], turns[j]);
    const std::uint32_t parent = rig.skeleton().joint(j).parent;
    model.push_back(parent == kNoParent ? local : Compose(model[parent], local));
    const Affine rounded = ToFloat(model.back());
    poses.insert(poses.end(), rounded.m.begin(), rounded.m.end());
  }
}

std::vector<float> RandomPoses(const Rig& rig, std::size_t count, std::uint32_t seed) {
  testing::Random random(seed);
  std::vector<float> poses;
  for (std::size_t k = 0; k < count; ++k) {
    std::vector<AffineD> turns;
    for (std::size_t j = 0; j < rig.joints(); ++j) {
      const double z = 2 * double{random.Next()} - 1, angle = 6.283185307 * double{random.Next()};
      const double r = std::sqrt(1 - z * z);
      const double degrees = 35.0 * double{random.Next()};
      turns.push_back(RigidMotion({r * std::cos(angle), r * std::sin(angle), z}, degrees));
    }
    AppendPose(rig, turns, poses);
  }
  return poses;
}

std::vector<float> SinglePoses(const Rig& rig) {
  std::vector<char> carries(rig.joints());
  for (const std::uint16_t binding : rig.influences().all_bindings()) {
    carries[rig.bindings()[binding].joint] = 1;
  }
  std::vector<float> poses;
  for (std::size_t j = 0; j < rig.joints(); ++j) {
    if (!carries[j]) continue;
    for (const Vec3d& axis : {Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}}) {
      for (const double degrees : {-45.0, 45.0}) {
        std::vector<AffineD> turns(rig.joints());
        turns[j] = RigidMotion(axis, degrees);
        AppendPose(rig, turns, poses);
      }
    }
  }
  return poses;
}

std::vector<float> Evaluated(const Rig& rig, const std::string& recipe,
                             std::span<const float> poses) {
  Task task;
  const auto deformer = ValueOrDie(Deformer::Bind(rig, ValueOrDie(ParseRecipe(recipe)), task));
  const std::size_t frames = poses.size() / 12 / rig.joints();
  std::vector<float> points(frames * rig.vertices() * 3);
  Workspace workspace;
  std::vector<Affine> pose(rig.joints());
  for (std::size_t f = 0; f < frames; ++f) {
    for (std::size_t j = 0; j < rig.joints(); ++j) {
      std::copy_n(&poses[(f * rig.joints() + j) * 12], 12, pose[j].m.begin());
    }
    FrameOut out{.positions = std::as_writable_bytes(
                     std::span(points).subspan(f * rig.vertices() * 3, rig.vertices() * 3))};
    if (!deformer.Evaluate({.joints = pose}, out, workspace, task).ok()) std::abort();
  }
  return points;
}

struct Distances {
  double rms, largest;
};

// In % of the diagonal.
Distances Between(const Rig& rig, const std::vector<float>& a, const std::vector<float>& b) {
  double squares = 0, largest = 0;
  for (std::size_t k = 0; k < a.size(); k += 3) {
    double square = 0;
    for (std::size_t c = k; c < k + 3; ++c) square += std::pow(double{a[c]} - double{b[c]}, 2);
    squares += square;
    largest = std::max(largest, square);
  }
  const double scale = 100 / rig.mesh().diagonal();
  return {scale * std::sqrt(squares / (static_cast<double>(a.size()) / 3)),
          scale * std::sqrt(largest)};
}

Rig ToRig(const client::RigData& data) {
  return *ValueOrDie(server::ConvertRig(ValueOrDie(client::EncodeRig(data)), {})).rig;
}

void Print(const std::string& file, const std::string& recipe) {
  const auto character = ValueOrDie(bake::ReadCharacter(file));
  const Rig rig = ToRig(character.rig);
  client::ClipData clip;
  clip.joint_transforms = SinglePoses(rig);
  const auto random = RandomPoses(rig, kRandom, 1), test = RandomPoses(rig, kTest, 2);
  clip.joint_transforms.insert(clip.joint_transforms.end(), random.begin(), random.end());
  clip.frames = clip.joint_transforms.size() / 12 / rig.joints();
  const auto train = Evaluated(rig, recipe, clip.joint_transforms);
  const auto train_random = Evaluated(rig, recipe, random), want = Evaluated(rig, recipe, test);
  const Distances own = Between(rig, Evaluated(rig, "lbs", test), want);
  std::printf("| %s | %zu | %.3f / %.1f", character.label.c_str(), rig.vertices(), own.rms,
              own.largest);
  double most = 0, seconds = 0;
  const bake::Monitor monitor;
  const struct {
    const char* method;
    bake::FitModel model;
    std::uint32_t influences;
  } rows[] = {{"lbs", bake::FitModel::kLbs, 4},
              {"lbs", bake::FitModel::kLbs, 8},
              {"animation_space", bake::FitModel::kAnimationSpace, 4},
              {"animation_space", bake::FitModel::kAnimationSpace, 8},
              {"multi_weight", bake::FitModel::kMultiWeight, 8}};
  for (const auto& [method, model, influences] : rows) {
    const auto start = std::chrono::steady_clock::now();
    const auto fitted =
        ValueOrDie(bake::FitWeights(monitor, character.rig, clip, train,
                                    {.model = model, .influences = influences, .hold_out = 0}));
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const Rig result = ToRig(fitted.rig);
    const Distances unseen = Between(rig, Evaluated(result, method, test), want);
    const double fit = Between(rig, Evaluated(result, method, random), train_random).rms;
    most = std::max(most, unseen.rms / fit);
    std::printf(" | %.3f / %.1f", unseen.rms, unseen.largest);
  }
  std::printf(" | %.2f | %.1f |\n", most, seconds);
  std::fflush(stdout);
}

}  // namespace
}  // namespace sinew

int main(int argc, char** argv) {
  std::string recipe = "ddm";
  std::printf(
      "| character | vertices | own weights | `lbs` 4 | `lbs` 8 | `animation_space` 4 | "
      "`animation_space` 8 | `multi_weight` 8 | unseen / fitted, most | seconds, all |\n"
      "|---|---|---|---|---|---|---|---|---|---|\n");
  for (int k = 1; k < argc; ++k) {
    if (std::string(argv[k]) == "--deformer" && k + 1 < argc) {
      recipe = argv[++k];
    } else {
      sinew::Print(argv[k], recipe);
    }
  }
}
