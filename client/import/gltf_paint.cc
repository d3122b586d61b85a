#include "client/import/gltf_paint.h"

#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <utility>

#include "client/import/gltf_accessor.h"
#include "client/import/gltf_buffers.h"
#include "client/import/gltf_document.h"
#include "core/base/status.h"

namespace sinew::client {
namespace {

constexpr std::size_t kMostImages = 16, kMostImageBytes = std::size_t{64} << 20;
constexpr std::uint64_t kMostBytes = std::uint64_t{2} << 30;  // as ImportOptions
constexpr std::array<double, 3> kWhite = {1, 1, 1};

std::uint8_t ToSrgbByte(double linear) {
  const double x = std::clamp(linear, 0.0, 1.0);
  const double srgb = x <= 0.0031308 ? 12.92 * x : 1.055 * std::pow(x, 1 / 2.4) - 0.055;
  return static_cast<std::uint8_t>(std::lround(255 * srgb));
}

// The node that a path such as "nodes[3] 'Body'" names.
absl::StatusOr<std::size_t> NodeOf(const std::string& path) {
  absl::string_view rest = path;
  std::size_t index = 0;
  if (absl::ConsumePrefix(&rest, "nodes[") &&
      absl::SimpleAtoi(rest.substr(0, rest.find(']')), &index)) {
    return index;
  }
  return InvalidArgument(path, ": not a node of a glTF file");
}

// "image/png" or "image/jpeg"; empty for other types.
std::string TypeOf(const std::string& bytes) {
  if (absl::StartsWith(bytes, "\x89PNG\r\n\x1a\n")) return "image/png";
  return absl::StartsWith(bytes, "\xff\xd8\xff") ? "image/jpeg" : "";
}

// Where a texture is sampled: coordinates of which set, and u, v = rows * (u, v, 1). With
// KHR_texture_transform, offset * rotation * scale, counter-clockwise as v points down.
struct Placement {
  int set = 0;
  std::array<std::array<double, 3>, 2> rows = {{{1, 0, 0}, {0, 1, 0}}};
};

Placement PlacementOf(const tinygltf::TextureInfo& texture) {
  Placement out = {.set = texture.texCoord};
  const auto found = texture.extensions.find("KHR_texture_transform");
  if (found == texture.extensions.end()) return out;
  const tinygltf::Value& transform = found->second;
  const auto pair = [&](const char* key, double absent) {
    std::array<double, 2> values = {absent, absent};
    if (!transform.Has(key) || transform.Get(key).ArrayLen() != 2) return values;
    for (int k = 0; k < 2; ++k) {
      values[static_cast<std::size_t>(k)] = transform.Get(key).Get(k).GetNumberAsDouble();
    }
    return values;
  };
  const auto offset = pair("offset", 0), scale = pair("scale", 1);
  const double angle =
      transform.Has("rotation") ? transform.Get("rotation").GetNumberAsDouble() : 0;
  const double c = std::cos(angle), s = std::sin(angle);
  out.rows = {{{c * scale[0], s * scale[1], offset[0]}, {-s * scale[0], c * scale[1], offset[1]}}};
  const auto set = ReadNumber(transform, "texCoord", {}, "");
  if (set.ok()) out.set = static_cast<int>(*set);
  return out;
}

class Painter {
 public:
  Painter(const tinygltf::Model& model, const std::vector<tinygltf::Image>& images,
          const std::string& path)
      : model_(model),
        images_(images),
        folder_(std::filesystem::path(path).parent_path().string()) {}

  absl::Status Add(const Mesh& mesh) {
    SINEW_ASSIGN_OR_RETURN(const std::size_t index, NodeOf(mesh.source_path));
    SINEW_ASSIGN_OR_RETURN(const auto* node,
                           Find(model_.nodes, static_cast<int>(index), mesh.source_path, "node"));
    SINEW_ASSIGN_OR_RETURN(const auto* source,
                           Find(model_.meshes, node->mesh, mesh.source_path, "mesh"));
    const std::size_t before = out_.uvs.size() / 3;
    for (const tinygltf::Primitive& primitive : source->primitives) {
      SINEW_RETURN_IF_ERROR(AddPrimitive(primitive, mesh.source_path));
    }
    if (out_.uvs.size() / 3 - before == mesh.vertices()) return absl::OkStatus();
    return InvalidArgument(mesh.source_path, ": not the mesh that was imported");
  }

  GltfPaint Take() {
    if (!painted_) {
      out_.colours.clear();
      out_.uvs.clear();
      out_.images.clear();
    }
    return std::move(out_);
  }

 private:
  absl::Status AddPrimitive(const tinygltf::Primitive& primitive, const std::string& where) {
    const auto position = primitive.attributes.find("POSITION");
    if (position == primitive.attributes.end()) return InvalidArgument(where, ": no POSITION");
    SINEW_ASSIGN_OR_RETURN(const auto* accessor,
                           Find(model_.accessors, position->second, where, "accessor"));
    static const tinygltf::Material plain;
    const bool has_material =
        primitive.material >= 0 &&
        static_cast<std::size_t>(primitive.material) < model_.materials.size();
    const tinygltf::PbrMetallicRoughness& look =
        (has_material ? model_.materials[static_cast<std::size_t>(primitive.material)] : plain)
            .pbrMetallicRoughness;
    std::array<double, 3> factor = kWhite;
    if (look.baseColorFactor.size() >= 3) {
      std::copy_n(look.baseColorFactor.begin(), 3, factor.begin());
    }
    const std::size_t count = accessor->count;
    const Elements colours = Read(primitive, "COLOR_0", count);
    const int image = ImageOf(look.baseColorTexture.index);
    const Placement place = PlacementOf(look.baseColorTexture);
    const Elements uvs =
        image < 0 ? Elements{} : Read(primitive, absl::StrCat("TEXCOORD_", place.set), count);
    painted_ |= factor != kWhite || colours.width >= 3 || uvs.width == 2;
    for (std::size_t v = 0; v < count; ++v) {
      for (std::size_t c = 0; c < 3; ++c) {
        const double own = colours.width >= 3 ? colours.values[v * colours.width + c] : 1;
        out_.colours.push_back(ToSrgbByte(factor[c] * own));
      }
      out_.colours.push_back(255);
      const bool has_uv = uvs.width == 2;
      for (const auto& [u_part, v_part, offset] : place.rows) {
        out_.uvs.push_back(has_uv ? static_cast<float>(u_part * uvs.values[v * 2] +
                                                       v_part * uvs.values[v * 2 + 1] + offset)
                                  : 0);
      }
      out_.uvs.push_back(has_uv ? static_cast<float>(image) : -1);
    }
    return absl::OkStatus();
  }

  // An attribute; none if it is missing or faulty: a picture can do without.
  Elements Read(const tinygltf::Primitive& primitive, const std::string& name,
                std::size_t count) const {
    const auto found = primitive.attributes.find(name);
    if (found == primitive.attributes.end()) return {};
    absl::StatusOr<Elements> read = ReadElements(model_, found->second, name);
    return read.ok() && read->count == count ? *std::move(read) : Elements{};
  }

  // The index of a texture's image in the paint; -1 = it has none that can be read.
  int ImageOf(int texture) {
    if (texture < 0 || static_cast<std::size_t>(texture) >= model_.textures.size()) return -1;
    const int source = model_.textures[static_cast<std::size_t>(texture)].source;
    const auto [known, is_new] = places_.emplace(source, -1);
    const bool is_listed = source >= 0 && static_cast<std::size_t>(source) < images_.size();
    if (is_new && is_listed) known->second = AddImage(images_[static_cast<std::size_t>(source)]);
    out_.lacks_images |= known->second < 0;
    return known->second;
  }

  int AddImage(const tinygltf::Image& image) {
    if (out_.images.size() == kMostImages) return -1;
    const absl::StatusOr<std::string> bytes = BytesOf(image);
    if (!bytes.ok() || bytes->size() > kMostImageBytes - bytes_ || TypeOf(*bytes).empty()) {
      return -1;
    }
    bytes_ += bytes->size();
    out_.images.push_back({TypeOf(*bytes), *bytes});
    return static_cast<int>(out_.images.size()) - 1;
  }

  absl::StatusOr<std::string> BytesOf(const tinygltf::Image& image) const {
    if (image.bufferView < 0) {
      SINEW_ASSIGN_OR_RETURN(const std::vector<unsigned char> bytes,
                             LoadGltfUri(image.uri, folder_, kMostImageBytes - bytes_));
      return std::string(bytes.begin(), bytes.end());
    }
    SINEW_ASSIGN_OR_RETURN(const auto* view,
                           Find(model_.bufferViews, image.bufferView, "image", "buffer view"));
    SINEW_ASSIGN_OR_RETURN(const auto* buffer,
                           Find(model_.buffers, view->buffer, "image", "buffer"));
    const std::vector<unsigned char>& data = buffer->data;
    if (view->byteOffset > data.size() || view->byteLength > data.size() - view->byteOffset) {
      return InvalidArgument("image: beyond its buffer");
    }
    const auto first = data.begin() + static_cast<std::ptrdiff_t>(view->byteOffset);
    return std::string(first, first + static_cast<std::ptrdiff_t>(view->byteLength));
  }

  const tinygltf::Model& model_;
  const std::vector<tinygltf::Image>& images_;
  const std::string folder_;   // of the file
  std::map<int, int> places_;  // of the file's images in out_
  std::size_t bytes_ = 0;      // of all images
  bool painted_ = false;
  GltfPaint out_;
};

}  // namespace

absl::StatusOr<GltfPaint> ReadGltfPaint(const std::string& path, const RigData& rig) {
  std::ifstream in(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  std::vector<Problem> problems;
  std::vector<tinygltf::Image> images;
  SINEW_ASSIGN_OR_RETURN(const tinygltf::Model model,
                         LoadGltfDocument(bytes, path, kMostBytes, problems, &images));
  Painter painter(model, images, path);
  for (const Mesh& mesh : rig.meshes) SINEW_RETURN_IF_ERROR(painter.Add(mesh));
  return painter.Take();
}

}  // namespace sinew::client
