// The column FBX of the table of formats.
#include <cstdint>

#include "tests/support/fbx_writer.h"
#include "tests/unit/client/import/format_table.h"

namespace sinew::client {
namespace {

using testing::FbxRecord;
using testing::FbxWriter;

const std::vector<double> kIdentity = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};

// FBX: a quad of five points, the last of which no face uses, on two bones.
struct Fbx {
  FbxWriter file;
  FbxWriter::Id root, tip, model, mesh;

  explicit Fbx(const FbxWriter::Properties& bone = {}, const FbxWriter::Properties& shown = {})
      : root(file.AddModel("root", "LimbNode", 0, bone)),
        tip(file.AddModel("tip", "LimbNode", root)),
        model(file.AddModel("strip", "Mesh", 0, shown)),
        mesh(file.AddMesh(model, {0, 0, 0, 1, 0, 0, 1, 2, 0, 0, 2, 0, 9, 9, 9}, {0, 1, 2, -4})) {}

  Fbx& Bind(const std::vector<double>& weights = {1, 1, 1, 1, 1}, const std::string& method = "") {
    std::vector<std::int32_t> vertices;
    for (std::size_t v = 0; v < weights.size(); ++v) vertices.push_back(static_cast<int>(v));
    file.AddSkin(
        mesh,
        {{root, vertices, weights, kIdentity, kIdentity}, {tip, {}, {}, kIdentity, kIdentity}},
        method);
    return *this;
  }
  Fbx& Move(FbxWriter::Curve curve, const std::string& property = "Lcl Translation",
            double to = 8) {
    const FbxWriter::Id layer = file.AddLayer(file.AddStack("walk", 0, 1), "base");
    file.Animate(layer, root, property, {{"X", {{0, 0, curve}, {1, to, curve}}}});
    return *this;
  }
  absl::StatusOr<ImportedScene> Import(const ImportOptions& options = {}) const {
    return client::Import(".fbx", file.Binary(), options);
  }
};

std::string FbxKeys(FbxWriter::Curve curve, float quarter) {
  const auto scene = Fbx().Bind().Move(curve).Import();
  return ReadIf(scene.ok() && Near(MovesTo(*scene, 0, 1), {quarter, 0, 0}));
}

FbxRecord Rotation(const char* name, double x) {
  return FbxWriter::Property(name, std::string(name).starts_with("Lcl") ? name : "Vector3D",
                             {x, 0, 0});
}

}  // namespace

std::vector<Entry> FbxEntries() {
  std::vector<Entry> out;
  const auto add = [&](const char* feature, const char* state, std::function<std::string()> show) {
    out.push_back({feature, "FBX", state, std::move(show)});
  };
  add("vertex order of the file", "read", [] {
    const auto scene = Fbx().Bind().Import();
    return ReadIf(scene.ok() &&
                  scene->rig.meshes.at(0).positions ==
                      std::vector<float>({0, 0, 0, 1, 0, 0, 1, 2, 0, 0, 2, 0, 9, 9, 9}));
  });
  add("polygons of any size", "read", [] {
    const auto scene = Fbx().Bind().Import();
    return ReadIf(scene.ok() &&
                  scene->rig.meshes.at(0).face_sizes == std::vector<std::uint32_t>({4}));
  });
  add("more than four influences", "read", [] {
    Fbx fbx;
    std::vector<FbxWriter::Cluster> clusters;
    for (int j = 0; j < 6; ++j) {
      clusters.push_back({fbx.file.AddModel(absl::StrCat("j", j), "LimbNode", fbx.root),
                          {0, 1, 2, 3, 4},
                          std::vector<double>(5, 1. / 6),
                          kIdentity,
                          kIdentity});
    }
    fbx.file.AddSkin(fbx.mesh, clusters);
    const auto scene = fbx.Import();
    return ReadIf(scene.ok() && scene->rig.meshes.at(0).skin.influence_counts.at(0) == 6);
  });
  add("weights that do not sum to 1", "normalised", [] {
    const auto scene = Fbx().Bind({.98, .5, 1, 1, 1}).Import();
    const bool ones = scene.ok() && scene->rig.meshes.at(0).skin.influence_weights ==
                                        std::vector<float>({1, 1, 1, 1, 1});
    return ones && Says(*scene, Severity::kWarning, "normalised") ? "normalised" : "wrong";
  });
  add("vertices without weights", "refused", [] {
    return RefusedIf(Fbx().Bind({1, 1, 1, 1}).Import().status(), "--unweighted");
  });
  add("meshes without a skin", "read", [] {
    Fbx fbx;
    fbx.Bind();
    fbx.file.AddMesh(fbx.file.AddModel("hat", "Mesh", fbx.root), {0, 0, 0, 1, 0, 0, 0, 1, 0},
                     {0, 1, -3});
    const auto scene = fbx.Import();
    return ReadIf(scene.ok() && scene->rig.meshes.size() == 2 &&
                  scene->rig.meshes[1].skin.joints == std::vector<std::uint32_t>({0}));
  });
  add("several characters", "read", [] {
    Fbx fbx;
    fbx.Bind();
    const FbxWriter::Id root = fbx.file.AddModel("root", "LimbNode", 0);
    const FbxWriter::Id mesh = fbx.file.AddMesh(fbx.file.AddModel("strip", "Mesh", 0),
                                                {0, 0, 0, 1, 0, 0, 0, 1, 0}, {0, 1, -3});
    fbx.file.AddSkin(mesh, {{root, {0, 1, 2}, {1, 1, 1}, kIdentity, kIdentity}});
    const auto scene = fbx.Import();
    return ReadIf(scene.ok() && scene->rig.meshes.size() == 2 && scene->rig.joints.size() == 3 &&
                  scene->rig.meshes[1].skin.joints == std::vector<std::uint32_t>({2}));
  });
  add("linear keys", "read", [] { return FbxKeys(FbxWriter::Curve::kLinear, 2); });
  add("stepped keys", "read", [] { return FbxKeys(FbxWriter::Curve::kStep, 0); });
  add("cubic keys", "read", [] { return FbxKeys(FbxWriter::Curve::kCubicUser, 1.25f); });
  add("curves of Euler angles", "read", [] {
    // Half a turn: no shortest way exists between the keys.
    const auto scene = Fbx().Bind().Move(FbxWriter::Curve::kLinear, "Lcl Rotation", 180).Import();
    const auto clip = scene.ok() ? SampleClip(*scene, 0, {.fps = 4}) : scene.status();
    return ReadIf(clip.ok() && std::abs(clip->joint_transforms[2 * 24 + 9] - 1) < 1e-5f);
  });
  add("pivots, pre- and post-rotations", "read", [] {
    const auto scene = Fbx({FbxWriter::Property("RotationActive", "bool", {1}),
                            Rotation("PreRotation", 30), Rotation("PostRotation", -60),
                            FbxWriter::Property("RotationPivot", "Vector3D", {0, 1, 0})})
                           .Bind()
                           .Import();
    // A quarter turn about x, around (0, 1, 0).
    return ReadIf(scene.ok() && std::abs(scene->rig.rest_local[9] - 1) < 1e-6f &&
                  std::abs(scene->rig.rest_local[7] - 1) < 1e-6f &&
                  std::abs(scene->rig.rest_local[11] + 1) < 1e-6f);
  });
  add("animation layers", "read", [] {
    Fbx fbx;
    fbx.Bind();
    const FbxWriter::Id stack = fbx.file.AddStack("walk", 0, 1);
    for (const double to : {8., 4.}) {
      const FbxWriter::Id layer =
          fbx.file.AddLayer(stack, "layer", {FbxWriter::Property("BlendMode", "enum", {0})});
      fbx.file.Animate(layer, fbx.root, "Lcl Translation", {{"X", {{0, 0}, {1, to}}}});
    }
    const auto scene = fbx.Import();
    return ReadIf(scene.ok() && Near(MovesTo(*scene, 0, 1), {3, 0, 0}));
  });
  add("scale that is not inherited", "read", [] {
    Fbx fbx({FbxWriter::Property("Lcl Scaling", "Lcl Scaling", {2, 2, 2})});
    const FbxWriter::Id hand = fbx.file.AddModel("hand", "LimbNode", fbx.root,
                                                 {FbxWriter::Property("InheritType", "enum", {2})});
    fbx.file.AddSkin(fbx.mesh, {{fbx.root, {0, 1}, {1, 1}, kIdentity, kIdentity},
                                {hand, {2, 3, 4}, {1, 1, 1}, kIdentity, kIdentity}});
    const auto scene = fbx.Import();
    if (!scene.ok()) return std::string("wrong");
    const ClipData rest = RestPose(*scene);
    return ReadIf(rest.joint_transforms[0] == 2 && rest.joint_transforms[12] == 1);
  });
  add("transforms of the geometry alone", "read", [] {
    Fbx fbx({}, {FbxWriter::Property("GeometricTranslation", "Vector3D", {0, 0, 7})});
    const auto scene = fbx.Bind().Import();
    return ReadIf(scene.ok() && scene->rig.meshes.at(0).skin.inverse_bind[11] == 7);
  });
  const auto smile = [](const std::vector<FbxWriter::Target>& targets) {
    Fbx fbx;
    fbx.Bind();
    const FbxWriter::Id shape = fbx.file.AddBlendShape(fbx.mesh, "smile", 0, targets);
    const FbxWriter::Id layer = fbx.file.AddLayer(fbx.file.AddStack("walk", 0, 1), "base");
    fbx.file.Animate(layer, shape, "DeformPercent", {{"DeformPercent", {{0, 0}, {1, 100}}}});
    return fbx.Import();
  };
  add("morph targets and their keys", "read", [=] {
    const auto scene = smile({{100, {1}, {0, 0, 1}}});
    const auto clip = scene.ok() ? SampleClip(*scene, 0, {.fps = 4}) : scene.status();
    return ReadIf(clip.ok() && clip->controls.size() == 5 && clip->controls[1] == .25f);
  });
  add("in-betweens", "read", [=] {
    const auto scene = smile({{40, {1}, {0, 0, 2}}, {100, {1}, {0, 0, 1}}});
    return ReadIf(scene.ok() && scene->rig.controls.size() == 1 &&
                  scene->rig.meshes.at(0).shapes.at(0).targets.size() == 2);
  });
  add("unit and up axis", "read", [] {
    Fbx fbx;
    fbx.file = FbxWriter(2, 2.54);
    fbx.root = fbx.file.AddModel("root", "LimbNode", 0);
    fbx.mesh = fbx.file.AddMesh(fbx.file.AddModel("m", "Mesh", 0), {0, 0, 0, 1, 0, 0, 0, 1, 0},
                                {0, 1, -3});
    fbx.file.AddSkin(fbx.mesh, {{fbx.root, {0, 1, 2}, {1, 1, 1}, kIdentity, kIdentity}});
    const auto read = fbx.Import();
    return ReadIf(read.ok() && std::abs(read->rig.meters_per_unit - .0254) < 1e-9 &&
                  read->rig.up_axis == UpAxis::kZ);
  });
  add("skinning with dual quaternions asked for", "reported", [] {
    const auto scene = Fbx().Bind({1, 1, 1, 1, 1}, "DualQuaternion").Import();
    return scene.ok() && Says(*scene, Severity::kInfo, "dual quaternions") ? "reported" : "wrong";
  });
  add("constraints", "reported", [] {
    Fbx fbx;
    fbx.Bind();
    fbx.file.AddConstraint(fbx.tip, fbx.root);
    const auto scene = fbx.Import();
    return scene.ok() && Says(*scene, Severity::kWarning, "1 constraint") ? "reported" : "wrong";
  });
  add("hidden meshes", "reported", [] {
    const auto says = [](const char* property, double value) {
      Fbx fbx({}, {FbxWriter::Property(property, "bool", {value})});
      const auto scene = fbx.Bind().Import();
      return scene.ok() && Says(*scene, Severity::kWarning, "the file hides this mesh, which");
    };
    const bool reported = says("Visibility", 0) && says("Show", 0);
    return reported && !says("Visibility", 1) && !says("Show", 1) ? "reported" : "wrong";
  });
  add("face holes", "reported", [] {
    const auto says = [](std::int32_t hole) {
      Fbx fbx;
      fbx.file.AddHoles(fbx.mesh, {hole});
      const auto scene = fbx.Bind().Import();
      return scene.ok() && scene->rig.meshes.at(0).face_sizes.size() == 1 &&
             Says(*scene, Severity::kWarning, "1 hole, which is read as a face");
    };
    return says(1) && !says(0) ? "reported" : "wrong";
  });
  add("clips in other files", "read", [] {
    return ClipOf(".fbx", Fbx().Move(FbxWriter::Curve::kLinear).file.Binary(),
                  Fbx().Bind().file.Binary());
  });
  return out;
}

}  // namespace sinew::client
