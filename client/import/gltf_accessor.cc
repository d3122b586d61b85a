#include "client/import/gltf_accessor.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/base/status.h"

namespace sinew::client {
namespace {

// An accessor without a buffer view costs the file nothing, so its count must be bounded here.
constexpr std::size_t kMaxZeros = std::size_t{1} << 22;

// 0 for component types glTF does not have.
std::size_t ComponentBytes(int component) {
  switch (component) {
    case TINYGLTF_COMPONENT_TYPE_BYTE:
    case TINYGLTF_COMPONENT_TYPE_UNSIGNED_BYTE:
      return 1;
    case TINYGLTF_COMPONENT_TYPE_SHORT:
    case TINYGLTF_COMPONENT_TYPE_UNSIGNED_SHORT:
      return 2;
    case TINYGLTF_COMPONENT_TYPE_UNSIGNED_INT:
    case TINYGLTF_COMPONENT_TYPE_FLOAT:
      return 4;
    default:
      return 0;
  }
}

template <class T>
double Load(const unsigned char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return static_cast<double>(value);
}

template <class T>
double LoadNormalised(const unsigned char* at) {
  return std::max(Load<T>(at) / static_cast<double>(std::numeric_limits<T>::max()), -1.0);
}

double LoadComponent(const unsigned char* at, int component, bool normalised) {
  switch (component) {
    case TINYGLTF_COMPONENT_TYPE_BYTE:
      return normalised ? LoadNormalised<std::int8_t>(at) : Load<std::int8_t>(at);
    case TINYGLTF_COMPONENT_TYPE_UNSIGNED_BYTE:
      return normalised ? LoadNormalised<std::uint8_t>(at) : Load<std::uint8_t>(at);
    case TINYGLTF_COMPONENT_TYPE_SHORT:
      return normalised ? LoadNormalised<std::int16_t>(at) : Load<std::int16_t>(at);
    case TINYGLTF_COMPONENT_TYPE_UNSIGNED_SHORT:
      return normalised ? LoadNormalised<std::uint16_t>(at) : Load<std::uint16_t>(at);
    case TINYGLTF_COMPONENT_TYPE_UNSIGNED_INT:
      return normalised ? LoadNormalised<std::uint32_t>(at) : Load<std::uint32_t>(at);
    default:
      return Load<float>(at);
  }
}

// A strided range of bytes that has been checked to lie inside its buffer.
struct Range {
  const unsigned char* first = nullptr;
  std::size_t stride = 0;
};

absl::StatusOr<Range> FindRange(const tinygltf::Model& model, int view_index, std::size_t offset,
                                std::size_t count, std::size_t element_bytes, bool may_stride,
                                const std::string& what) {
  if (view_index < 0 || static_cast<std::size_t>(view_index) >= model.bufferViews.size()) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": bufferView ", view_index,
                                                   ", the file has ", model.bufferViews.size()));
  }
  const tinygltf::BufferView& view = model.bufferViews[static_cast<std::size_t>(view_index)];
  if (view.extensions.count("EXT_meshopt_compression") > 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        what,
        ": compressed with EXT_meshopt_compression, which is not supported; export without it"));
  }
  if (view.buffer < 0 || static_cast<std::size_t>(view.buffer) >= model.buffers.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, ": buffer ", view.buffer, ", the file has ", model.buffers.size()));
  }
  const std::vector<unsigned char>& data =
      model.buffers[static_cast<std::size_t>(view.buffer)].data;
  if (view.byteOffset > data.size() || view.byteLength > data.size() - view.byteOffset) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": bufferView ", view_index, " spans ",
                                                   view.byteLength, " bytes from ", view.byteOffset,
                                                   ", the buffer has ", data.size()));
  }
  const std::size_t stride = may_stride && view.byteStride > 0 ? view.byteStride : element_bytes;
  if (stride < element_bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, ": byteStride ", stride, ", an element has ", element_bytes, " bytes"));
  }
  const bool fits =
      count == 0 || (offset <= view.byteLength && element_bytes <= view.byteLength - offset &&
                     count - 1 <= (view.byteLength - offset - element_bytes) / stride);
  if (!fits) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, ": ", count, " elements of ", element_bytes, " bytes from ", offset,
                     " do not fit bufferView ", view_index, " of ", view.byteLength, " bytes"));
  }
  return Range{count == 0 ? nullptr : data.data() + view.byteOffset + offset, stride};
}

void CopyElement(const unsigned char* from, int component, const Elements& e, double* to) {
  const std::size_t bytes = ComponentBytes(component);
  for (std::size_t c = 0; c < e.width; ++c)
    to[c] = LoadComponent(from + c * bytes, component, e.normalised);
}

absl::Status ApplySparse(const tinygltf::Model& model, const tinygltf::Accessor& accessor,
                         const std::string& what, Elements& e) {
  const auto& sparse = accessor.sparse;
  if (sparse.count < 0 || static_cast<std::size_t>(sparse.count) > e.count ||
      sparse.indices.byteOffset < 0 || sparse.values.byteOffset < 0) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": sparse count ", sparse.count,
                                                   ", the accessor has ", e.count, " elements"));
  }
  const int component = sparse.indices.componentType;
  if (component != TINYGLTF_COMPONENT_TYPE_UNSIGNED_BYTE &&
      component != TINYGLTF_COMPONENT_TYPE_UNSIGNED_SHORT &&
      component != TINYGLTF_COMPONENT_TYPE_UNSIGNED_INT) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, ": sparse indices of component type ", component));
  }
  const auto count = static_cast<std::size_t>(sparse.count);
  SINEW_ASSIGN_OR_RETURN(const Range indices,
                         FindRange(model, sparse.indices.bufferView,
                                   static_cast<std::size_t>(sparse.indices.byteOffset), count,
                                   ComponentBytes(component), false, what + " sparse indices"));
  SINEW_ASSIGN_OR_RETURN(
      const Range values,
      FindRange(model, sparse.values.bufferView, static_cast<std::size_t>(sparse.values.byteOffset),
                count, e.width * ComponentBytes(accessor.componentType), false,
                what + " sparse values"));
  for (std::size_t i = 0; i < count; ++i) {
    const double index = LoadComponent(indices.first + i * indices.stride, component, false);
    if (index >= static_cast<double>(e.count)) {
      return absl::InvalidArgumentError(absl::StrCat(what, ": sparse index ", index,
                                                     ", the accessor has ", e.count, " elements"));
    }
    CopyElement(values.first + i * values.stride, accessor.componentType, e,
                &e.values[static_cast<std::size_t>(index) * e.width]);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Elements> ReadElements(const tinygltf::Model& model, int accessor_index,
                                      const std::string& what) {
  if (accessor_index < 0 || static_cast<std::size_t>(accessor_index) >= model.accessors.size()) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": accessor ", accessor_index,
                                                   ", the file has ", model.accessors.size()));
  }
  const tinygltf::Accessor& accessor = model.accessors[static_cast<std::size_t>(accessor_index)];
  const std::string where = absl::StrCat(what, ": accessors[", accessor_index, "]");
  const std::size_t bytes = ComponentBytes(accessor.componentType);
  const int width = tinygltf::GetNumComponentsInType(static_cast<std::uint32_t>(accessor.type));
  if (bytes == 0 || width < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(where, ": component type ", accessor.componentType));
  }
  Elements e;
  e.count = accessor.count;
  e.width = static_cast<std::size_t>(width);
  e.is_float = accessor.componentType == TINYGLTF_COMPONENT_TYPE_FLOAT;
  e.normalised = accessor.normalized && !e.is_float;
  // Columns of integer matrices are padded; no attribute we read is one.
  if (e.width == 9 || (e.width == 4 && accessor.type == TINYGLTF_TYPE_MAT2) ||
      (e.width == 16 && !e.is_float)) {
    return absl::InvalidArgumentError(absl::StrCat(where, ": matrices must be 4x4 and float32"));
  }
  if (accessor.bufferView < 0) {
    if (e.count > kMaxZeros) {
      return absl::InvalidArgumentError(absl::StrCat(where, ": no bufferView but ", e.count,
                                                     " elements, need at most ", kMaxZeros));
    }
    e.values.assign(e.count * e.width, 0.0);
  } else {
    SINEW_ASSIGN_OR_RETURN(const Range range,
                           FindRange(model, accessor.bufferView, accessor.byteOffset, e.count,
                                     e.width * bytes, true, where));
    e.values.resize(e.count * e.width);
    for (std::size_t i = 0; i < e.count; ++i) {
      CopyElement(range.first + i * range.stride, accessor.componentType, e,
                  &e.values[i * e.width]);
    }
  }
  if (accessor.sparse.isSparse) SINEW_RETURN_IF_ERROR(ApplySparse(model, accessor, where, e));
  for (std::size_t i = 0; e.is_float && i < e.values.size(); ++i) {
    if (!std::isfinite(e.values[i])) {
      return absl::InvalidArgumentError(absl::StrCat(where, ": element ", i / e.width, " is ",
                                                     e.values[i], ", need finite numbers"));
    }
  }
  return e;
}

absl::StatusOr<std::vector<std::uint32_t>> ReadIndices(const tinygltf::Model& model, int accessor,
                                                       std::size_t limit, const std::string& what) {
  SINEW_ASSIGN_OR_RETURN(const Elements e, ReadElements(model, accessor, what));
  if (e.width != 1 || e.is_float || e.normalised) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, ": need scalars of an unsigned integer type"));
  }
  std::vector<std::uint32_t> out(e.count);
  for (std::size_t i = 0; i < e.count; ++i) {
    if (e.values[i] < 0 || e.values[i] >= static_cast<double>(limit)) {
      return absl::InvalidArgumentError(
          absl::StrCat(what, ": index ", i, " is ", e.values[i], ", need 0 to below ", limit));
    }
    out[i] = static_cast<std::uint32_t>(e.values[i]);
  }
  return out;
}

}  // namespace sinew::client
