#include <absl/strings/escaping.h>

#include "tests/fuzz/seeds.h"
#include "tests/support/collada_file.h"
#include "tests/support/fbx_writer.h"
#include "tests/support/gltf_builder.h"

namespace sinew::fuzz {
namespace {

// A quad on two bones with a blend shape, two layers and a hat.
void AddFbx(const Corpus& corpus) {
  using sinew::testing::FbxWriter;
  FbxWriter file;
  const auto property = [](const char* name, const std::vector<double>& values) {
    return FbxWriter::Property(name, name, values);
  };
  const FbxWriter::Id root =
      file.AddModel("root", "LimbNode", 0,
                    {property("PreRotation", {10, 20, 30}), property("RotationPivot", {0, 1, 0})});
  const FbxWriter::Id tip =
      file.AddModel("tip", "LimbNode", root,
                    {property("Lcl Translation", {0, 1, 0}), property("Lcl Scaling", {1, 2, 1}),
                     FbxWriter::Property("InheritType", "enum", {2})});
  const FbxWriter::Id body =
      file.AddModel("body", "Mesh", 0, {property("GeometricRotation", {0, 45, 0})});
  const FbxWriter::Id mesh =
      file.AddMesh(body, {0, 0, 0, 1, 0, 0, 1, 2, 0, 0, 2, 0}, {0, 1, 2, -4});
  const std::vector<double> identity = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  file.AddSkin(mesh, {{root, {0, 1}, {1, 1}, identity, identity},
                      {tip, {1, 2, 3}, {.5, 1, 1}, identity, identity}});
  const FbxWriter::Id smile = file.AddBlendShape(
      mesh, "smile", 25, {{50, {1}, {0, 0, 1}}, {100, {1, 3}, {0, 0, 1, 1, 0, 0}}});
  file.AddMesh(file.AddModel("hat", "Mesh", tip), {0, 0, 0, 1, 0, 0, 0, 1, 0}, {0, 1, -3});
  const FbxWriter::Id stack = file.AddStack("walk", 0, 1);
  const FbxWriter::Keys keys = {
      {0, 0, FbxWriter::Curve::kCubicUser, 90, -90}, {.5, 40, FbxWriter::Curve::kStep}, {1, 80}};
  for (const char* name : {"base", "over"}) {
    const FbxWriter::Id layer =
        file.AddLayer(stack, name, {FbxWriter::Property("Weight", "Number", {70})});
    file.Animate(layer, tip, "Lcl Rotation", {{"X", keys}, {"Z", keys}});
    file.Animate(layer, smile, "DeformPercent", {{"DeformPercent", keys}});
  }
  corpus.Add("fbx", "text", file.Text());
  corpus.Add("fbx", "binary_7400", file.Binary(7400));
  corpus.Add("fbx", "binary_7500", file.Binary(7500));
}

void AddCollada(const Corpus& corpus) {
  using sinew::testing::ColladaAnimation, sinew::testing::ColladaFile;
  const std::string arm =
      "<node id=\"a\" sid=\"A\"><matrix sid=\"m\">1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1</matrix>"
      "<node id=\"b\" sid=\"B\"><translate sid=\"t\">0 2 0</translate>"
      "<rotate sid=\"r\">1 0 0 30</rotate><scale sid=\"s\">1 1 1</scale></node></node>";
  const std::string curves =
      ColladaAnimation("x",
                       {"b/r.ANGLE", {0, 1}, {0, 9}, "BEZIER", {0, 0, 0.5, 8}, {0.2, 1, 1, 9}}) +
      ColladaAnimation("y", {"a/m(3)(0)", {0, 0.5}, {1, 2}, "STEP"}) +
      ColladaAnimation("z", {"a/B/t", {0, 0.5}, {1, 2, 3, 4, 5, 6}});
  corpus.Add(
      "collada", "together",
      ColladaFile({"A", "B"}, arm, "<library_animations>" + curves + "</library_animations>"));
  corpus.Add("collada", "clips",
             ColladaFile({"a", "b"},
                         "<node id=\"n\"><lookat>1 2 3 0 0 0 0 1 0</lookat>"
                         "<instance_node url=\"#a\"/></node>",
                         "<library_nodes>" + arm + "</library_nodes><library_animations>" + curves +
                             "</library_animations><library_animation_clips>"
                             "<animation_clip id=\"c\" start=\"0.25\" end=\"0.75\">"
                             "<instance_animation url=\"#x\"/><instance_animation url=\"#z\"/>"
                             "</animation_clip></library_animation_clips>"));
}

void AddGltf(const Corpus& corpus) {
  sinew::testing::GltfBuilder builder = sinew::testing::MakeStrip();
  corpus.Add("gltf", "strip.glb", builder.Glb());
  AddAnimation(builder, 2, "rotation", {0, 1}, {0, 0, 0, 1, 0, 0, 1, 0}, "VEC4", "LINEAR");
  AddAnimation(builder, 1, "translation", {0, 1},
               {0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0}, "VEC3", "CUBICSPLINE");
  corpus.Add("gltf", "animated.glb", builder.Glb());
  const int offsets = builder.AddAccessor<float>({0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0}, "VEC3");
  builder.doc["meshes"][0]["primitives"][0]["targets"] = {{{"POSITION", offsets}}};
  builder.doc["meshes"][0]["weights"] = {0.5};
  AddAnimation(builder, 0, "weights", {0, 1}, {0, 1}, "SCALAR", "STEP");
  builder.doc["accessors"][0]["sparse"] = {
      {"count", 1},
      {"indices", {{"bufferView", builder.AddView<std::uint16_t>({2})}, {"componentType", 5123}}},
      {"values", {{"bufferView", builder.AddView<float>({1, 2, 1})}}}};
  corpus.Add("gltf", "shapes_sparse.glb", builder.Glb());
  // This file is text, with its buffer inside.
  nlohmann::json text = sinew::testing::MakeStrip().doc;
  const std::string buffer = sinew::testing::MakeStrip().buffer;
  text["buffers"] = {
      {{"byteLength", buffer.size()},
       {"uri", "data:application/octet-stream;base64," + absl::Base64Escape(buffer)}}};
  corpus.Add("gltf", "strip.gltf", text.dump());
  text["extensionsUsed"] = {"KHR_mesh_quantization"};
  text["nodes"][0]["matrix"] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  text["scenes"] = {{{"nodes", {0, 1}}}};
  text["scene"] = 0;
  text["buffers"][0]["uri"] = "fuzz.gltf";
  corpus.Add("gltf", "side_file.gltf", text.dump());
}

}  // namespace

void AddCharacterFiles(const Corpus& corpus) {
  AddCollada(corpus);
  AddFbx(corpus);
  AddGltf(corpus);
}

}  // namespace sinew::fuzz
