// The column glTF of the table of formats.
#include <meshoptimizer.h>

#include <cstdint>

#include "tests/unit/client/import/format_table.h"

namespace sinew::client {
namespace {

using testing::GltfBuilder;
using testing::MakeStrip;

// glTF: the strip of gltf_builder.h, whose joint 0 moves along x from 0 to 8 in a second.
std::string Moving(GltfBuilder b, const char* interpolation) {
  const bool cubic = std::string(interpolation) == "CUBICSPLINE";
  AddAnimation(b, 1, "translation", {0, 1},
               cubic ? std::vector<float>{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0}
                     : std::vector<float>{0, 0, 0, 8, 0, 0},
               "VEC3", interpolation);
  return b.Glb();
}

std::string GltfKeys(const char* interpolation, float quarter) {
  const auto scene = Import(".glb", Moving(MakeStrip(), interpolation));
  return ReadIf(scene.ok() && Near(MovesTo(*scene, 0, 1), {quarter, 0, 0}));
}

}  // namespace

std::vector<Entry> GltfEntries() {
  std::vector<Entry> out;
  const auto add = [&](const char* feature, const char* state, std::function<std::string()> show) {
    out.push_back({feature, "glTF", state, std::move(show)});
  };
  const auto with_weights = [](const std::vector<float>& weights) {
    GltfBuilder b = MakeStrip();
    b.doc["meshes"][0]["primitives"][0]["attributes"]["WEIGHTS_0"] = b.AddAccessor(weights, "VEC4");
    return b;
  };
  add("vertex order of the file", "read", [] {
    const auto scene = Import(".glb", MakeStrip().Glb());
    return ReadIf(scene.ok() && scene->rig.meshes.at(0).positions ==
                                    std::vector<float>({0, 0, 0, 1, 0, 0, 1, 2, 0, 0, 2, 0}));
  });
  add("more than four influences", "read", [] {
    GltfBuilder b = MakeStrip();
    nlohmann::json& attributes = b.doc["meshes"][0]["primitives"][0]["attributes"];
    for (int j = 3; j < 7; ++j) b.Push("nodes", {{"name", absl::StrCat("j", j)}});
    b.doc["skins"][0] = {{"joints", {1, 2, 3, 4, 5, 6}}};
    std::vector<std::uint8_t> first, second;
    std::vector<float> weights, more;
    for (int v = 0; v < 4; ++v) {
      first.insert(first.end(), {0, 1, 2, 3});
      second.insert(second.end(), {4, 5, 0, 0});
      weights.insert(weights.end(), {.25f, .25f, .125f, .125f});
      more.insert(more.end(), {.125f, .125f, 0, 0});
    }
    attributes["JOINTS_0"] = b.AddAccessor(first, "VEC4");
    attributes["WEIGHTS_0"] = b.AddAccessor(weights, "VEC4");
    attributes["JOINTS_1"] = b.AddAccessor(second, "VEC4");
    attributes["WEIGHTS_1"] = b.AddAccessor(more, "VEC4");
    const auto scene = Import(".glb", b.Glb());
    return ReadIf(scene.ok() && scene->rig.meshes.at(0).skin.influence_counts ==
                                    std::vector<std::uint32_t>({6, 6, 6, 6}));
  });
  add("weights that do not sum to 1", "normalised", [=] {
    const auto scene =
        Import(".glb", with_weights({.5f, 0, 0, 0, .98f, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}).Glb());
    const bool ones = scene.ok() && scene->rig.meshes.at(0).skin.influence_weights ==
                                        std::vector<float>({1, 1, 1, 1});
    return ones && Says(*scene, Severity::kWarning, "normalised") ? "normalised" : "wrong";
  });
  add("vertices without weights", "refused", [=] {
    return RefusedIf(
        Import(".glb", with_weights({1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}).Glb())
            .status(),
        "--unweighted");
  });
  add("meshes without a skin", "read", [] {
    GltfBuilder b = MakeStrip();
    b.Push("meshes", {{"primitives", {{{"attributes", {{"POSITION", 0}}}, {"indices", 3}}}}});
    b.Push("nodes", {{"name", "hat"}, {"mesh", 1}, {"translation", {5, 0, 0}}});
    b.doc["nodes"][1]["children"].push_back(3);
    const auto scene = Import(".glb", b.Glb());
    if (!scene.ok() || scene->rig.meshes.size() != 2) return std::string("wrong");
    const Skin& skin = scene->rig.meshes[1].skin;
    return ReadIf(skin.joints == std::vector<std::uint32_t>({0}) && skin.inverse_bind[3] == 5);
  });
  add("several characters", "read", [] {
    GltfBuilder b = MakeStrip();
    b.Push("nodes", {{"name", "Strip"}, {"mesh", 0}, {"skin", 1}});
    b.Push("nodes", {{"name", "root"}, {"children", {5}}});
    b.Push("nodes", {{"name", "tip"}});
    b.Push("skins", {{"joints", {4, 5}}, {"inverseBindMatrices", 4}});
    const auto scene = Import(".glb", b.Glb());
    return ReadIf(scene.ok() && scene->rig.joints.size() == 4 &&
                  scene->rig.joints[2].name == "root.2");
  });
  add("linear keys", "read", [] { return GltfKeys("LINEAR", 2); });
  add("stepped keys", "read", [] { return GltfKeys("STEP", 0); });
  add("cubic keys", "read", [] { return GltfKeys("CUBICSPLINE", 1.25f); });
  add("morph targets and their keys", "read", [] {
    GltfBuilder b = MakeStrip();
    const int offsets = b.AddAccessor<float>({0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0}, "VEC3");
    b.doc["meshes"][0]["primitives"][0]["targets"] = {{{"POSITION", offsets}}};
    AddAnimation(b, 0, "weights", {0, 1}, {0, 1}, "SCALAR", "LINEAR");
    const auto scene = Import(".glb", b.Glb());
    const auto clip = scene.ok() ? SampleClip(*scene, 0, {.fps = 4}) : scene.status();
    return ReadIf(clip.ok() && clip->controls.size() == 5 && clip->controls[1] == .25f);
  });
  add("unit and up axis", "read", [] {
    const auto scene = Import(".glb", MakeStrip().Glb());
    return ReadIf(scene.ok() && scene->rig.meters_per_unit == 1 &&
                  scene->rig.up_axis == UpAxis::kY);
  });
  add("compressed meshes", "read", [] {
    GltfBuilder b = MakeStrip();
    const std::vector<float> points = {0, 0, 0, 1, 0, 0, 1, 2, 0, 0, 2, 0};
    std::vector<std::uint8_t> packed(meshopt_encodeVertexBufferBound(4, 12));
    packed.resize(meshopt_encodeVertexBuffer(packed.data(), packed.size(), points.data(), 4, 12));
    const int view = b.AddView(packed);
    b.doc["bufferViews"][0]["extensions"]["EXT_meshopt_compression"] = {
        {"buffer", 0},
        {"byteOffset", b.doc["bufferViews"][view]["byteOffset"]},
        {"byteLength", packed.size()},
        {"byteStride", 12},
        {"count", 4},
        {"mode", "ATTRIBUTES"}};
    b.doc["extensionsRequired"] = {"EXT_meshopt_compression"};
    const auto scene = Import(".glb", b.Glb());
    return ReadIf(scene.ok() && scene->rig.meshes.at(0).positions == points);
  });
  add("scenes that are not the default", "reported", [] {
    GltfBuilder b = MakeStrip();
    b.Push("nodes", {{"name", "Other"}, {"mesh", 0}, {"skin", 0}});
    b.doc["scenes"] = {{{"nodes", {0, 1}}}, {{"name", "spare"}, {"nodes", {3}}}};
    const auto scene = Import(".glb", b.Glb());
    return scene.ok() && scene->rig.meshes.size() == 1 && Says(*scene, Severity::kWarning, "scene")
               ? "reported"
               : "wrong";
  });
  add("hidden meshes", "reported", [] {
    GltfBuilder b = MakeStrip();
    b.Push("nodes", {{"name", "props"}, {"children", {0}}});
    const auto says = [&](bool visible) {
      b.doc["nodes"][3]["extensions"]["KHR_node_visibility"] = {{"visible", visible}};
      b.doc["extensionsRequired"] = b.doc["extensionsUsed"] = {"KHR_node_visibility"};
      const auto scene = Import(".glb", b.Glb());
      return scene.ok() && Says(*scene, Severity::kWarning, "the file hides this mesh, which");
    };
    return says(false) && !says(true) ? "reported" : "wrong";
  });
  add("clips in other files", "read",
      [] { return ClipOf(".glb", Moving(MakeStrip(), "LINEAR"), MakeStrip().Glb()); });
  return out;
}

}  // namespace sinew::client
