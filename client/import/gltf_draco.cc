#include "client/import/gltf_draco.h"

#include <absl/status/statusor.h>
#include <absl/strings/str_cat.h>
#include <draco/compression/config/decoder_options.h>
#include <draco/compression/mesh/mesh_edgebreaker_decoder.h>
#include <draco/compression/mesh/mesh_sequential_decoder.h>
#include <draco/compression/point_cloud/point_cloud_decoder.h>
#include <draco/core/varint_decoding.h>
#include <draco/metadata/metadata_decoder.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "client/import/gltf_document.h"
#include "core/base/counted_text.h"
#include "core/base/status.h"

namespace sinew::client {
namespace {

constexpr char kDraco[] = "KHR_draco_mesh_compression";

// A count costs no data, and the decoder allocates for it before it reads on. Beyond this many
// vertices or faces each must come with at least a bit of the data.
constexpr std::uint64_t kFree = std::uint64_t{1} << 22;
std::uint64_t MaxCount(std::size_t bytes) {
  return std::max(kFree, 8 * std::uint64_t{bytes});
}

// Nor does the width of an attribute. A vertex has about 150 bytes while it is decoded if all that
// glTF skins is there.
constexpr std::uint64_t kFreeBytes = std::uint64_t{256} << 20;
constexpr std::uint64_t kBytesPerVertex = 160;
std::uint64_t MaxAttributeBytes(std::size_t bytes) {
  return std::max(kFreeBytes, kBytesPerVertex * 8 * std::uint64_t{bytes});
}

absl::StatusOr<std::span<const char>> BytesOf(const tinygltf::Model& model, std::size_t index,
                                              const std::string& where) {
  SINEW_ASSIGN_OR_RETURN(const auto* view,
                         Find(model.bufferViews, static_cast<int>(index), where, "bufferView"));
  SINEW_ASSIGN_OR_RETURN(const auto* buffer, Find(model.buffers, view->buffer, where, "buffer"));
  const std::vector<unsigned char>& data = buffer->data;
  if (view->byteOffset > data.size() || view->byteLength > data.size() - view->byteOffset) {
    return InvalidArgument(where, ": bufferView ", index, " spans ", view->byteLength,
                           " bytes from ", view->byteOffset, ", the buffer has ", data.size());
  }
  return std::span(reinterpret_cast<const char*>(data.data()) + view->byteOffset, view->byteLength);
}

struct Counts {
  bool sequential = false;
  std::uint32_t faces = 0, points = 0;
  std::uint8_t seams = 0;  // attributes with seams of their own, by each of which faces are cut

  // Every such attribute has a table of the faces, which takes 20 to 30 bytes for each.
  std::uint64_t Largest() const {
    return std::max<std::uint64_t>(points, faces * (std::uint64_t{1} + seams));
  }
};

// What the beginning of the data promises. Source: Draco bitstream specification, 3 and 4.
absl::StatusOr<Counts> ReadCounts(std::span<const char> bytes, const std::string& where) {
  const absl::Status damaged = InvalidArgument(where, ": damaged, its beginning cannot be read");
  draco::DecoderBuffer buffer;
  buffer.Init(bytes.data(), bytes.size());
  draco::DracoHeader header;
  if (!draco::PointCloudDecoder::DecodeHeader(&buffer, &header).ok()) return damaged;
  if (header.version_major != 2 || header.version_minor != 2) {
    return InvalidArgument(where, ": bitstream ", int{header.version_major}, ".",
                           int{header.version_minor}, ", need 2.2");
  }
  if (header.encoder_type != draco::TRIANGULAR_MESH) {
    return InvalidArgument(where, ": holds no triangles, need a mesh");
  }
  buffer.set_bitstream_version(DRACO_BITSTREAM_VERSION(header.version_major, header.version_minor));
  if ((header.flags & METADATA_FLAG_MASK) != 0) {
    draco::GeometryMetadata metadata;
    if (!draco::MetadataDecoder().DecodeGeometryMetadata(&buffer, &metadata)) return damaged;
  }
  Counts counts;
  counts.sequential = header.encoder_method == draco::MESH_SEQUENTIAL_ENCODING;
  std::uint8_t traversal = 0;
  if (!counts.sequential && !buffer.Decode(&traversal)) return damaged;
  std::uint32_t* const first = counts.sequential ? &counts.faces : &counts.points;
  std::uint32_t* const second = counts.sequential ? &counts.points : &counts.faces;
  if (!draco::DecodeVarint(first, &buffer) || !draco::DecodeVarint(second, &buffer)) return damaged;
  if (!counts.sequential && !buffer.Decode(&counts.seams)) return damaged;
  return counts;
}

// Draco's decoder `Base`, which stops where the attributes need more than `max_bytes`. Their widths
// come behind the faces, and the decoder allocates for all vertices as soon as it has read them.
template <class Base>
class BoundedDecoder final : public Base {
 public:
  explicit BoundedDecoder(std::uint64_t max_bytes) : max_bytes_(max_bytes) {}

  std::uint64_t bytes() const { return bytes_; }

 protected:
  bool DecodeAllAttributes() override {
    for (std::int32_t a = 0; a < this->point_cloud()->num_attributes(); ++a) {
      const draco::PointAttribute& attribute = *this->point_cloud()->attribute(a);
      // Integers and what is quantised are decoded into int32 first.
      const std::int64_t width = attribute.byte_stride() + 4 * attribute.num_components();
      bytes_ += this->point_cloud()->num_points() * static_cast<std::uint64_t>(width);
    }
    return bytes_ <= max_bytes_ && Base::DecodeAllAttributes();
  }

 private:
  const std::uint64_t max_bytes_;
  std::uint64_t bytes_ = 0;
};

template <class Base>
absl::Status DecodeMesh(std::span<const char> bytes, std::uint64_t max_bytes,
                        const std::string& where, draco::Mesh& mesh) {
  draco::DecoderBuffer buffer;
  buffer.Init(bytes.data(), bytes.size());
  max_bytes = std::min(max_bytes, MaxAttributeBytes(bytes.size()));
  BoundedDecoder<Base> decoder(max_bytes);
  const draco::Status status = decoder.Decode(draco::DecoderOptions(), &buffer, &mesh);
  if (status.ok()) return absl::OkStatus();
  if (decoder.bytes() > max_bytes) {
    return InvalidArgument(where, ": promises attributes of ", decoder.bytes(),
                           " bytes, more than ", bytes.size(), " bytes can hold");
  }
  return InvalidArgument(where, ": cannot be decoded: ", status.error_msg_string());
}

template <class T>
bool Convert(const draco::PointAttribute& attribute, std::uint32_t points, std::size_t width,
             std::vector<unsigned char>& out) {
  out.resize(points * width * sizeof(T));
  std::vector<T> value(width);
  for (std::uint32_t p = 0; p < points; ++p) {
    const auto index = attribute.mapped_index(draco::PointIndex(p));
    if (!attribute.ConvertValue<T>(index, static_cast<std::int8_t>(width), value.data())) {
      return false;
    }
    std::memcpy(&out[p * width * sizeof(T)], value.data(), width * sizeof(T));
  }
  return true;
}

bool ConvertTo(int component_type, const draco::PointAttribute& attribute, std::uint32_t points,
               std::size_t width, std::vector<unsigned char>& out) {
  switch (component_type) {
    case TINYGLTF_COMPONENT_TYPE_BYTE:
      return Convert<std::int8_t>(attribute, points, width, out);
    case TINYGLTF_COMPONENT_TYPE_UNSIGNED_BYTE:
      return Convert<std::uint8_t>(attribute, points, width, out);
    case TINYGLTF_COMPONENT_TYPE_SHORT:
      return Convert<std::int16_t>(attribute, points, width, out);
    case TINYGLTF_COMPONENT_TYPE_UNSIGNED_SHORT:
      return Convert<std::uint16_t>(attribute, points, width, out);
    case TINYGLTF_COMPONENT_TYPE_UNSIGNED_INT:
      return Convert<std::uint32_t>(attribute, points, width, out);
    case TINYGLTF_COMPONENT_TYPE_FLOAT:
      return Convert<float>(attribute, points, width, out);
    default:
      return false;
  }
}

class Decoder {
 public:
  Decoder(std::uint64_t max_bytes, tinygltf::Model& model) : max_bytes_(max_bytes), model_(model) {}

  // Decodes the view unless the primitive before was of the same one.
  absl::Status Decode(std::size_t view, const std::string& where, tinygltf::Primitive& primitive) {
    if (view != view_) SINEW_RETURN_IF_ERROR(DecodeView(view, where));
    const draco::Mesh& mesh = *mesh_;
    const tinygltf::Value json = primitive.extensions.at(kDraco);
    if (!json.Has("attributes") || !json.Get("attributes").IsObject()) {
      return InvalidArgument(where, ": attributes: need an object");
    }
    const tinygltf::Value attributes = json.Get("attributes");
    for (const std::string& name : attributes.Keys()) {
      SINEW_ASSIGN_OR_RETURN(const std::size_t id, ReadNumber(attributes, name.c_str(), {}, where));
      SINEW_RETURN_IF_ERROR(
          AddAttribute(mesh, static_cast<std::uint32_t>(id), name, where, primitive));
    }
    return AddIndices(mesh, where, primitive);
  }

 private:
  absl::Status DecodeView(std::size_t view, const std::string& where) {
    view_.reset();
    mesh_ = std::make_unique<draco::Mesh>();
    SINEW_ASSIGN_OR_RETURN(const std::span<const char> bytes, BytesOf(model_, view, where));
    SINEW_ASSIGN_OR_RETURN(const Counts counts, ReadCounts(bytes, where));
    if (counts.Largest() > MaxCount(bytes.size())) {
      return InvalidArgument(
          where, ": promises ", counts.points, " vertices and ", counts.faces, " faces",
          counts.seams == 0
              ? std::string()
              : absl::StrCat(" with the seams of ", CountedText(counts.seams, "attribute")),
          ", more than ", bytes.size(), " bytes can hold");
    }
    // Positions and faces, before they are there: views can share their bytes.
    SINEW_RETURN_IF_ERROR(Spend(12 * (std::uint64_t{counts.points} + counts.faces), where));
    SINEW_RETURN_IF_ERROR(
        counts.sequential
            ? DecodeMesh<draco::MeshSequentialDecoder>(bytes, max_bytes_, where, *mesh_)
            : DecodeMesh<draco::MeshEdgebreakerDecoder>(bytes, max_bytes_, where, *mesh_));
    view_ = view;
    return absl::OkStatus();
  }

  absl::Status AddAttribute(const draco::Mesh& mesh, std::uint32_t id, const std::string& name,
                            const std::string& where, tinygltf::Primitive& primitive) {
    const auto index = primitive.attributes.find(name);
    if (index == primitive.attributes.end()) return absl::OkStatus();  // not an attribute of it
    SINEW_ASSIGN_OR_RETURN(const auto* source,
                           Find(model_.accessors, index->second, where + " " + name, "accessor"));
    tinygltf::Accessor accessor = *source;
    const draco::PointAttribute* attribute = mesh.GetAttributeByUniqueId(id);
    const int width = tinygltf::GetNumComponentsInType(static_cast<std::uint32_t>(accessor.type));
    if (attribute == nullptr || width < 1 || width > 4 || attribute->num_components() < width) {
      return InvalidArgument(where, ": attribute ", id, ", ", name,
                             attribute == nullptr
                                 ? std::string(", is not in the data")
                                 : absl::StrCat(" has ", int{attribute->num_components()},
                                                " components, the accessor ", width));
    }
    accessor.count = mesh.num_points();
    SINEW_RETURN_IF_ERROR(Spend(accessor.count * static_cast<std::size_t>(width) * 4, where));
    std::vector<unsigned char> data;
    if (!ConvertTo(accessor.componentType, *attribute, mesh.num_points(),
                   static_cast<std::size_t>(width), data)) {
      return InvalidArgument(where, ": ", name, " does not fit component type ",
                             accessor.componentType);
    }
    index->second = AddAccessor(std::move(data), std::move(accessor));
    return absl::OkStatus();
  }

  absl::Status AddIndices(const draco::Mesh& mesh, const std::string& where,
                          tinygltf::Primitive& primitive) {
    tinygltf::Accessor accessor;
    accessor.componentType = TINYGLTF_COMPONENT_TYPE_UNSIGNED_INT;
    accessor.type = TINYGLTF_TYPE_SCALAR;
    accessor.count = std::size_t{mesh.num_faces()} * 3;
    SINEW_RETURN_IF_ERROR(Spend(accessor.count * 4, where));
    std::vector<unsigned char> data(accessor.count * 4);
    for (std::uint32_t f = 0; f < mesh.num_faces(); ++f) {
      for (std::uint32_t corner = 0; corner < 3; ++corner) {
        const std::uint32_t point = mesh.face(draco::FaceIndex(f))[corner].value();
        std::memcpy(&data[(std::size_t{f} * 3 + corner) * 4], &point, 4);
      }
    }
    primitive.indices = AddAccessor(std::move(data), std::move(accessor));
    primitive.mode = TINYGLTF_MODE_TRIANGLES;
    return absl::OkStatus();
  }

  int AddAccessor(std::vector<unsigned char> data, tinygltf::Accessor accessor) {
    tinygltf::BufferView view;
    view.buffer = static_cast<int>(model_.buffers.size());
    view.byteLength = data.size();
    tinygltf::Buffer& buffer = model_.buffers.emplace_back();
    buffer.data = std::move(data);
    accessor.bufferView = static_cast<int>(model_.bufferViews.size());
    accessor.byteOffset = 0;
    accessor.sparse.isSparse = false;
    model_.bufferViews.push_back(std::move(view));
    model_.accessors.push_back(std::move(accessor));
    return static_cast<int>(model_.accessors.size()) - 1;
  }

  absl::Status Spend(std::uint64_t bytes, const std::string& where) {
    total_ += bytes;
    if (total_ <= max_bytes_) return absl::OkStatus();
    return InvalidArgument(where, ": decodes to ", total_, " bytes with those before it, need at ",
                           "most ", max_bytes_);
  }

  const std::uint64_t max_bytes_;
  tinygltf::Model& model_;
  std::optional<std::size_t> view_;  // that `mesh_` is decoded from
  std::unique_ptr<draco::Mesh> mesh_;
  std::uint64_t total_ = 0;
};

bool HasUncompressed(const tinygltf::Model& model, const tinygltf::Primitive& primitive) {
  const auto position = primitive.attributes.find("POSITION");
  if (position == primitive.attributes.end() || position->second < 0) return false;
  const auto accessor = static_cast<std::size_t>(position->second);
  return accessor < model.accessors.size() && model.accessors[accessor].bufferView >= 0;
}

}  // namespace

absl::Status DecodeDraco(std::uint64_t max_bytes, tinygltf::Model& model) {
  const bool required =
      std::ranges::find(model.extensionsRequired, kDraco) != model.extensionsRequired.end();
  struct Compressed {
    std::size_t view;
    tinygltf::Primitive* primitive;
    std::string where;
  };
  std::vector<Compressed> all;
  for (std::size_t m = 0; m < model.meshes.size(); ++m) {
    for (std::size_t p = 0; p < model.meshes[m].primitives.size(); ++p) {
      tinygltf::Primitive& primitive = model.meshes[m].primitives[p];
      if (primitive.extensions.count(kDraco) == 0) continue;
      if (!required && HasUncompressed(model, primitive)) continue;
      const std::string where = absl::StrCat(GltfPath("meshes", m, model.meshes[m].name),
                                             " primitives[", p, "] ", kDraco);
      SINEW_ASSIGN_OR_RETURN(const std::size_t view,
                             ReadNumber(primitive.extensions.at(kDraco), "bufferView", {}, where));
      all.push_back({view, &primitive, where});
    }
  }
  // Views that primitives share are decoded once, and one at a time.
  std::ranges::stable_sort(all, {}, &Compressed::view);
  Decoder decoder(max_bytes, model);
  for (const Compressed& each : all) {
    SINEW_RETURN_IF_ERROR(decoder.Decode(each.view, each.where, *each.primitive));
  }
  return absl::OkStatus();
}

}  // namespace sinew::client
