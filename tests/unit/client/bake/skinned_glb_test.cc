// Rigs with clips as glTF: what an engine finds in the file.
#include "client/bake/files/skinned_glb.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/vectors.h"

namespace sinew::bake {
namespace {

using Json = nlohmann::json;

// The parts of a .glb.
struct Parts {
  explicit Parts(const std::string& file) {
    std::uint32_t size = 0;
    std::memcpy(&size, file.data() + 12, sizeof size);
    document = Json::parse(file.substr(20, size));
    binary = file.substr(28 + size);
  }
  std::vector<float> Floats(int accessor) const {
    const Json& view =
        document["bufferViews"][document["accessors"][accessor]["bufferView"].get<std::size_t>()];
    std::vector<float> values(view["byteLength"].get<std::size_t>() / sizeof(float));
    std::memcpy(values.data(), binary.data() + view["byteOffset"].get<std::size_t>(),
                values.size() * sizeof(float));
    return values;
  }
  // [count][3] of an accessor that is sparse alone.
  std::vector<std::vector<float>> Sparse(int accessor) const {
    const Json& item = document["accessors"][accessor];
    std::vector<std::vector<float>> rows(item["count"].get<std::size_t>(), {0, 0, 0});
    const auto at = [&](const char* part) {
      const Json& view =
          document["bufferViews"][item["sparse"][part]["bufferView"].get<std::size_t>()];
      return binary.data() + view["byteOffset"].get<std::size_t>();
    };
    EXPECT_EQ(item["sparse"]["indices"]["componentType"], 5123);
    for (std::size_t k = 0; k < item["sparse"]["count"].get<std::size_t>(); ++k) {
      std::uint16_t index = 0;
      std::memcpy(&index, at("indices") + k * sizeof index, sizeof index);
      std::memcpy(rows.at(index).data(), at("values") + 12 * k, 12);
    }
    return rows;
  }
  Json document;
  std::string binary;
};

TEST(SkinnedGlb, SumOfWeightsIsExact) {
  for (int k = 0; k < 1000; ++k) {
    std::vector<float> weights = {0.1F + 1e-4F * static_cast<float>(k), 1e-9F, 1.0F / 3, 0};
    weights[3] = 1 - weights[0] - weights[2];
    const std::vector<float> before = weights;
    MakeSumExact(weights);
    float sum = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      sum += weights[i];
      EXPECT_NEAR(weights[i], before[i], 3e-7);
    }
    EXPECT_EQ(sum, 1);
  }
}

// A triangle on one joint, with coefficients.
client::RigData Triangle() {
  const std::vector<float> identity = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
  client::RigData rig;
  rig.joints = {{.name = "root", .parent = -1}};
  rig.rest_local = identity;
  client::Mesh& mesh = rig.meshes.emplace_back();
  mesh.name = "leaf";
  mesh.positions = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  mesh.face_vertices = {0, 1, 2};
  mesh.skin.joints = {0};
  mesh.skin.inverse_bind = identity;
  mesh.skin.influence_counts = {1, 1, 1};
  mesh.skin.influence_joints = {0, 0, 0};
  mesh.skin.influence_weights = {1, 1, 1};
  mesh.skin.coefficients = {
      .columns = 4, .counts = {1, 0, 1}, .joints = {0, 0}, .values = {0, 0, 0, 1, 0, 0, 0, 1}};
  return rig;
}

TEST(SkinnedGlb, CoefficientsThatDoNotFitAreRefused) {
  client::RigData rig = Triangle();
  const SkinnedScene scene{.rig = &rig, .clips = {}};
  const auto good = EncodeSkinnedGlb(scene);
  ASSERT_TRUE(good.ok()) << good.status();
  // The vertex without coefficients has its weight.
  EXPECT_NE(good->find("_SINEW_AS_0"), std::string::npos);
  client::Coefficients& given = rig.meshes[0].skin.coefficients;
  given.joints[1] = 1;
  EXPECT_EQ(EncodeSkinnedGlb(scene).status().message(),
            "mesh \"leaf\": vertex 2 has coefficients of a joint without weight");
  given.columns = 12;
  EXPECT_EQ(EncodeSkinnedGlb(scene).status().message(),
            "mesh \"leaf\": its coefficients have 12 values, need 4, those of animation space");
}

// A chain that turns: the places of poses are rounded, and joints stay where they rest on each
// other.
TEST(SkinnedGlb, JointsThatOnlyTurnHaveNoKeysOfPlaces) {
  client::RigData rig = Triangle();
  constexpr std::size_t kJoints = 4, kFrames = 20;
  const std::array<float, 3> ways[kJoints] = {
      {10.1F, 20.3F, -7.7F}, {0.3F, 0, 0.1F}, {0, 0.7F, 0}, {0.11F, 0.13F, 0.17F}};
  rig.joints.clear();
  rig.rest_local.clear();
  for (std::int32_t j = 0; j < std::int32_t{kJoints}; ++j) {
    rig.joints.push_back({.name = "j" + std::to_string(j), .parent = j - 1});
    const auto& way = ways[j];
    for (const float x :
         {1.0F, 0.0F, 0.0F, way[0], 0.0F, 1.0F, 0.0F, way[1], 0.0F, 0.0F, 1.0F, way[2]}) {
      rig.rest_local.push_back(x);
    }
  }
  // What the channels of translation are for, if joint 2 moves by `step` in one frame.
  const auto moving = [&](double step) {
    client::ClipData clip;
    clip.name = "turn";
    clip.fps = 24;
    clip.frames = kFrames;
    for (std::size_t f = 0; f < kFrames; ++f) {
      AffineD model;
      for (std::size_t j = 0; j < kJoints; ++j) {
        const double angle = 0.1 * static_cast<double>(f * (j + 1));
        const double c = std::cos(angle), s = std::sin(angle);
        const double more = f == 7 && j == 2 ? step : 0;
        model = Compose(model, AffineD{{c, -s, 0, ways[j][0] + more, s, c, 0, ways[j][1], 0, 0, 1,
                                        ways[j][2]}});
        for (const double x : model.m) clip.joint_transforms.push_back(static_cast<float>(x));
      }
    }
    const auto file = EncodeSkinnedGlb({.rig = &rig, .clips = {&clip, 1}});
    EXPECT_TRUE(file.ok()) << file.status();
    std::vector<std::string> nodes;
    const Json document = Parts(*file).document;
    for (const Json& channel : document["animations"][0]["channels"]) {
      if (channel["target"]["path"] != "translation") continue;
      nodes.push_back(document["nodes"][channel["target"]["node"].get<std::size_t>()]["name"]);
    }
    return nodes;
  };
  EXPECT_EQ(moving(0), std::vector<std::string>{});
  EXPECT_EQ(moving(1e-4), std::vector<std::string>{"j2"});
}

// A material chooses a set of coordinates and a transform of its own: the paint has the result.
TEST(SkinnedGlb, VerticesWithImagesHaveTheCoordinatesOfTheMaterial) {
  const client::RigData rig = Triangle();
  client::MeshExtras extras;
  extras.corner_uvs = {0, 1, 0.5F, 1, 0, 0.5F};  // v upwards
  client::GltfPaint paint;
  paint.colours.assign(12, 255);
  paint.uvs = {0.25F, 0.125F, 0, 1.75F, 0.125F, 0, 9, 9, -1};
  paint.images = {{.type = "image/png", .bytes = "not decoded"}};
  const auto file =
      EncodeSkinnedGlb({.rig = &rig, .clips = {}, .extras = {&extras, 1}, .paint = &paint});
  ASSERT_TRUE(file.ok()) << file.status();
  const Parts parts(*file);
  const Json& attributes = parts.document["meshes"][0]["primitives"][0]["attributes"];
  EXPECT_EQ(parts.Floats(attributes["TEXCOORD_0"]),
            (std::vector<float>{0.25F, 0.125F, 1.75F, 0.125F, 0, 0.5F}));
}

TEST(SkinnedGlb, ShapesHaveTheirNormals) {
  client::RigData rig = Triangle();
  rig.meshes[0].skin.coefficients = {};
  rig.controls.push_back({.name = "lean", .minimum = 0, .maximum = 1, .default_value = 0});
  rig.meshes[0].shapes.push_back({"lean",
                                  {{.weight = 0.5F,
                                    .vertices = {1},
                                    .offsets = {0, 0, 0.5F},
                                    .normal_offsets = {-0.25F, 0, 0.125F}}}});
  const auto file = EncodeSkinnedGlb({.rig = &rig, .clips = {}});
  ASSERT_TRUE(file.ok()) << file.status();
  const Parts parts(*file);
  const Json& target = parts.document["meshes"][0]["primitives"][0]["targets"][0];
  using Rows = std::vector<std::vector<float>>;
  EXPECT_EQ(parts.Sparse(target["POSITION"]), (Rows{{0, 0, 0}, {0, 0, 1}, {0, 0, 0}}));
  EXPECT_EQ(parts.Sparse(target["NORMAL"]), (Rows{{0, 0, 0}, {-0.5F, 0, 0.25F}, {0, 0, 0}}));
  // Both are of the same vertices, which the file lists once.
  const auto indices = [&](const char* attribute) {
    return parts.document["accessors"][target[attribute].get<int>()]["sparse"]["indices"];
  };
  EXPECT_EQ(indices("POSITION"), indices("NORMAL"));
}

// A clip in which a joint shears is known before there are weights.
TEST(SkinnedGlb, MotionIsCheckedAlone) {
  client::RigData rig = Triangle();
  client::ClipData clip;
  clip.name = "lean";
  clip.fps = 24;
  clip.frames = 1;
  clip.joint_transforms = rig.rest_local;
  EXPECT_TRUE(CheckGlbMotion(rig, {&clip, 1}).ok());
  clip.joint_transforms[1] = 0.5F;
  EXPECT_EQ(CheckGlbMotion(rig, {&clip, 1}),
            EncodeSkinnedGlb({.rig = &rig, .clips = {&clip, 1}}).status());
  EXPECT_FALSE(CheckGlbMotion(rig, {&clip, 1}).ok());
}

// The scale of the parent moves the child's origin and nothing else.
TEST(SkinnedGlb, JointsThatCompensateScaleRestAsTheyAre) {
  client::RigData rig = Triangle();
  rig.joints.push_back({.name = "tip", .parent = 0, .compensates_scale = true});
  rig.rest_local = {2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0};
  const auto file = EncodeSkinnedGlb({.rig = &rig, .clips = {}});
  ASSERT_TRUE(file.ok()) << file.status();
  const Json tip = Parts(*file).document["nodes"][2];
  EXPECT_EQ(tip["name"], "tip");
  EXPECT_EQ(tip["translation"], Json({1, 0, 0}));
  EXPECT_EQ(tip["scale"], Json({0.5, 0.5, 0.5}));
}

}  // namespace
}  // namespace sinew::bake
