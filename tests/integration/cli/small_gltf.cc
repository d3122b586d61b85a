#include "tests/integration/cli/small_gltf.h"

#include <absl/strings/escaping.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace sinew::testing {
namespace {

using Json = nlohmann::json;
constexpr char kUri[] = "data:application/octet-stream;base64,";
constexpr int kFloat = 5126, kUnsignedShort = 5123;

template <class T>
void Add(Json& gltf, std::string& bytes, const std::vector<T>& values, int component,
         const char* type, std::size_t count) {
  const std::size_t view = gltf["bufferViews"].size();
  gltf["bufferViews"].push_back(
      {{"buffer", 0}, {"byteOffset", bytes.size()}, {"byteLength", values.size() * sizeof(T)}});
  gltf["accessors"].push_back(
      {{"bufferView", view}, {"componentType", component}, {"type", type}, {"count", count}});
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  bytes.resize((bytes.size() + 3) / 4 * 4);
}

void SetBytes(Json& gltf, const std::string& bytes) {
  gltf["buffers"] =
      Json::array({{{"byteLength", bytes.size()}, {"uri", kUri + absl::Base64Escape(bytes)}}});
}

}  // namespace

Json SmallGltf() {
  Json gltf = {{"asset", {{"version", "2.0"}}}, {"scene", 0}, {"scenes", {{{"nodes", {0, 1}}}}}};
  gltf["bufferViews"] = gltf["accessors"] = Json::array();
  std::string bytes;
  const std::vector<float> one = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  std::vector<float> binds = one, rotations = {0, 0, 0, 1, 0, 0, 0.7071068F, 0.7071068F};
  binds.insert(binds.end(), {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, -1, 0, 1});
  Add<float>(gltf, bytes, {0, 0, 0, 1, 0, 0, 0, 2, 0, 1, 2, 0}, kFloat, "VEC3", 4);
  Add<std::uint16_t>(gltf, bytes, {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0}, kUnsignedShort,
                     "VEC4", 4);
  Add<float>(gltf, bytes, {1, 0, 0, 0, 1, 0, 0, 0, 0.5F, 0.5F, 0, 0, 0.25F, 0.75F, 0, 0}, kFloat,
             "VEC4", 4);
  Add<std::uint16_t>(gltf, bytes, {0, 1, 2, 2, 1, 3}, kUnsignedShort, "SCALAR", 6);
  Add<float>(gltf, bytes, binds, kFloat, "MAT4", 2);
  Add<float>(gltf, bytes, {0, 1}, kFloat, "SCALAR", 2);
  Add<float>(gltf, bytes, rotations, kFloat, "VEC4", 2);
  gltf["accessors"][0]["min"] = {0, 0, 0};
  gltf["accessors"][0]["max"] = {1, 2, 0};
  gltf["accessors"][5]["min"] = {0};
  gltf["accessors"][5]["max"] = {1};
  gltf["nodes"] = {{{"name", "body"}, {"mesh", 0}, {"skin", 0}},
                   {{"name", "root"}, {"children", {2}}},
                   {{"name", "tip"}, {"translation", {0, 1, 0}}}};
  gltf["meshes"] = {
      {{"primitives",
        {{{"attributes", {{"POSITION", 0}, {"JOINTS_0", 1}, {"WEIGHTS_0", 2}}}, {"indices", 3}}}}}};
  gltf["skins"] = {{{"joints", {1, 2}}, {"inverseBindMatrices", 4}}};
  gltf["animations"] = {
      {{"name", "bend"},
       {"samplers", {{{"input", 5}, {"output", 6}}}},
       {"channels", {{{"sampler", 0}, {"target", {{"node", 2}, {"path", "rotation"}}}}}}}};
  SetBytes(gltf, bytes);
  return gltf;
}

void SetFloat(Json& gltf, std::size_t accessor, std::size_t index, float value) {
  std::string bytes;
  absl::Base64Unescape(gltf["buffers"][0]["uri"].get<std::string>().substr(sizeof kUri - 1),
                       &bytes);
  const std::size_t offset =
      gltf["bufferViews"][accessor]["byteOffset"].get<std::size_t>() + index * sizeof value;
  std::memcpy(bytes.data() + offset, &value, sizeof value);
  SetBytes(gltf, bytes);
}

}  // namespace sinew::testing
