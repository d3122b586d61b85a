#include "client/import/gltf_meshopt.h"

#include <absl/status/statusor.h>
#include <absl/strings/str_cat.h>
#include <meshoptimizer.h>

#include <string>
#include <utility>
#include <vector>

#include "client/import/gltf_document.h"
#include "core/base/status.h"

namespace sinew::client {
namespace {

constexpr char kMeshopt[] = "EXT_meshopt_compression";

// The densest stream is of equal attributes: a byte of it says so for 64 bytes.
constexpr std::size_t kLargestRatio = 64;

struct Compressed {
  const unsigned char* data = nullptr;
  std::size_t size = 0;
  std::size_t stride = 0, count = 0;  // of the elements
  std::string mode, filter;
};

std::string Word(const tinygltf::Value& object, const char* key, const char* absent) {
  return object.Has(key) && object.Get(key).IsString() ? object.Get(key).Get<std::string>()
                                                       : absent;
}

absl::StatusOr<Compressed> ReadCompressed(const tinygltf::Model& model, const tinygltf::Value& json,
                                          const std::string& where) {
  Compressed out;
  SINEW_ASSIGN_OR_RETURN(const std::size_t buffer_index, ReadNumber(json, "buffer", {}, where));
  SINEW_ASSIGN_OR_RETURN(const std::size_t offset, ReadNumber(json, "byteOffset", 0, where));
  SINEW_ASSIGN_OR_RETURN(out.size, ReadNumber(json, "byteLength", {}, where));
  SINEW_ASSIGN_OR_RETURN(out.stride, ReadNumber(json, "byteStride", {}, where));
  SINEW_ASSIGN_OR_RETURN(out.count, ReadNumber(json, "count", {}, where));
  out.mode = Word(json, "mode", "");
  out.filter = Word(json, "filter", "NONE");
  SINEW_ASSIGN_OR_RETURN(const auto* buffer, Find(model.buffers, static_cast<int>(buffer_index),
                                                  where + " buffer", "buffer"));
  if (offset > buffer->data.size() || out.size > buffer->data.size() - offset) {
    return InvalidArgument(where, ": spans ", out.size, " bytes from ", offset, ", the buffer has ",
                           buffer->data.size());
  }
  out.data = buffer->data.data() + offset;
  return out;
}

// What the decoders take for granted.
absl::Status Check(const Compressed& c, const std::string& where) {
  const bool attributes = c.mode == "ATTRIBUTES";
  if (!attributes && c.mode != "TRIANGLES" && c.mode != "INDICES") {
    return InvalidArgument(where, ": mode \"", c.mode.substr(0, 40),
                           "\", need ATTRIBUTES, TRIANGLES or INDICES");
  }
  const bool fits = attributes ? c.stride >= 4 && c.stride <= 256 && c.stride % 4 == 0
                               : c.stride == 2 || c.stride == 4;
  if (!fits) {
    return InvalidArgument(where, ": byteStride ", c.stride, ", ", c.mode, " need ",
                           attributes ? "a multiple of 4 up to 256" : "2 or 4");
  }
  if (c.mode == "TRIANGLES" && c.count % 3 != 0) {
    return InvalidArgument(where, ": count ", c.count, ", TRIANGLES need a multiple of 3");
  }
  if (c.count > kLargestRatio * c.size / c.stride) {
    return InvalidArgument(where, ": count ", c.count, ", more than ", c.size, " bytes can hold");
  }
  const bool filter_fits = c.filter == "OCTAHEDRAL"   ? c.stride == 4 || c.stride == 8
                           : c.filter == "QUATERNION" ? c.stride == 8
                                                      : true;
  const bool known =
      c.filter == "NONE" || (attributes && (c.filter == "OCTAHEDRAL" || c.filter == "QUATERNION" ||
                                            c.filter == "EXPONENTIAL"));
  if (known && filter_fits) return absl::OkStatus();
  return InvalidArgument(where, ": filter \"", c.filter.substr(0, 40), "\" of ", c.mode,
                         " with byteStride ", c.stride,
                         ", need NONE, or for ATTRIBUTES OCTAHEDRAL (4 or 8), QUATERNION (8) or "
                         "EXPONENTIAL");
}

absl::StatusOr<std::vector<unsigned char>> Decode(const Compressed& c, const std::string& where) {
  std::vector<unsigned char> out(c.count * c.stride);
  if (out.empty()) return out;
  using DecodeFunction =
      int (*)(void*, std::size_t, std::size_t, const unsigned char*, std::size_t);
  const DecodeFunction decode = c.mode == "ATTRIBUTES" ? meshopt_decodeVertexBuffer
                                : c.mode == "TRIANGLES"
                                    ? DecodeFunction{meshopt_decodeIndexBuffer}
                                    : DecodeFunction{meshopt_decodeIndexSequence};
  if (const int code = decode(out.data(), c.count, c.stride, c.data, c.size); code != 0) {
    return InvalidArgument(where, ": cannot be decoded, damaged or of a newer version (code ", code,
                           ")");
  }
  if (c.filter == "OCTAHEDRAL") meshopt_decodeFilterOct(out.data(), c.count, c.stride);
  if (c.filter == "QUATERNION") meshopt_decodeFilterQuat(out.data(), c.count, c.stride);
  if (c.filter == "EXPONENTIAL") meshopt_decodeFilterExp(out.data(), c.count, c.stride);
  return out;
}

}  // namespace

absl::Status DecodeMeshopt(std::uint64_t max_bytes, tinygltf::Model& model) {
  std::uint64_t total = 0;
  for (std::size_t v = 0; v < model.bufferViews.size(); ++v) {
    tinygltf::BufferView& view = model.bufferViews[v];
    const auto found = view.extensions.find(kMeshopt);
    if (found == view.extensions.end()) continue;
    const std::string where = absl::StrCat(GltfPath("bufferViews", v, view.name), " ", kMeshopt);
    SINEW_ASSIGN_OR_RETURN(const Compressed compressed,
                           ReadCompressed(model, found->second, where));
    SINEW_RETURN_IF_ERROR(Check(compressed, where));
    total += compressed.count * compressed.stride;
    if (total > max_bytes) {
      return InvalidArgument(where, ": decodes to ", total, " bytes with those before it, need ",
                             "at most ", max_bytes);
    }
    tinygltf::Buffer decoded;
    SINEW_ASSIGN_OR_RETURN(decoded.data, Decode(compressed, where));
    view.buffer = static_cast<int>(model.buffers.size());
    view.byteOffset = 0;
    view.byteLength = decoded.data.size();
    model.buffers.push_back(std::move(decoded));
  }
  return absl::OkStatus();
}

}  // namespace sinew::client
