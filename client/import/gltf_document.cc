#include "client/import/gltf_document.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/string_view.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "client/import/gltf_buffers.h"
#include "client/import/gltf_draco.h"
#include "client/import/gltf_meshopt.h"
#include "client/import/json_text.h"
#include "core/base/counted_text.h"
#include "core/base/status.h"

namespace sinew::client {
namespace {

// Extensions that only touch what we leave out (materials, images, lights, metadata) or that the
// reader knows.
bool CanIgnoreOrRead(const std::string& extension) {
  static constexpr const char* kPrefixes[] = {
      "KHR_materials_", "KHR_texture_",  "KHR_lights_",           "KHR_xmp",        "EXT_texture_",
      "EXT_lights_",    "MSFT_texture_", "KHR_animation_pointer", "VRMC_materials_"};
  static constexpr std::string_view kNames[] = {"KHR_mesh_quantization",
                                                "KHR_node_visibility",
                                                "KHR_techniques_webgl",
                                                "EXT_meshopt_compression",
                                                "VRM",
                                                "VRMC_vrm",
                                                "KHR_draco_mesh_compression"};
  return std::ranges::find(kNames, extension) != std::end(kNames) ||
         std::ranges::any_of(
             kPrefixes, [&](const char* prefix) { return absl::StartsWith(extension, prefix); });
}

std::uint32_t LittleEndian32(const char* bytes) {
  std::uint32_t value = 0;
  for (int i = 3; i >= 0; --i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

struct Content {
  std::string_view json;
  std::optional<std::string_view> bin;  // of a GLB
};

// The chunks of a GLB, or the file as it is. Chunks should be padded to four bytes, but not all
// programs do it, or they leave the padding out of the length.
absl::StatusOr<Content> SplitFile(const std::string& bytes) {
  constexpr std::uint64_t kHead = 8;
  constexpr std::string_view kBin("BIN\0", 4);
  if (!absl::StartsWith(bytes, "glTF")) return Content{.json = bytes, .bin = {}};
  if (bytes.size() < 20) {
    return InvalidArgument("glTF: truncated, ", bytes.size(), " bytes, need at least 20");
  }
  if (const std::uint32_t version = LittleEndian32(&bytes[4]); version != 2) {
    return InvalidArgument("glTF: binary container version ", version, ", need 2");
  }
  const std::uint64_t total = LittleEndian32(&bytes[8]), json = LittleEndian32(&bytes[12]);
  if (total > bytes.size() || 20 + json > total) {
    return InvalidArgument("glTF: truncated, the header promises ", std::max(total, 20 + json),
                           " bytes, the file has ", bytes.size());
  }
  const std::string_view whole = std::string_view(bytes).substr(0, total);
  Content content{.json = whole.substr(20, json), .bin = {}};
  while (absl::EndsWith(AbslView(content.json), absl::string_view("\0", 1))) {
    content.json.remove_suffix(1);
  }
  const std::uint64_t after = 20 + json;
  for (const std::uint64_t at : {after, (after + 3) / 4 * 4}) {
    if (at + kHead > total || whole.substr(at + 4, 4) != kBin) continue;
    const std::uint64_t size = LittleEndian32(&bytes[at]);
    if (size > total - at - kHead) {
      return InvalidArgument("glTF: truncated, the BIN chunk promises ", size,
                             " bytes, the file has ", total - at - kHead);
    }
    content.bin = whole.substr(at + kHead, size);
    break;
  }
  return content;
}

// Syntax, depth, keys (glTF 2.0, 2.7: unique within their object), version and extensions.
absl::Status CheckText(std::string_view text) {
  std::string version;
  std::vector<std::string> unsupported;
  const absl::Status valid =
      CheckJson(text, false, [&](const std::string& path, const std::string& value) {
        if (path == "asset.version") version = value;
        if (absl::StartsWith(path, "extensionsRequired[") && !CanIgnoreOrRead(value)) {
          unsupported.push_back(value);
        }
      });
  if (!valid.ok()) return InvalidArgument("glTF: ", valid.message());
  if (!absl::StartsWith(version, "2.")) {
    return InvalidArgument("glTF: asset.version is '", version, "', need 2.0");
  }
  if (unsupported.empty()) return absl::OkStatus();
  return InvalidArgument("extensionsRequired: ", unsupported.front(),
                         " is not supported; export without it");
}

// Takes out the channels that name no node, which the parser would refuse without saying why.
void TakeOutChannelsWithoutNode(nlohmann::json& document, std::vector<Problem>& problems) {
  constexpr char kPointer[] = "KHR_animation_pointer";
  const auto animations = document.find("animations");
  if (animations == document.end() || !animations->is_array()) return;
  for (std::size_t a = 0; a < animations->size(); ++a) {
    nlohmann::json& animation = (*animations)[a];
    if (!animation.is_object() || !animation.contains("channels")) continue;
    std::size_t without_node = 0, pointers = 0;
    nlohmann::json kept = nlohmann::json::array();
    for (nlohmann::json& channel : animation["channels"]) {
      const bool has_target = channel.is_object() && channel.contains("target");
      const nlohmann::json target = has_target ? channel["target"] : nlohmann::json();
      if (!target.is_object() || target.contains("node")) {
        kept.push_back(std::move(channel));
      } else if (target.contains("extensions") && target["extensions"].contains(kPointer)) {
        ++pointers;
      } else {
        ++without_node;
      }
    }
    animation["channels"] = std::move(kept);
    const bool named = animation.contains("name") && animation["name"].is_string();
    const std::string path =
        GltfPath("animations", a, named ? animation["name"].get<std::string>() : "");
    if (pointers > 0) {
      problems.push_back(Lost(absl::StrCat(CountedText(pointers, "channel"), " with ", kPointer,
                                           ", which is not supported: what they animate keeps its "
                                           "value"),
                              path));
    }
    if (without_node > 0) {
      problems.push_back(Lost(CountedText(without_node, "channel that animates no node",
                                          "channels that animate no node"),
                              path));
    }
  }
}

// Takes out the indices of primitives that are only compressed: the parser refuses accessors
// without data there, and decoding sets them.
void TakeOutCompressedIndices(nlohmann::json& document) {
  const auto meshes = document.find("meshes"), accessors = document.find("accessors");
  if (meshes == document.end() || accessors == document.end() || !meshes->is_array() ||
      !accessors->is_array()) {
    return;
  }
  for (nlohmann::json& mesh : *meshes) {
    if (!mesh.is_object() || !mesh.contains("primitives")) continue;
    for (nlohmann::json& primitive : mesh["primitives"]) {
      const bool compressed = primitive.is_object() && primitive.contains("extensions") &&
                              primitive["extensions"].contains("KHR_draco_mesh_compression");
      if (!compressed || !primitive.contains("indices")) continue;
      const nlohmann::json& index = primitive["indices"];
      if (!index.is_number_unsigned() || index.get<std::uint64_t>() >= accessors->size()) continue;
      if (!(*accessors)[index.get<std::size_t>()].contains("bufferView")) {
        primitive.erase("indices");
      }
    }
  }
}

// Gives skins without inverse binds the index that stands for none: the parser takes the member for
// required, and reports it as missing.
void NameAbsentInverseBinds(nlohmann::json& document) {
  const auto skins = document.find("skins");
  if (skins == document.end() || !skins->is_array()) return;
  for (nlohmann::json& skin : *skins) {
    if (skin.is_object()) skin.emplace("inverseBindMatrices", -1);
  }
}

std::vector<tinygltf::Image> ListImages(const nlohmann::json& document) {
  std::vector<tinygltf::Image> out;
  const auto images = document.find("images");
  if (images == document.end() || !images->is_array()) return out;
  for (const nlohmann::json& image : *images) {
    tinygltf::Image& added = out.emplace_back();
    added.bufferView = -1;
    if (!image.is_object()) continue;
    const auto view = image.find("bufferView"), uri = image.find("uri");
    if (view != image.end() && view->is_number_unsigned()) added.bufferView = view->get<int>();
    if (uri != image.end() && uri->is_string()) added.uri = uri->get<std::string>();
  }
  return out;
}

absl::StatusOr<tinygltf::Model> Parse(const std::string& text, std::vector<Problem>& problems) {
  tinygltf::TinyGLTF loader;
  tinygltf::Model model;
  std::string error, warning;
  bool loaded = false;
  try {
    loaded = loader.LoadASCIIFromString(&model, &error, &warning, text.data(),
                                        static_cast<unsigned int>(text.size()), "");
  } catch (const std::exception& e) {
    error = e.what();
  }
  if (!loaded) return InvalidArgument("glTF: ", error.empty() ? "cannot be parsed" : error);
  // What the parser complains about but passes over is missing from the model.
  if (!error.empty()) problems.push_back(Lost(error, "file"));
  if (!warning.empty()) problems.push_back({Severity::kInfo, warning, "file"});
  return model;
}

}  // namespace

std::string GltfPath(const char* list, std::size_t index, const std::string& name) {
  return name.empty() ? absl::StrCat(list, "[", index, "]")
                      : absl::StrCat(list, "[", index, "] '", name, "'");
}

absl::StatusOr<std::size_t> ReadNumber(const tinygltf::Value& object, const char* key,
                                       std::optional<std::size_t> absent,
                                       const std::string& where) {
  if (absent && !object.Has(key)) return *absent;
  const bool is_number = object.Has(key) && object.Get(key).IsInt();
  const int value = is_number ? object.Get(key).GetNumberAsInt() : -1;
  if (value < 0) return InvalidArgument(where, ": ", key, ": need a whole number, 0 or more");
  return static_cast<std::size_t>(value);
}

absl::StatusOr<tinygltf::Model> LoadGltfDocument(const std::string& bytes, const std::string& path,
                                                 std::uint64_t max_bytes,
                                                 std::vector<Problem>& problems,
                                                 std::vector<tinygltf::Image>* images) {
  SINEW_ASSIGN_OR_RETURN(const Content content, SplitFile(bytes));
  SINEW_RETURN_IF_ERROR(CheckText(content.json));
  nlohmann::json document = nlohmann::json::parse(content.json);
  absl::StatusOr<std::vector<tinygltf::Buffer>> buffers = LoadGltfBuffers(
      document, content.bin, std::filesystem::path(path).parent_path().string(), max_bytes);
  if (!buffers.ok()) return InvalidArgument("glTF: ", buffers.status().message());
  document.erase("buffers");
  if (images != nullptr) *images = ListImages(document);
  document.erase("images");
  TakeOutChannelsWithoutNode(document, problems);
  TakeOutCompressedIndices(document);
  NameAbsentInverseBinds(document);
  SINEW_ASSIGN_OR_RETURN(tinygltf::Model model, Parse(document.dump(), problems));
  model.buffers = *std::move(buffers);
  SINEW_RETURN_IF_ERROR(DecodeMeshopt(max_bytes, model));
  SINEW_RETURN_IF_ERROR(DecodeDraco(max_bytes, model));
  return model;
}

}  // namespace sinew::client
