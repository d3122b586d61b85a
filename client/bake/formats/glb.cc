#include "client/bake/formats/glb.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "client/bake/formats/byte_order.h"
#include "core/base/status.h"

namespace sinew::bake {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFloat = 5126, kUnsignedInt = 5125, kArrayBuffer = 34962, kElementBuffer = 34963;
constexpr int kVectorView = 0, kIndexView = 1, kMotionView = 2, kUvView = 3;
constexpr int kPointMode = 0;

Json Accessor(int view, std::uint64_t offset, int component, std::uint64_t count,
              const char* type) {
  return {{"bufferView", view},
          {"byteOffset", offset},
          {"componentType", component},
          {"count", count},
          {"type", type}};
}

// Points have bounds, which glTF wants.
Json VectorAccessor(const char* attribute, std::uint64_t offset, std::span<const float> values) {
  Json accessor = Accessor(kVectorView, offset, kFloat, values.size() / 3, "VEC3");
  if (std::string_view(attribute) != "POSITION") return accessor;
  float bounds[6] = {};
  for (std::size_t k = 0; k < values.size(); ++k) {
    float &low = bounds[k % 3], &high = bounds[3 + k % 3];
    low = k < 3 ? values[k] : std::min(low, values[k]);
    high = k < 3 ? values[k] : std::max(high, values[k]);
  }
  accessor["min"] = {bounds[0], bounds[1], bounds[2]};
  accessor["max"] = {bounds[3], bounds[4], bounds[5]};
  return accessor;
}

}  // namespace

struct GlbDocument::Content {
  std::vector<Json> primitives;  // of each mesh
  Json accessors = Json::array();

  int Add(Json accessor) {
    accessors.push_back(std::move(accessor));
    return static_cast<int>(accessors.size()) - 1;
  }

  void AddFaces(const GlbScene& scene) {
    for (std::size_t m = 0; m < primitives.size(); ++m) {
      const GlbMesh& mesh = scene.meshes[m];
      if (mesh.indices > 0) {
        primitives[m]["indices"] =
            Add(Accessor(kIndexView, mesh.first_index * 4, kUnsignedInt, mesh.indices, "SCALAR"));
      } else {
        primitives[m]["mode"] = kPointMode;
      }
      if (mesh.has_uvs) {
        primitives[m]["attributes"]["TEXCOORD_0"] =
            Add(Accessor(kUvView, mesh.first_uv * 8, kFloat, mesh.vertices, "VEC2"));
      }
    }
  }

  Json Nodes(const GlbScene& scene) const {
    Json document = {{"asset", {{"version", "2.0"}, {"generator", "sinew"}}}, {"scene", 0}};
    document["scenes"] = Json::array({{{"nodes", {0}}}});
    Json root = {{"name", scene.name}};
    if (scene.z_up) root["rotation"] = {-std::sqrt(0.5), 0, 0, std::sqrt(0.5)};
    if (scene.meters_per_unit != 1) root["scale"] = std::vector<double>(3, scene.meters_per_unit);
    Json nodes = Json::array();
    for (std::size_t m = 0; m < primitives.size(); ++m) {
      root["children"].push_back(m + 1);
      nodes.push_back({{"name", scene.meshes[m].name}, {"mesh", m}});
      Json mesh = {{"name", scene.meshes[m].name}, {"primitives", Json::array({primitives[m]})}};
      if (scene.times.size() > 1) {
        mesh["weights"] = std::vector<int>(scene.times.size() - 1, 0);
        mesh["extras"] = {{"targetNames", scene.target_names}};
      }
      document["meshes"].push_back(std::move(mesh));
    }
    document["nodes"] = Json::array({std::move(root)});
    for (Json& node : nodes) document["nodes"].push_back(std::move(node));
    return document;
  }

  void AddAnimation(const GlbScene& scene, Json& document) {
    const std::uint64_t frames = scene.times.size();
    if (frames < 2) return;
    Json input = Accessor(kMotionView, 0, kFloat, frames, "SCALAR");
    input["min"] = Json::array({scene.times.front()});
    input["max"] = Json::array({scene.times.back()});
    const int in = Add(std::move(input));
    const int out = Add(Accessor(kMotionView, frames * 4, kFloat, frames * (frames - 1), "SCALAR"));
    Json channels = Json::array();
    for (std::size_t m = 0; m < primitives.size(); ++m) {
      channels.push_back({{"sampler", 0}, {"target", {{"node", m + 1}, {"path", "weights"}}}});
    }
    Json sampler = {{"input", in}, {"output", out}, {"interpolation", "LINEAR"}};
    Json animation = {{"channels", std::move(channels)}};
    animation["samplers"] = Json::array({std::move(sampler)});
    document["animations"] = Json::array({std::move(animation)});
  }
};

GlbDocument::GlbDocument(std::size_t meshes) : content_(std::make_unique<Content>()) {
  content_->primitives.assign(meshes, Json::object());
}
GlbDocument::GlbDocument(GlbDocument&&) noexcept = default;
GlbDocument::~GlbDocument() = default;

void GlbDocument::AddBase(std::size_t mesh, const char* attribute, std::uint64_t offset,
                          std::span<const float> values) {
  content_->primitives[mesh]["attributes"][attribute] =
      content_->Add(VectorAccessor(attribute, offset, values));
}

void GlbDocument::AddTarget(std::size_t mesh, std::size_t target, const char* attribute,
                            std::uint64_t offset, std::span<const float> values) {
  content_->primitives[mesh]["targets"][target][attribute] =
      content_->Add(VectorAccessor(attribute, offset, values));
}

absl::StatusOr<std::string> GlbDocument::Encode(const GlbScene& scene) {
  content_->AddFaces(scene);
  Json document = content_->Nodes(scene);
  content_->AddAnimation(scene, document);
  std::uint64_t bytes = 0;
  const auto add_view = [&](std::uint64_t size, int target, int stride) {
    Json view = {{"buffer", 0}, {"byteOffset", bytes}, {"byteLength", size}};
    if (stride > 0) view["byteStride"] = stride;
    if (target > 0) view["target"] = target;
    document["bufferViews"].push_back(std::move(view));
    bytes += size;
  };
  add_view(scene.vector_bytes, kArrayBuffer, 12);
  add_view(scene.index_bytes, kElementBuffer, 0);
  add_view(scene.motion_bytes, 0, 0);
  if (scene.uv_bytes > 0) add_view(scene.uv_bytes, kArrayBuffer, 8);
  document["accessors"] = std::move(content_->accessors);
  document["buffers"] = Json::array({{{"byteLength", bytes}}});
  return GlbHead(document.dump(-1, ' ', false, Json::error_handler_t::replace), bytes);
}

absl::StatusOr<std::string> GlbHead(std::string json, std::uint64_t bytes) {
  json.append((4 - json.size() % 4) % 4, ' ');
  const std::uint64_t padding = (4 - bytes % 4) % 4;
  const std::uint64_t total = 12 + 8 + json.size() + 8 + bytes + padding;
  if (total > std::numeric_limits<std::uint32_t>::max()) {
    return InvalidArgument("glb: would have ", total, " bytes, need less than 4 GiB (",
                           std::numeric_limits<std::uint32_t>::max(), "); bake fewer frames");
  }
  std::string head = "glTF";
  const auto number = [&](std::uint64_t value) {
    AppendBytes(static_cast<std::uint32_t>(value), ByteOrder::kLittle, head);
  };
  number(2);
  number(total);
  number(json.size());
  head += "JSON";
  head += json;
  number(bytes + padding);
  head += std::string_view("BIN\0", 4);
  return head;
}

}  // namespace sinew::bake
