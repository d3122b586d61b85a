// The built-in models: closed, outward, well weighted, consistent at rest, looping.
#include "client/models/models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/digest.h"
#include "sinew/client.h"

namespace sinew::client {
namespace {

using ::testing::HasSubstr;
using Point = std::array<double, 3>;

struct Case {
  std::string name;
  Model (*make)();
  double low_volume, high_volume;  // cubic metres
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

const std::vector<Case>& Cases() {
  static const auto* const kCases = new std::vector<Case>{
      {"Tube", [] { return Tube(); }, 0.37, 0.40},
      {"SmallestTube",
       [] { return Tube({.rings = 2, .segments = 3, .joints = 1, .influences = 1}); }, 0.15, 0.17},
      {"ManyInfluences",
       [] { return Tube({.rings = 200, .segments = 8, .joints = 40, .influences = 16}); }, 0.35,
       0.36},
      {"RigidTube", [] { return Tube({.joints = 7, .influences = 1}); }, 0.37, 0.40},
      {"Cylinder", [] { return Cylinder(); }, 0.0311, 0.0313},
      {"Arm", [] { return *Make("arm"); }, 0.0032, 0.0042},
      {"Hand", [] { return *Make("hand"); }, 0.00030, 0.00045},
  };
  return *kCases;
}

class BuiltInModel : public ::testing::TestWithParam<Case> {
 protected:
  // Made once for all tests of a case.
  void SetUp() override {
    static auto* const made = new std::map<std::string, Model>;
    if (made->count(GetParam().name) == 0) {
      made->emplace(GetParam().name, GetParam().make());
    }
    model_ = &made->at(GetParam().name);
  }

  const Mesh& mesh() const { return model_->rig.meshes.at(0); }
  Point Vertex(std::size_t v) const {
    return {mesh().positions[v * 3], mesh().positions[v * 3 + 1], mesh().positions[v * 3 + 2]};
  }

  const Model* model_ = nullptr;
};

TEST_P(BuiltInModel, SkinIsWatertightManifold) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> edges;
  std::size_t at = 0;
  for (const std::uint32_t size : mesh().face_sizes) {
    std::set<std::uint32_t> distinct;
    for (std::uint32_t k = 0; k < size; ++k) {
      const std::uint32_t a = mesh().face_vertices[at + k];
      ASSERT_LT(a, mesh().vertices());
      distinct.insert(a);
      ++edges[{a, mesh().face_vertices[at + (k + 1) % size]}];
    }
    ASSERT_EQ(distinct.size(), size);
    at += size;
  }
  ASSERT_EQ(at, mesh().face_vertices.size());
  for (const auto& [edge, count] : edges) {
    ASSERT_EQ(count, 1) << edge.first << " " << edge.second;
    ASSERT_EQ(edges.count({edge.second, edge.first}), 1u) << edge.first << " " << edge.second;
  }
  const auto euler = static_cast<std::int64_t>(mesh().vertices() + mesh().face_sizes.size()) -
                     static_cast<std::int64_t>(edges.size() / 2);
  EXPECT_EQ(euler, 2) << "one piece without holes";
}

TEST_P(BuiltInModel, FacesLookOutward) {
  double volume = 0;
  std::size_t at = 0;
  for (const std::uint32_t size : mesh().face_sizes) {
    for (std::uint32_t k = 1; k + 1 < size; ++k) {
      const Point a = Vertex(mesh().face_vertices[at]), b = Vertex(mesh().face_vertices[at + k]),
                  c = Vertex(mesh().face_vertices[at + k + 1]);
      volume += (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
                 a[2] * (b[0] * c[1] - b[1] * c[0])) /
                6;
    }
    at += size;
  }
  EXPECT_GT(volume, GetParam().low_volume);
  EXPECT_LT(volume, GetParam().high_volume);
}

TEST_P(BuiltInModel, WeightsSumToOne) {
  const Skin& skin = mesh().skin;
  ASSERT_EQ(skin.influence_counts.size(), mesh().vertices());
  std::vector<bool> used(model_->rig.joints.size(), false);
  std::size_t at = 0;
  for (const std::uint32_t count : skin.influence_counts) {
    ASSERT_GE(count, 1u);
    double sum = 0;
    std::set<std::uint32_t> joints;
    for (std::uint32_t i = 0; i < count; ++i, ++at) {
      EXPECT_GT(skin.influence_weights[at], 0);
      sum += static_cast<double>(skin.influence_weights[at]);
      ASSERT_LT(skin.influence_joints[at], skin.joints.size());
      joints.insert(skin.influence_joints[at]);
      used[skin.joints[skin.influence_joints[at]]] = true;
    }
    EXPECT_NEAR(sum, 1, 1e-6);
    EXPECT_EQ(joints.size(), count);
  }
  EXPECT_EQ(at, skin.influence_weights.size());
  EXPECT_EQ(std::count(used.begin(), used.end(), false), 0) << "every joint moves something";
}

// [J * 12] products of rest_local from the roots down.
std::vector<double> RestToModel(const RigData& rig) {
  std::vector<double> out;
  for (std::size_t j = 0; j < rig.joints.size(); ++j) {
    for (std::size_t i = 0; i < 12; ++i)
      out.push_back(static_cast<double>(rig.rest_local[j * 12 + i]));
    if (rig.joints[j].parent < 0) continue;
    const std::vector<double> local(out.end() - 12, out.end());
    const double* parent = &out[static_cast<std::size_t>(rig.joints[j].parent) * 12];
    for (std::size_t row = 0; row < 3; ++row) {
      for (std::size_t column = 0; column < 4; ++column) {
        double sum = column == 3 ? parent[row * 4 + 3] : 0;
        for (std::size_t k = 0; k < 3; ++k) sum += parent[row * 4 + k] * local[k * 4 + column];
        out[j * 12 + row * 4 + column] = sum;
      }
    }
  }
  return out;
}

TEST_P(BuiltInModel, RestUndoesInverseBind) {
  const RigData& rig = model_->rig;
  std::set<std::string> names;
  for (std::size_t j = 0; j < rig.joints.size(); ++j) {
    ASSERT_LT(rig.joints[j].parent, static_cast<std::int32_t>(j));
    names.insert(rig.joints[j].name);
  }
  EXPECT_EQ(names.size(), rig.joints.size());
  const std::vector<double> rest = RestToModel(rig);
  const Skin& skin = mesh().skin;
  for (std::size_t s = 0; s < skin.joints.size(); ++s) {
    const double* a = &rest[std::size_t{skin.joints[s]} * 12];
    const float* b = &skin.inverse_bind[s * 12];
    for (std::size_t row = 0; row < 3; ++row) {
      for (std::size_t column = 0; column < 4; ++column) {
        double sum = column == 3 ? a[row * 4 + 3] : 0;
        for (std::size_t k = 0; k < 3; ++k)
          sum += a[row * 4 + k] * static_cast<double>(b[k * 4 + column]);
        EXPECT_NEAR(sum, row == column ? 1 : 0, 2e-6);
      }
    }
  }
}

TEST_P(BuiltInModel, ClipStartsAtRestAndLoops) {
  const ClipData& clip = model_->clip;
  const std::size_t size = model_->rig.joints.size() * 12;
  ASSERT_EQ(clip.joint_transforms.size(), clip.frames * size);
  EXPECT_EQ(clip.controls.size(), clip.frames * model_->rig.controls.size());
  const std::vector<double> rest = RestToModel(model_->rig);
  for (std::size_t i = 0; i < size; ++i) EXPECT_NEAR(clip.joint_transforms[i], rest[i], 1e-5);
  // The step from the last frame to the first is no larger than the largest step in between.
  const auto step = [&](std::size_t from, std::size_t to) {
    double largest = 0;
    for (std::size_t i = 0; i < size; ++i) {
      largest =
          std::max(largest, std::abs(static_cast<double>(clip.joint_transforms[from * size + i]) -
                                     static_cast<double>(clip.joint_transforms[to * size + i])));
    }
    return largest;
  };
  double inner = 0;
  for (std::size_t f = 1; f < clip.frames; ++f) inner = std::max(inner, step(f - 1, f));
  EXPECT_LE(step(clip.frames - 1, 0), inner + 1e-6);
  EXPECT_GT(inner, 0.01) << "it moves, by a degree a frame or more";
}

TEST_P(BuiltInModel, SecondCallGivesSameModel) {
  const Model again = GetParam().make();
  EXPECT_EQ(again.rig.meshes[0].positions, mesh().positions);
  EXPECT_EQ(again.rig.meshes[0].skin.influence_weights, mesh().skin.influence_weights);
  EXPECT_EQ(again.clip.joint_transforms, model_->clip.joint_transforms);
}

INSTANTIATE_TEST_SUITE_P(All, BuiltInModel, ::testing::ValuesIn(Cases()),
                         [](const auto& test) { return test.param.name; });

std::string Digest(std::span<const float> values) {
  return Sha256Hex({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
}

TEST(StoredModels, KeepTheirBits) {
  const auto arm = Make("arm"), hand = Make("hand");
  ASSERT_TRUE(arm.ok()) << arm.status();
  ASSERT_TRUE(hand.ok()) << hand.status();
  EXPECT_EQ(RigName(*EncodeRig(arm->rig)),
            "rigs/sha256-e6115d59fe0eaec9aa24ea31b5798874ef1b540aa76da8d956ecad40b5e328de");
  EXPECT_EQ(Digest(arm->clip.joint_transforms),
            "96196c873b15bbbca034ca6a64e49af8a89eae91610e0abfcab2458a4b02e08f");
  EXPECT_EQ(Digest(arm->clip.controls),
            "1e30a6c413080dbdb50d0b704eeb119e5b83d7126cac0adc2dd3d9df6c88b77d");
  EXPECT_EQ(RigName(*EncodeRig(hand->rig)),
            "rigs/sha256-a8d5197b089d1259f57481ad3dc71d7774ddf3fb4bc6b50dbbbc32bfa3874f59");
  EXPECT_EQ(Digest(hand->clip.joint_transforms),
            "9b53574adcc5612024aea86ad1a079eaccb243acccf44733c24c4d401decfb7e");
}

TEST(Hand, HasTwentyJointsAndExtent) {
  const auto hand = Make("hand");
  ASSERT_TRUE(hand.ok());
  EXPECT_EQ(hand->rig.joints.size(), 20u);
  EXPECT_EQ(hand->clip.frames, 48u);
  const Mesh& mesh = hand->rig.meshes[0];
  EXPECT_GT(mesh.vertices(), 5000u);
  EXPECT_LE(*std::max_element(mesh.skin.influence_counts.begin(), mesh.skin.influence_counts.end()),
            4u);
  double top = 0;
  for (std::size_t v = 0; v < mesh.vertices(); ++v)
    top = std::max(top, static_cast<double>(mesh.positions[v * 3 + 1]));
  EXPECT_NEAR(top, 0.197, 0.005);
  // In the fist the last phalanx of the middle finger points back to the wrist.
  std::size_t tip = 0;
  while (hand->rig.joints[tip].name != "middle_distal") ++tip;
  const float* fist = &hand->clip.joint_transforms[(23 * hand->rig.joints.size() + tip) * 12];
  EXPECT_LT(fist[5], 0) << "its y axis";
  EXPECT_LT(fist[7], 0.12f) << "its origin";
  EXPECT_GT(fist[11], 0.02f) << "on the palm's side";
}

TEST(Tube, HasRequestedInfluences) {
  for (const std::uint32_t influences : {1u, 2u, 3u, 5u, 8u}) {
    const Model tube = Tube({.rings = 400, .joints = 12, .influences = influences});
    const auto& counts = tube.rig.meshes[0].skin.influence_counts;
    EXPECT_EQ(*std::max_element(counts.begin(), counts.end()), influences);
  }
}

TEST(Resampled, KeepsFramesOfTheClip) {
  const Model hand = *Make("hand");
  const ClipData twice = Resampled(hand.clip, hand.rig, 48);
  ASSERT_EQ(twice.frames, 2 * hand.clip.frames - 1);
  EXPECT_EQ(twice.fps, 48);
  const std::size_t stride = hand.rig.joints.size() * 12;
  for (std::size_t frame = 0; frame < hand.clip.frames; ++frame) {
    const auto own = std::span(hand.clip.joint_transforms).subspan(frame * stride, stride);
    const auto kept = std::span(twice.joint_transforms).subspan(2 * frame * stride, stride);
    EXPECT_TRUE(std::ranges::equal(own, kept)) << frame;
  }
  EXPECT_EQ(Resampled(hand.clip, hand.rig, 24).joint_transforms, hand.clip.joint_transforms);
  EXPECT_EQ(Resampled(hand.clip, hand.rig, 0.001).frames, 1u);
}

// Muscles that are added to a model add controls to the rig, not to the clip.
TEST(Resampled, UsesControlsOfTheClip) {
  Model arm = *Make("arm");
  const ClipData before = Resampled(arm.clip, arm.rig, 31);
  arm.rig.controls.push_back({.name = "another", .minimum = {}, .maximum = {}});
  EXPECT_EQ(Resampled(arm.clip, arm.rig, 31).controls, before.controls);
  Model hand = *Make("hand");
  hand.rig.controls.push_back({.name = "another", .minimum = {}, .maximum = {}});
  EXPECT_TRUE(Resampled(hand.clip, hand.rig, 31).controls.empty());
}

// The cylinder's lower joint turns by one degree a frame.
TEST(Resampled, InterpolatesRotations) {
  const Model model = *Make("cylinder");
  const ClipData fine = Resampled(model.clip, model.rig, 120);
  for (std::size_t frame = 0; frame < 100; ++frame) {
    const double angle = static_cast<double>(frame) / 5 * std::numbers::pi / 180;
    const float* lower = &fine.joint_transforms[(frame * 2 + 1) * 12];
    EXPECT_NEAR(lower[5], std::cos(angle), 1e-6) << frame;
    EXPECT_NEAR(lower[9], std::sin(angle), 1e-6) << frame;
  }
  const Model arm = *Make("arm");
  const ClipData tensed = Resampled(arm.clip, arm.rig, 48);
  EXPECT_FLOAT_EQ(tensed.controls[1], (arm.clip.controls[0] + arm.clip.controls[1]) / 2);
}

TEST(Models, CanBeCreatedByName) {
  for (const std::string& name : ModelNames()) {
    const auto model = Make(name);
    ASSERT_TRUE(model.ok()) << model.status();
    EXPECT_EQ(model->rig.label, name);
  }
  EXPECT_EQ(Make("foot").status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(Make("foot").status().message()), HasSubstr("arm, cylinder, hand, tube"));
}

}  // namespace
}  // namespace sinew::client
