// Generated FBX characters, frame by frame against ufbx's own evaluation.
#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "sinew/import.h"
#include "tests/support/fbx_oracle.h"
#include "tests/support/fbx_writer.h"
#include "tests/support/gltf_builder.h"
#include "tests/support/random.h"

namespace sinew::client {
namespace {

using testing::FbxRecord;
using testing::FbxWriter;
using Properties = FbxWriter::Properties;
using Property = std::vector<double>;

// What a file may hold besides joints with keys. A character has one part of each kind.
struct Parts {
  bool pivots = false;     // rotation and scaling pivots and offsets
  bool orders = false;     // rotation orders and post-rotations
  bool scales = false;     // inherit types and animated scale
  bool geometric = false;  // a geometric transform of the mesh
  bool layers = false;     // an additive and an overriding layer with weights
  bool shapes = false;     // blend shapes with in-betweens
  bool curves = false;     // steps and cubic curves instead of linear ones
  bool rigid = false;      // a mesh without a skin below a joint
  bool instances = false;  // the mesh is shown by two nodes
  bool z_up_metres = false;
};

class Generator {
 public:
  Generator(std::uint32_t seed, const Parts& parts)
      : random_(seed),
        parts_(parts),
        file_(parts.z_up_metres ? 2 : 1, parts.z_up_metres ? 100 : 1) {}

  // A chain of joints as Mixamo names them, each with a pre-rotation, and a tube around it.
  FbxWriter Write() {
    const FbxWriter::Id armature =
        file_.AddModel("Armature", "Null", 0, Lcl({3, -2, 5}, {0, 30, 0}));
    FbxWriter::Id parent = armature;
    for (int j = 0; j < kJoints; ++j) {
      parent =
          file_.AddModel(absl::StrCat("mixamorig:Bone", j), "LimbNode", parent, JointProperties());
      joints_.push_back(parent);
    }
    AddTube();
    if (parts_.rigid) AddHat();
    const FbxWriter::Id stack = file_.AddStack("mixamo.com", 0.25, 1.25);
    AnimateAll(file_.AddLayer(stack, "Base"));
    if (parts_.layers) {
      AnimateAll(file_.AddLayer(stack, "Add",
                                {Weight(60), FbxWriter::Property("BlendMode", "enum", {0})}));
      AnimateAll(file_.AddLayer(stack, "Over",
                                {Weight(40), FbxWriter::Property("BlendMode", "enum", {2})}));
    }
    const FbxWriter::Id second = file_.AddStack("idle", 0, 0.5);
    AnimateAll(file_.AddLayer(second, "Base"));
    return file_;
  }

 private:
  static constexpr int kJoints = 4, kSides = 6, kRings = 9;

  double In(double low, double high) { return low + (high - low) * double{random_.Next()}; }
  Property Angles(double most) { return {In(-most, most), In(-most, most), In(-most, most)}; }
  static FbxRecord Weight(double percent) {
    return FbxWriter::Property("Weight", "Number", {percent});
  }
  static Properties Lcl(const Property& translation, const Property& rotation) {
    return {FbxWriter::Property("Lcl Translation", "Lcl Translation", translation),
            FbxWriter::Property("Lcl Rotation", "Lcl Rotation", rotation)};
  }

  Properties JointProperties() {
    Properties out = Lcl({0, 10, 0}, Angles(20));
    const auto add = [&](const char* name, const char* type, const Property& values) {
      out.push_back(FbxWriter::Property(name, type, values));
    };
    add("RotationActive", "bool", {1});
    add("PreRotation", "Vector3D", Angles(90));
    if (parts_.orders) {
      add("RotationOrder", "enum", {double(random_.Below(6))});
      add("PostRotation", "Vector3D", Angles(45));
    }
    if (parts_.pivots) {
      for (const char* name :
           {"RotationPivot", "RotationOffset", "ScalingPivot", "ScalingOffset"}) {
        add(name, "Vector3D", Angles(3));
      }
    }
    if (parts_.scales) {
      add("InheritType", "enum", {double(random_.Below(3))});
      add("Lcl Scaling", "Lcl Scaling", {In(.5, 2), In(.5, 2), In(.5, 2)});
    }
    return out;
  }

  void AddTube() {
    std::vector<double> positions;
    std::vector<int> faces;
    for (int r = 0; r < kRings; ++r) {
      for (int s = 0; s < kSides; ++s) {
        const double angle = 2 * 3.14159265358979 * s / kSides;
        positions.insert(positions.end(), {2 * std::cos(angle), 5.0 * r, 2 * std::sin(angle)});
        if (r + 1 == kRings) continue;
        const int next = (s + 1) % kSides;
        for (const int v : {r * kSides + s, r * kSides + next, (r + 1) * kSides + next}) {
          faces.push_back(v);
        }
        faces.push_back(-1 - ((r + 1) * kSides + s));
      }
    }
    Properties properties;
    if (parts_.geometric) {
      properties = {FbxWriter::Property("GeometricTranslation", "Vector3D", Angles(5)),
                    FbxWriter::Property("GeometricRotation", "Vector3D", Angles(60)),
                    FbxWriter::Property("GeometricScaling", "Vector3D", {1.5, .75, 1.25})};
    }
    const FbxWriter::Id model = file_.AddModel("Body", "Mesh", 0, properties);
    const FbxWriter::Id mesh = file_.AddMesh(model, positions, faces);
    if (parts_.instances) {
      file_.ShowMesh(mesh, file_.AddModel("Twin", "Mesh", 0, Lcl({50, 0, 0}, {0, 0, 0})));
    }
    std::vector<FbxWriter::Cluster> clusters;
    for (int j = 0; j < kJoints; ++j) {
      FbxWriter::Cluster cluster{.joint = joints_[static_cast<std::size_t>(j)]};
      for (int r = 0; r < kRings; ++r) {
        const double weight = std::max(0.0, 1 - std::abs(5.0 * r - 10 * (j + .5)) / 12);
        for (int s = 0; s < kSides && weight > 0; ++s) {
          cluster.vertices.push_back(r * kSides + s);
          cluster.weights.push_back(weight);
        }
      }
      const double turn = In(-1, 1), c = std::cos(turn), s = std::sin(turn);
      cluster.link = {c, s, 0, 0, -s, c, 0, 0, 0, 0, 1, 0, 0, 10.0 * j, 0, 1};
      cluster.transform = {c, -s, 0, 0, s, c, 0, 0, 0, 0, 1, 0, -10.0 * j * s, -10.0 * j * c, 0, 1};
      clusters.push_back(std::move(cluster));
    }
    file_.AddSkin(mesh, clusters);
    if (!parts_.shapes) return;
    shapes_.push_back(file_.AddBlendShape(
        mesh, "smile", 30,
        {{.percent = 40, .vertices = {0, 7}, .offsets = {1, 0, 0, 0, 2, 0}},
         {.percent = 100, .vertices = {7, 20}, .offsets = {0, -1, 0, 3, 0, 1}}}));
    shapes_.push_back(file_.AddBlendShape(
        mesh, "frown", 65, {{.percent = 100, .vertices = {3}, .offsets = {0, 0, 4}}}));
  }

  // A hat on a brim, either of which may not inherit scale. The brim is no joint.
  void AddHat() {
    Properties brim = Lcl({2, 0, 1}, {0, 10, 0}), hat = Lcl({1, 2, 3}, {40, 0, 20});
    hat.push_back(FbxWriter::Property("GeometricTranslation", "Vector3D", {0, 1, 0}));
    for (Properties* properties : {&brim, &hat}) {
      properties->push_back(FbxWriter::Property("InheritType", "enum", {double(random_.Below(3))}));
    }
    const FbxWriter::Id above =
        file_.AddModel("Brim", random_.Below(2) == 0 ? "Null" : "LimbNode", joints_.back(), brim);
    if (random_.Below(2) == 0) held_ = above;
    const FbxWriter::Id model = file_.AddModel("Hat", "Mesh", above, hat);
    file_.AddMesh(model, {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 1, -3, 0, 2, -4, 1, 3, -3});
  }

  FbxWriter::Keys RandomKeys(double low, double high) {
    FbxWriter::Keys keys;
    double time = In(-0.2, 0.3);  // some keys are outside the take
    for (int k = 0; k < 4; ++k, time += In(0.1, 0.6)) {
      FbxWriter::Key key{.seconds = time, .value = In(low, high)};
      if (parts_.curves) {
        key.curve = static_cast<FbxWriter::Curve>(random_.Below(5));
        key.right_slope = In(-100, 100);
        key.next_slope = In(-100, 100);
      }
      keys.push_back(key);
    }
    return keys;
  }

  void AnimateAll(FbxWriter::Id layer) {
    const auto animate = [&](FbxWriter::Id object, const char* property, double low, double high) {
      file_.Animate(layer, object, property,
                    {{"X", RandomKeys(low, high)},
                     {"Y", RandomKeys(low, high)},
                     {"Z", RandomKeys(low, high)}});
    };
    for (const FbxWriter::Id joint : joints_) {
      animate(joint, "Lcl Rotation", -170, 170);
      if (parts_.scales) animate(joint, "Lcl Scaling", .4, 1.8);
      if (parts_.pivots) animate(joint, "RotationPivot", -2, 2);
    }
    animate(joints_.front(), "Lcl Translation", -20, 20);
    if (held_ != 0)
      file_.Animate(layer, held_, "Lcl Translation", {{"X", {}}, {"Y", {}}, {"Z", {}}});
    if (shapes_.empty()) return;
    file_.Animate(layer, shapes_.front(), "DeformPercent",
                  {{"DeformPercent", RandomKeys(-50, 150)}});
  }

  testing::Random random_;
  const Parts parts_;
  FbxWriter file_;
  std::vector<FbxWriter::Id> joints_, shapes_;
  FbxWriter::Id held_ = 0;  // clips have another place for it than the scene at rest, without a key
};

struct Case {
  const char* name;
  Parts parts;
};

class FbxOracle : public ::testing::TestWithParam<Case> {};

TEST_P(FbxOracle, EveryFrameIsThatOfUfbx) {
  double worst = 0;
  for (std::uint32_t seed = 1; seed <= 5; ++seed) {
    const FbxWriter file = Generator(seed, GetParam().parts).Write();
    for (const std::string& bytes : {file.Text(), file.Binary(7400), file.Binary(7500)}) {
      const auto scene = ImportFile(testing::WriteFile("x.fbx", bytes));
      ASSERT_TRUE(scene.ok()) << scene.status();
      ASSERT_EQ(scene->clips.size(), 2u);
      EXPECT_EQ(ClipFrames(scene->clips[0], 24), 25);
      const auto deviation = testing::DeviationFromUfbx(bytes, *scene, 24);
      ASSERT_TRUE(deviation.ok()) << deviation.status();
      EXPECT_EQ(deviation->frames, 25u + 13u);
      worst = std::max(worst, deviation->worst);
    }
  }
  RecordProperty("worst_over_diagonal", absl::StrCat(worst));
  EXPECT_LT(worst, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(
    Characters, FbxOracle,
    ::testing::Values(
        Case{"Mixamo", {}}, Case{"Pivots", {.pivots = true}},
        Case{"RotationOrders", {.orders = true}}, Case{"InheritedScale", {.scales = true}},
        Case{"GeometricTransform", {.geometric = true}}, Case{"AnimationLayers", {.layers = true}},
        Case{"BlendShapes", {.shapes = true, .curves = true}}, Case{"CurveKinds", {.curves = true}},
        Case{"RigidParts", {.geometric = true, .rigid = true}},
        Case{"RigidPartsOfScaledJoints", {.scales = true, .rigid = true}},
        Case{"Instances", {.instances = true}}, Case{"ZUpMetres", {.z_up_metres = true}},
        Case{"Everything",
             {.pivots = true,
              .orders = true,
              .scales = true,
              .geometric = true,
              .layers = true,
              .shapes = true,
              .curves = true,
              .rigid = true,
              .instances = true,
              .z_up_metres = true}}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace sinew::client
