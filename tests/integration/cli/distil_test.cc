// `sinew distil` with the real programs: what the file plays, against what the deformer does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numbers>
#include <string>

#include "client/models/models.h"
#include "client/rig/vertex_influences.h"
#include "core/base/trs.h"
#include "core/base/vectors.h"
#include "core/distil/pose_samples.h"
#include "sinew/import.h"
#include "tests/integration/cli/process.h"
#include "tests/support/assimp_player.h"
#include "tests/support/gltf_builder.h"
#include "tests/support/npy_frame.h"
#include "tests/support/paths.h"
#include "tests/support/space_player.h"
#include "tests/support/temporary_folder.h"

namespace sinew::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using Json = nlohmann::json;
using Strings = std::vector<std::string>;

constexpr std::uint32_t kFrames = 48;  // of the clip of model:hand

class Distil : public DaemonTest {
 protected:
  Json Distilled(const std::string& deformer, const std::string& to, Strings more = {}) {
    Strings arguments = {"distil", "model:hand", "--deformer", deformer,
                         "--to",   to,           "--out",      folder_ / "out.glb"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return JsonAt(arguments);
  }
  std::string Bake(const std::string& character, const std::string& deformer) {
    const Finished baked =
        At({"bake", character, "--deformer", deformer, "--out", folder_ / "frames.npy"});
    EXPECT_EQ(baked.exit_code, 0) << baked.err;
    return ReadAll(folder_ / "frames.npy");
  }
};

// The root mean square and the largest distance of two bakes.
std::pair<double, double> Compare(const std::string& a, const std::string& b,
                                  std::uint32_t frames) {
  double squares = 0, largest = 0;
  std::size_t count = 0;
  for (std::uint32_t k = 0; k < frames; ++k) {
    const std::vector<float> one = NpyFrame(a, k), other = NpyFrame(b, k);
    EXPECT_EQ(one.size(), other.size());
    for (std::size_t i = 0; i + 2 < std::min(one.size(), other.size()); i += 3, ++count) {
      const double d =
          std::hypot(one[i] - other[i], one[i + 1] - other[i + 1], one[i + 2] - other[i + 2]);
      squares += d * d;
      largest = std::max(largest, d);
    }
  }
  return {std::sqrt(squares / static_cast<double>(count)), largest};
}

TEST_F(Distil, LinearBlendReturnsTheWeights) {
  EXPECT_EQ(Distilled("lbs", "lbs")["verdict"], "exact");
  ASSERT_EQ(At({"distil", "model:hand", "--deformer", "lbs", "--to", "shapes", "--influences", "8",
                "--out", folder_ / "again.glb"})
                .exit_code,
            0);
  const auto a = client::ImportFile(folder_ / "out.glb");
  const auto b = client::ImportFile(folder_ / "again.glb");
  ASSERT_TRUE(a.ok() && b.ok()) << a.status() << b.status();
  EXPECT_TRUE(b->rig.controls.empty());  // nothing to correct
  const auto model = client::Make("hand");
  ASSERT_TRUE(model.ok()) << model.status();
  const client::RigInfluences own = client::ReadInfluences(model->rig);
  const client::RigInfluences distilled = client::ReadInfluences(a->rig);
  ASSERT_EQ(own.vertices(), distilled.vertices());
  for (std::size_t v = 0; v < own.vertices(); ++v) {
    std::map<std::string, float> difference;
    for (const auto& [joint, weight] : own.Of(v)) {
      difference[model->rig.joints[joint].name] += weight;
    }
    for (const auto& [joint, weight] : distilled.Of(v)) {
      difference[a->rig.joints[joint].name] -= weight;
    }
    for (const auto& [joint, weight] : difference) ASSERT_NEAR(weight, 0, 1e-6) << v << joint;
  }
  const std::string source = Bake("model:hand", "lbs");
  EXPECT_LT(Compare(source, Bake(folder_ / "out.glb", "lbs"), kFrames).second, 2e-6);
  EXPECT_LT(Compare(source, Bake(folder_ / "again.glb", "lbs"), kFrames).second, 2e-6);
}

TEST_F(Distil, FilePlaysWithinTheReportedError) {
  const std::string source = Bake("model:hand", "ddm");
  const Json lbs = Distilled("ddm", "lbs");
  EXPECT_EQ(lbs["verdict"], "gain");
  const auto [rms, largest] = Compare(source, Bake(folder_ / "out.glb", "lbs"), kFrames);
  const Json& reported = lbs["fitted_weights"]["clip_poses"];
  EXPECT_LT(rms, 1.1 * reported["rms"]["units"].get<double>() + 1e-5);
  EXPECT_LT(largest, 1.3 * reported["largest"]["units"].get<double>() + 1e-5);

  const Json shapes = Distilled("ddm", "shapes");
  const auto [shaped, farthest] =
      Compare(source, Bake(folder_ / "out.glb", "shapes | lbs"), kFrames);
  const Json& better = shapes["with_shapes"]["clip_poses"];
  EXPECT_LT(shaped, 1.2 * better["rms"]["units"].get<double>() + 1e-5);
  EXPECT_LT(farthest, 1.4 * better["largest"]["units"].get<double>() + 1e-5);
  EXPECT_LT(shaped, 0.6 * rms);
}

TEST_F(Distil, AssimpPlaysTheFileLikeTheServer) {
  Distilled("ddm", "shapes");
  const AssimpPlayer player(folder_ / "out.glb");
  ASSERT_TRUE(player.ok()) << player.error();
  const std::string frames = Bake(folder_ / "out.glb", "shapes | lbs");
  for (const std::uint32_t key : {0u, 11u, 24u, 47u}) {
    const std::vector<float> frame = NpyFrame(frames, key), played = player.Play(key);
    ASSERT_EQ(frame.size(), played.size());
    float worst = 0;
    for (std::size_t i = 0; i < frame.size(); ++i) {
      worst = std::max(worst, std::abs(frame[i] - played[i]));
    }
    EXPECT_LT(worst, 1e-5F) << key;
  }
}

// A material that shows the lower left quadrant of its image, turned clockwise: the example of the
// extension's specification. Players that do not know the extension must show the same.
TEST_F(Distil, TransformsOfTexturesAreInTheCoordinates) {
  GltfBuilder b = MakeStrip();
  const int uvs = b.AddAccessor<float>({0, 1, 1, 1, 1, 0, 0, 0}, "VEC2");
  b.doc["accessors"][static_cast<std::size_t>(uvs)]["count"] = 4;
  b.doc["meshes"][0]["primitives"][0]["attributes"]["TEXCOORD_0"] = uvs;
  b.doc["meshes"][0]["primitives"][0]["material"] = 0;
  const std::string png = "\x89PNG\r\n\x1a\n";
  b.Push("images", {{"bufferView", b.AddView(std::vector<char>(png.begin(), png.end()))},
                    {"mimeType", "image/png"}});
  b.Push("textures", {{"source", 0}});
  const Json transform = {{"offset", {0, 1}}, {"rotation", 1.57079632679}, {"scale", {0.5, 0.5}}};
  b.Push("materials",
         {{"pbrMetallicRoughness",
           {{"baseColorTexture",
             {{"index", 0}, {"extensions", {{"KHR_texture_transform", transform}}}}}}}});
  b.doc["extensionsUsed"] = {"KHR_texture_transform"};
  const Finished distilled =
      At({"distil", b.Write(), "--deformer", "lbs", "--to", "lbs", "--out", folder_ / "out.glb"});
  ASSERT_EQ(distilled.exit_code, 0) << distilled.err;
  const SpacePlayer file(ReadAll(folder_ / "out.glb"));
  const Json& primitive = file.document()["meshes"][0]["primitives"][0];
  const std::vector<double> got = file.Accessor(primitive["attributes"]["TEXCOORD_0"]);
  const double want[] = {0.5, 1, 0.5, 0.5, 0, 0.5, 0, 1};
  ASSERT_EQ(got.size(), std::size(want));
  for (std::size_t k = 0; k < got.size(); ++k) EXPECT_NEAR(got[k], want[k], 1e-6) << k;
  EXPECT_EQ(file.document()["materials"].dump().find("KHR_texture_transform"), std::string::npos);
}

// The mean angle between two lists of normals, degrees.
double MeanAngle(const std::vector<float>& a, const std::vector<float>& b) {
  EXPECT_EQ(a.size(), b.size());
  double sum = 0;
  for (std::size_t i = 0; i + 2 < std::min(a.size(), b.size()); i += 3) {
    const Vec3d one = {a[i], a[i + 1], a[i + 2]}, other = {b[i], b[i + 1], b[i + 2]};
    sum += std::acos(std::clamp(Dot(Unit(one), Unit(other)), -1.0, 1.0));
  }
  return sum * 3 / static_cast<double>(a.size()) * 180 / std::numbers::pi;
}

TEST_F(Distil, NormalsOfShapesComeNearTheDeformers) {
  Distilled("ddm", "lbs");
  const AssimpPlayer without(folder_ / "out.glb");
  ASSERT_EQ(At({"distil", "model:hand", "--deformer", "ddm", "--to", "shapes", "--out",
                folder_ / "shapes.glb"})
                .exit_code,
            0);
  const AssimpPlayer with(folder_ / "shapes.glb");
  ASSERT_TRUE(without.ok() && with.ok());
  ASSERT_EQ(
      At({"bake", "model:hand", "--deformer", "ddm", "--normals", "--out", folder_ / "frames.npy"})
          .exit_code,
      0);
  const std::string normals = ReadAll(folder_ / "frames.npy.normals.npy");
  for (const std::uint32_t key : {11u, 24u, 36u}) {
    const std::vector<float> right = NpyFrame(normals, key);
    const double before = MeanAngle(without.PlayNormals(key), right);
    EXPECT_GT(before, 0.5) << key;
    EXPECT_LT(MeanAngle(with.PlayNormals(key), right), 0.4 * before) << key;
  }
}

// The root mean square of the distances of two frames.
double Rms(const std::vector<float>& a, const std::vector<float>& b) {
  EXPECT_EQ(a.size(), b.size());
  double squares = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    squares += std::pow(double{a[i]} - double{b[i]}, 2);
  }
  return std::sqrt(3 * squares / static_cast<double>(a.size()));
}

TEST_F(Distil, AttributesAlonePlayAnimationSpaceAsReported) {
  const Json report = Distilled("ddm", "animation_space", {"--fps", "10"});
  EXPECT_EQ(report["influences"], 8);
  const Finished baked = At(
      {"bake", "model:hand", "--deformer", "ddm", "--fps", "10", "--out", folder_ / "frames.npy"});
  ASSERT_EQ(baked.exit_code, 0) << baked.err;
  const std::string source = ReadAll(folder_ / "frames.npy");
  const SpacePlayer player(ReadAll(folder_ / "out.glb"));
  std::size_t checked = 0;
  for (const bool linear : {false, true}) {
    for (const Json& pose : report[linear ? "fitted_weights" : "with_coefficients"]["poses"]) {
      const std::string name = pose["name"];
      const std::size_t at = name.find(" at ");
      if (at == std::string::npos) continue;  // no pose of the clip
      const auto key = static_cast<std::size_t>(std::lround(10 * std::stod(name.substr(at + 4))));
      ASSERT_LT(key, player.keys());
      EXPECT_NEAR(Rms(player.Play(key, linear), NpyFrame(source, key)), pose["rms"].get<double>(),
                  1e-5)
          << name;
      ++checked;
    }
  }
  EXPECT_GE(checked, 8u);
  const auto rms = [&](const char* which) { return report[which]["rms"]["units"].get<double>(); };
  EXPECT_LT(rms("with_coefficients"), 0.4 * rms("own_weights"));
  EXPECT_LT(rms("with_coefficients"), 0.6 * rms("fitted_weights"));
  const Json& extras = player.document()["skins"][0]["extras"]["sinew_distil"];
  EXPECT_EQ(extras["version"], 3);
  EXPECT_EQ(extras["error"]["rms"]["units"], report["with_coefficients"]["rms"]["units"]);
  EXPECT_THAT(extras["animation_space"]["formula"].get<std::string>(), HasSubstr("a_k.w"));
}

TEST_F(Distil, RigPlaysAnimationSpaceAsTheAttributesDo) {
  Distilled("ddm", "animation_space");
  const Finished rig = At({"distil", "model:hand", "--deformer", "ddm", "--to", "animation_space",
                           "--out", folder_ / "out.sinewrig"});
  ASSERT_EQ(rig.exit_code, 0) << rig.err;
  EXPECT_THAT(rig.err, HasSubstr("not in the result: clips"));
  const Finished exported = Sinew({"export", "model:hand", "--poses", folder_ / "poses.npy"});
  ASSERT_EQ(exported.exit_code, 0) << exported.err;
  const Finished baked = At({"bake", folder_ / "out.sinewrig", "--deformer", "animation_space",
                             "--poses", folder_ / "poses.npy", "--out", folder_ / "frames.npy"});
  ASSERT_EQ(baked.exit_code, 0) << baked.err;
  const std::string frames = ReadAll(folder_ / "frames.npy");
  const SpacePlayer player(ReadAll(folder_ / "out.glb"));
  ASSERT_EQ(player.keys(), kFrames);
  for (const std::uint32_t key : {0u, 11u, 24u, 47u}) {
    const std::vector<float> frame = NpyFrame(frames, key), played = player.Play(key);
    ASSERT_EQ(frame.size(), played.size());
    float worst = 0;
    for (std::size_t i = 0; i < frame.size(); ++i) {
      worst = std::max(worst, std::abs(frame[i] - played[i]));
    }
    EXPECT_LT(worst, 1e-5F) << key;
  }
}

TEST_F(Distil, LinearBlendIsExactInAnimationSpaceToo) {
  EXPECT_EQ(Distilled("lbs", "animation_space")["verdict"], "exact");
}

// [keys][4] rotations of a node in the first animation of a file; one if the clip has none.
std::vector<double> RotationKeys(const SpacePlayer& file, const std::string& node) {
  const Json& nodes = file.document()["nodes"];
  const auto found =
      std::ranges::find_if(nodes, [&](const Json& n) { return n.value("name", "") == node; });
  const Json& animation = file.document()["animations"][0];
  for (const Json& channel : animation["channels"]) {
    if (channel["target"]["node"] != found - nodes.begin()) continue;
    if (channel["target"]["path"] != "rotation") continue;
    return file.Accessor(animation["samplers"][channel["sampler"].get<std::size_t>()]["output"]);
  }
  return found->value("rotation", std::vector<double>{0, 0, 0, 1});
}

// The turn of a joint, from its member of `turns` and the rotation of its node alone.
Eigen::Vector3d TurnAt(const Json& of_joint, const SpacePlayer& file, std::size_t key) {
  const std::vector<double> keys = RotationKeys(file, of_joint["joint"]);
  const double* const q = &keys[keys.size() > 4 ? 4 * key : 0];
  const std::array<double, 4> f = of_joint["from"];
  const Eigen::Quaterniond from(f[3], f[0], f[1], f[2]), rotation(q[3], q[0], q[1], q[2]);
  Eigen::Quaterniond apart = from.conjugate() * rotation;
  if (apart.w() < 0) apart.coeffs() = -apart.coeffs();
  const double sine = apart.vec().norm();
  Eigen::Vector3d turn = apart.vec() * (sine > 0 ? 2 * std::atan2(sine, apart.w()) / sine : 0);
  for (int k = 0; k < 3; ++k) {
    turn[k] = std::clamp<double>(turn[k], of_joint["low"][k], of_joint["high"][k]);
  }
  const double longest = of_joint["longest"];
  if (turn.norm() > longest) turn *= longest / turn.norm();
  return turn;
}

// What a driver sums up, before it is clamped. `sums` has those of the drivers before it.
double SumOf(const Json& driver, const std::map<std::string, Eigen::Vector3d>& turns,
             const std::map<std::string, Json>& samples,
             const std::map<std::string, double>& sums) {
  if (driver.contains("negative_of")) return -sums.at(driver["negative_of"]);
  const Eigen::Vector3d& turn = turns.at(driver["joint"]);
  double sum = 0;
  if (driver.contains("products")) {
    for (const Json& product : driver["products"]) {
      const std::array<double, 9> m = product["matrix"];
      sum += turn.dot(Eigen::Matrix<double, 3, 3, Eigen::RowMajor>(m.data()) *
                      turns.at(product["joint"]));
    }
    return sum;
  }
  const Json& of_joint = samples.at(driver["joint"]);
  EXPECT_EQ(of_joint.size(), driver["weights"].size());
  for (std::size_t s = 0; s < of_joint.size(); ++s) {
    const Eigen::Vector3d sample(of_joint[s][0], of_joint[s][1], of_joint[s][2]);
    sum += driver["weights"][s].get<double>() * (turn - sample).norm();
  }
  return sum;
}

// The numbers of used drivers of one joint and of several. Values have to be those of the keys.
std::pair<std::size_t, std::size_t> DriversLikeKeys(const std::string& path,
                                                    const std::vector<std::size_t>& keys) {
  const SpacePlayer file(ReadAll(path));
  const Json& told = file.document()["skins"][0]["extras"]["sinew_distil"];
  const auto scene = client::ImportFile(path);
  EXPECT_TRUE(scene.ok()) << scene.status();
  if (!scene.ok()) return {};
  const auto clip = client::SampleClip(*scene, 0, {.fps = 24});
  EXPECT_TRUE(clip.ok()) << clip.status();
  if (!clip.ok()) return {};
  std::size_t singles = 0, several = 0;
  for (const std::size_t key : keys) {
    std::map<std::string, Eigen::Vector3d> turns;
    std::map<std::string, Json> samples;
    for (const Json& of_joint : told["turns"]) {
      turns[of_joint["joint"]] = TurnAt(of_joint, file, key);
      samples[of_joint["joint"]] = of_joint["samples"];
    }
    std::map<std::string, double> sums;
    for (const Json& driver : told["drivers"]) {
      const double sum = SumOf(driver, turns, samples, sums);
      sums[driver["target"]] = sum;
      if (driver.contains("products")) {
        EXPECT_THAT(driver["target"].get<std::string>(),
                    StartsWith(driver["joint"].get<std::string>() + " with others "));
      }
      (driver.contains("weights") ? singles : several) += sum > 0.01;
    }
    for (std::size_t k = 0; k < scene->rig.controls.size(); ++k) {
      const float keyed = clip->controls[key * scene->rig.controls.size() + k];
      EXPECT_NEAR(std::clamp(sums.at(scene->rig.controls[k].name), 0.0, 1.0), keyed, 1e-4) << key;
    }
  }
  return {singles, several};
}

// A tube around two joints without normals; the upper one, node 2, may mirror. It may carry a
// third one, node 3.
GltfBuilder MakeTube(bool mirrors, bool has_end = false) {
  constexpr int kRings = 41, kSides = 8;
  std::vector<float> places, weights;
  std::vector<std::uint8_t> joints;
  std::vector<std::uint16_t> faces;
  for (int r = 0; r < kRings; ++r) {
    const float y = 2.0f * static_cast<float>(r) / (kRings - 1);
    const float upper = std::clamp(5 * y - 4.5f, 0.0f, 1.0f);
    const float end = has_end ? std::clamp(5 * y - 6, 0.0f, 1.0f) : 0;
    for (int s = 0; s < kSides; ++s) {
      const float angle = 2 * std::numbers::pi_v<float> * static_cast<float>(s) / kSides;
      places.insert(places.end(), {0.3f * std::cos(angle), y, 0.3f * std::sin(angle)});
      joints.insert(joints.end(), {0, 1, static_cast<std::uint8_t>(has_end ? 2 : 0), 0});
      weights.insert(weights.end(), {1 - upper, upper - end, end, 0});
      if (r == 0) continue;
      const int next = (s + 1) % kSides, below = (r - 1) * kSides, here = r * kSides;
      for (const int corner :
           {below + s, here + s, here + next, below + s, here + next, below + next}) {
        faces.push_back(static_cast<std::uint16_t>(corner));
      }
    }
  }
  GltfBuilder b = MakeStrip();
  const int place = b.AddAccessor(places, "VEC3"), joint = b.AddAccessor(joints, "VEC4");
  const int weight = b.AddAccessor(weights, "VEC4"), face = b.AddAccessor(faces, "SCALAR");
  const float x = mirrors ? -1 : 1;
  std::vector<float> inverse = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0,  0, 1,
                                x, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, -1, 0, 1};
  if (has_end) {
    inverse.insert(inverse.end(), {x, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, -1.3f, 0, 1});
    const int node = b.Push("nodes", {{"name", "end"}, {"translation", {0, 0.3f, 0}}});
    b.doc["nodes"][2]["children"] = {node};
    b.doc["skins"][0]["joints"] = {1, 2, 3};
  }
  const int binds = b.AddAccessor(inverse, "MAT4");
  b.doc["meshes"][0]["primitives"][0] = {
      {"attributes", {{"POSITION", place}, {"JOINTS_0", joint}, {"WEIGHTS_0", weight}}},
      {"indices", face}};
  b.doc["nodes"][2]["scale"] = {x, 1, 1};
  b.doc["skins"][0]["inverseBindMatrices"] = binds;
  return b;
}

// Bends a joint of the tube by some degrees about z, with some turn about x, in the first clip.
void AddBend(GltfBuilder& b, int node = 2,
             const std::array<double, 4>& bends = {0.0, 40.0, -40.0, 80.0}) {
  std::vector<float> keys;
  for (const double degrees : bends) {
    const double angle = degrees * std::numbers::pi / 180;
    const Eigen::Quaterniond q = Eigen::AngleAxisd(angle, Eigen::Vector3d::UnitZ()) *
                                 Eigen::AngleAxisd(angle / 3, Eigen::Vector3d::UnitX());
    for (const double value : {q.x(), q.y(), q.z(), q.w()}) {
      keys.push_back(static_cast<float>(value));
    }
  }
  if (!b.doc.contains("animations")) {
    AddAnimation(b, node, "rotation", {0, 0.5f, 1, 1.5f}, keys, "VEC4", "LINEAR");
    return;
  }
  Json& clip = b.doc["animations"][0];
  clip["channels"].push_back(
      {{"sampler", clip["samplers"].size()}, {"target", {{"node", node}, {"path", "rotation"}}}});
  clip["samplers"].push_back({{"input", clip["samplers"][0]["input"]},
                              {"output", b.AddAccessor(keys, "VEC4")},
                              {"interpolation", "LINEAR"}});
}

TEST_F(Distil, BoundsAndBaselineAreMet) {
  const Json report = Distilled("ddm", "shapes", {"--poses", "random", "--max-shapes", "12"});
  EXPECT_EQ(report["shapes"], 12);
  EXPECT_GT(report["shapes_left_out"].get<int>(), 0);
  const auto rms = [&](const char* which) { return report[which]["rms"]["percent"].get<double>(); };
  EXPECT_LT(rms("fitted_weights"), 0.9 * rms("own_weights"));
  EXPECT_LT(rms("with_shapes"), 0.9 * rms("fitted_weights"));
  EXPECT_LT(rms("fitted_weights"), 1.3 * report["training_rms_percent"].get<double>());
  const auto scene = client::ImportFile(folder_ / "out.glb");
  ASSERT_TRUE(scene.ok()) << scene.status();
  EXPECT_EQ(scene->rig.controls.size(), 12u);
  const client::RigInfluences influences = client::ReadInfluences(scene->rig);
  for (std::size_t v = 0; v < influences.vertices(); ++v) {
    float sum = 0;
    for (const client::JointWeight& entry : influences.Of(v)) sum += entry.weight;
    ASSERT_TRUE(influences.Of(v).size() <= 4 && sum == 1) << v;
  }
}

// What the page of engines says of drivers gives the keys of the clip.
TEST_F(Distil, DriversAloneGiveTheKeysOfTheClip) {
  Distilled("ddm", "shapes");
  const auto [singles, several] = DriversLikeKeys(folder_ / "out.glb", {0, 11, 24, 47});
  EXPECT_GT(singles, 0u);
  EXPECT_GT(several, 0u);
}

TEST_F(Distil, DriversOfMirroredJointsGiveTheKeys) {
  for (const bool mirrors : {false, true}) {
    GltfBuilder b = MakeTube(mirrors, true);
    AddBend(b);
    AddBend(b, 3, {0, 50, 60, -30});
    const Finished distilled = At({"distil", b.Write(), "--deformer", "ddm", "--to", "shapes",
                                   "--out", folder_ / "tube.glb"});
    ASSERT_EQ(distilled.exit_code, 0) << distilled.err;
    const auto [singles, several] = DriversLikeKeys(folder_ / "tube.glb", {0, 6, 12, 24, 36});
    EXPECT_GT(singles, 0u) << mirrors;
    EXPECT_GT(several, 0u) << mirrors;
  }
}

// A joint that is scaled to nothing hides what it carries: no blend there can be undone. Smoothing
// pulls skin out of that place, also so far from the joint that no other joint may carry it.
TEST_F(Distil, HiddenPartsStayFinite) {
  GltfBuilder b = MakeTube(false);
  AddBend(b);
  AddAnimation(b, 2, "scale", {0, 0.5f, 1}, {1, 1, 1, 0, 0, 0, 0, 0, 0}, "VEC3", "STEP");
  for (const std::string to : {"shapes", "animation_space", "lbs"}) {
    const Json report =
        JsonAt({"distil", b.Write(), "--deformer", "lbs | delta_mush(iterations=300)", "--to", to,
                "--out", folder_ / "tube.glb"});
    EXPECT_TRUE(report["gain"].is_number()) << to;
    EXPECT_TRUE(client::ImportFile(folder_ / "tube.glb").ok()) << to;
  }
}

TEST_F(Distil, MeshesWithoutNormalsGetThoseOfTheDeformer) {
  GltfBuilder b = MakeTube(false);
  AddBend(b);
  const std::string tube = b.Write();
  const Finished distilled =
      At({"distil", tube, "--deformer", "ddm", "--to", "shapes", "--out", folder_ / "tube.glb"});
  ASSERT_EQ(distilled.exit_code, 0) << distilled.err;
  const Finished baked = At({"bake", tube, "--deformer", "ddm", "--normals", "--frames", "0-0",
                             "--out", folder_ / "frames.npy"});
  ASSERT_EQ(baked.exit_code, 0) << baked.err;
  const AssimpPlayer player(folder_ / "tube.glb");
  ASSERT_TRUE(player.ok());
  const std::string normals = ReadAll(folder_ / "frames.npy.normals.npy");
  EXPECT_LT(MeanAngle(player.PlayNormals(0), NpyFrame(normals, 0)), 0.05);
}

// Only where shapes jump is a turn beyond half a turn worth a warning, and then also in --json: a
// root may turn as it likes.
TEST_F(Distil, TurnsAreWarnedOfWhereShapesJump) {
  const float s = std::sin(88 * std::numbers::pi_v<float> / 180),
              c = std::cos(88 * std::numbers::pi_v<float> / 180);
  for (const int node : {1, 2}) {
    GltfBuilder b = MakeTube(false);
    AddAnimation(b, node, "rotation", {0, 0.5f, 1}, {0, 0, 0, 1, 0, s, 0, c, 0, -s / 2, 0, c},
                 "VEC4", "LINEAR");
    const Json warnings = JsonAt({"distil", b.Write(), "--deformer", "dqs", "--to", "shapes",
                                  "--out", folder_ / "tube.glb"})["warnings"];
    const bool warned = warnings.dump().find("turns to 180 degrees") != std::string::npos;
    EXPECT_EQ(warned, node == 2) << warnings.dump();
  }
}

// Known before the work, with the options that lower it.
TEST_F(Distil, KeysThatFillTheMemoryAreRefused) {
  const Finished finished = At({"distil", "model:hand", "--deformer", "ddm", "--to", "shapes",
                                "--fps", "100000", "--out", folder_ / "x.glb"});
  EXPECT_EQ(finished.exit_code, 65);
  EXPECT_THAT(finished.err, HasSubstr("--fps: "));
  EXPECT_THAT(finished.err,
              HasSubstr("lower it or --max-shapes, or name fewer clips with --poses"));
  EXPECT_THAT(folder_.Names(), IsEmpty());
}

TEST_F(Distil, NoGainNamesWhatToDoInstead) {
  const Finished finished = At({"distil", "model:tube", "--deformer", "dqs", "--to", "lbs",
                                "--poses", "random", "--out", folder_ / "out.glb"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("within 2 %; --to shapes can hold what weights cannot"));
}

TEST_F(Distil, FilesAreTheSameBytesOnOneProcessor) {
  for (const std::string to : {"shapes", "animation_space"}) {
    Distilled("ddm", to);
    const std::string many = ReadAll(folder_ / "out.glb");
    const std::string sinew = ProgramPath("sinew");
    Process alone({"/usr/bin/taskset", "-c", "0", sinew, "distil", "model:hand", "--deformer",
                   "ddm", "--to", to, "--out", folder_ / "alone.glb", "--local"});
    const Finished finished = alone.Wait();
    ASSERT_EQ(finished.exit_code, 0) << finished.err;
    EXPECT_TRUE(many == ReadAll(folder_ / "alone.glb")) << to;
  }
}

TEST_F(Distil, MistakesAreNamedAndLeaveNoFile) {
  const struct {
    Strings more;
    int exit_code;
    const char* text;
  } cases[] = {
      {{"--out", "hero.fbx"}, 64, "--out: got \"hero.fbx\", need .glb or .sinewrig"},
      {{"--out", folder_ / "x.glb", "--poses", "random", "fist"}, 64, "--poses: got random and"},
      {{"--out", folder_ / "x.glb", "--poses", "fist", "0"}, 65, "got clip 0 'fist' twice"},
      {{"--out", folder_ / "x.glb", "--poses", "wave"}, 65, "--poses: "},
      {{"--out", folder_ / "x.glb", "--max-shapes", "5"}, 64, "need --to shapes"},
      {{"--out", folder_ / "x.glb", "--influences", "9"}, 64, "--influences"},
      {{"--out", folder_ / "x.glb", "--picture", "x.jpg"}, 64, "--picture"},
      {{"--out", folder_ / "x.glb", "--picture", folder_ / "x.png", "--look-at", "knee"},
       65,
       "--look-at: "},
  };
  for (const auto& each : cases) {
    Strings arguments = {"distil", "model:hand", "--deformer", "ddm", "--to", "lbs"};
    arguments.insert(arguments.end(), each.more.begin(), each.more.end());
    // Where no server is: nothing is asked of it.
    const Finished finished = SinewAt("127.0.0.1:1", arguments);
    EXPECT_EQ(finished.exit_code, each.exit_code) << finished.err;
    EXPECT_THAT(finished.err, HasSubstr(each.text));
  }
  const Finished shapes = At({"distil", "model:hand", "--deformer", "ddm", "--to", "shapes",
                              "--out", folder_ / "x.sinewrig"});
  EXPECT_EQ(shapes.exit_code, 64);
  EXPECT_THAT(shapes.err, HasSubstr("need .glb for shapes"));
  const Finished many = At({"distil", "model:hand", "--deformer", "ddm", "--to", "animation_space",
                            "--max-shapes", "5", "--out", folder_ / "x.glb"});
  EXPECT_EQ(many.exit_code, 64);
  EXPECT_THAT(many.err, HasSubstr("got it with --to animation_space, need --to shapes"));
  EXPECT_THAT(folder_.Names(), IsEmpty());
  const std::string still = folder_ / "still.sinewrig";
  ASSERT_EQ(Sinew({"export", "model:hand", "--rig", still}).exit_code, 0);
  const Finished clip = At({"distil", still, "--deformer", "ddm", "--to", "lbs", "--poses",
                            "frames.npy", "--out", folder_ / "x.glb"});
  EXPECT_EQ(clip.exit_code, 65);
  EXPECT_THAT(clip.err, HasSubstr("--poses: got \"frames.npy\", but still.sinewrig has no clip: "
                                  "need random, or clips of --clip-file"));
}

}  // namespace
}  // namespace sinew::testing
