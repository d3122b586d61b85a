#include "client/import/gltf_accessor.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "client/import/gltf_document.h"
#include "core/base/counted_text.h"
#include "core/base/status.h"

namespace sinew::client {
namespace {

// An accessor without a buffer view costs the file nothing, so its count must be bounded here.
constexpr std::size_t kMaxZeros = std::size_t{1} << 22;

template <class T>
double Load(const unsigned char* at, bool normalised) {
  T value;
  std::memcpy(&value, at, sizeof value);
  const auto number = static_cast<double>(value);
  if (!normalised) return number;
  return std::max(number / static_cast<double>(std::numeric_limits<T>::max()), -1.0);
}

// The component types glTF allows; tinygltf accepts more.
struct Component {
  int type;
  std::size_t bytes;
  double (*load)(const unsigned char* at, bool normalised);
};
constexpr Component kComponents[] = {
    {TINYGLTF_COMPONENT_TYPE_BYTE, 1, Load<std::int8_t>},
    {TINYGLTF_COMPONENT_TYPE_UNSIGNED_BYTE, 1, Load<std::uint8_t>},
    {TINYGLTF_COMPONENT_TYPE_SHORT, 2, Load<std::int16_t>},
    {TINYGLTF_COMPONENT_TYPE_UNSIGNED_SHORT, 2, Load<std::uint16_t>},
    {TINYGLTF_COMPONENT_TYPE_UNSIGNED_INT, 4, Load<std::uint32_t>},
    {TINYGLTF_COMPONENT_TYPE_FLOAT, 4, Load<float>},
};

absl::StatusOr<Component> FindComponent(int type, const std::string& where) {
  const auto* found = std::ranges::find(kComponents, type, &Component::type);
  if (found != std::end(kComponents)) return *found;
  return InvalidArgument(where, ": component type ", type);
}

// Elements one after the other or strided, checked to lie inside their buffer.
struct Range {
  const unsigned char* first = nullptr;
  std::size_t stride = 0;
};

absl::StatusOr<Range> FindRange(const tinygltf::Model& model, int view_index, std::size_t offset,
                                std::size_t count, std::size_t element_bytes, bool may_stride,
                                const std::string& what) {
  SINEW_ASSIGN_OR_RETURN(const auto* view, Find(model.bufferViews, view_index, what, "bufferView"));
  SINEW_ASSIGN_OR_RETURN(const auto* buffer, Find(model.buffers, view->buffer, what, "buffer"));
  const std::vector<unsigned char>& data = buffer->data;
  if (view->byteOffset > data.size() || view->byteLength > data.size() - view->byteOffset) {
    return InvalidArgument(what, ": bufferView ", view_index, " spans ",
                           CountedText(view->byteLength, "byte"), " from ", view->byteOffset,
                           ", the buffer has ", data.size());
  }
  const std::size_t stride = may_stride && view->byteStride > 0 ? view->byteStride : element_bytes;
  if (stride < element_bytes) {
    return InvalidArgument(what, ": byteStride ", stride, ", an element has ",
                           CountedText(element_bytes, "byte"));
  }
  if (count == 0) return Range();
  if (offset > view->byteLength || element_bytes > view->byteLength - offset ||
      count - 1 > (view->byteLength - offset - element_bytes) / stride) {
    return InvalidArgument(what, ": ", CountedText(count, "element"), " of ",
                           CountedText(element_bytes, "byte"), " from ", offset,
                           ", more than bufferView ", view_index, " holds, which has ",
                           CountedText(view->byteLength, "byte"));
  }
  return Range{data.data() + view->byteOffset + offset, stride};
}

void CopyElement(const unsigned char* from, const Component& component, bool normalised,
                 std::span<double> to) {
  for (double& value : to) {
    value = component.load(from, normalised);
    from += component.bytes;
  }
}

absl::Status ApplySparse(const tinygltf::Model& model, const tinygltf::Accessor& accessor,
                         const Component& component, const std::string& what, Elements& e) {
  const auto& sparse = accessor.sparse;
  if (sparse.count < 0 || static_cast<std::size_t>(sparse.count) > e.count ||
      sparse.indices.byteOffset < 0 || sparse.values.byteOffset < 0) {
    return InvalidArgument(what, ": sparse count ", sparse.count, ", the accessor has ",
                           CountedText(e.count, "element"));
  }
  SINEW_ASSIGN_OR_RETURN(const Component index_type,
                         FindComponent(sparse.indices.componentType, what + " sparse indices"));
  if (index_type.type != TINYGLTF_COMPONENT_TYPE_UNSIGNED_BYTE &&
      index_type.type != TINYGLTF_COMPONENT_TYPE_UNSIGNED_SHORT &&
      index_type.type != TINYGLTF_COMPONENT_TYPE_UNSIGNED_INT) {
    return InvalidArgument(what, ": sparse indices of component type ", index_type.type,
                           ", need an unsigned integer type");
  }
  const auto count = static_cast<std::size_t>(sparse.count);
  SINEW_ASSIGN_OR_RETURN(const Range indices,
                         FindRange(model, sparse.indices.bufferView,
                                   static_cast<std::size_t>(sparse.indices.byteOffset), count,
                                   index_type.bytes, false, what + " sparse indices"));
  SINEW_ASSIGN_OR_RETURN(
      const Range values,
      FindRange(model, sparse.values.bufferView, static_cast<std::size_t>(sparse.values.byteOffset),
                count, e.width * component.bytes, false, what + " sparse values"));
  for (std::size_t i = 0; i < count; ++i) {
    const double index = index_type.load(indices.first + i * indices.stride, false);
    if (!(index >= 0 && index < static_cast<double>(e.count))) {
      return InvalidArgument(what, ": sparse index ", index, ", the accessor has ",
                             CountedText(e.count, "element"));
    }
    CopyElement(values.first + i * values.stride, component, e.normalised,
                std::span(e.values).subspan(static_cast<std::size_t>(index) * e.width, e.width));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Elements> ReadElements(const tinygltf::Model& model, int index,
                                      const std::string& what, bool need_finite) {
  SINEW_ASSIGN_OR_RETURN(const auto* accessor, Find(model.accessors, index, what, "accessor"));
  const std::string where = absl::StrCat(what, ": accessors[", index, "]");
  SINEW_ASSIGN_OR_RETURN(const Component component, FindComponent(accessor->componentType, where));
  const int width = tinygltf::GetNumComponentsInType(static_cast<std::uint32_t>(accessor->type));
  if (width < 1) return InvalidArgument(where, ": type ", accessor->type);
  Elements e;
  e.count = accessor->count;
  e.width = static_cast<std::size_t>(width);
  e.is_float = component.type == TINYGLTF_COMPONENT_TYPE_FLOAT;
  e.normalised = accessor->normalized && !e.is_float;
  // Columns of integer matrices are padded; no attribute we read is one.
  if (e.width == 9 || (e.width == 4 && accessor->type == TINYGLTF_TYPE_MAT2) ||
      (e.width == 16 && !e.is_float)) {
    return InvalidArgument(where, ": matrices must be 4x4 and float32");
  }
  Range range;
  if (accessor->bufferView >= 0) {
    SINEW_ASSIGN_OR_RETURN(range, FindRange(model, accessor->bufferView, accessor->byteOffset,
                                            e.count, e.width * component.bytes, true, where));
  } else if (e.count > kMaxZeros) {
    return InvalidArgument(where, ": no bufferView but ", e.count, " elements, need at most ",
                           kMaxZeros);
  }
  e.values.resize(e.count * e.width);
  for (std::size_t i = 0; i < e.count && range.first != nullptr; ++i) {
    CopyElement(range.first + i * range.stride, component, e.normalised,
                std::span(e.values).subspan(i * e.width, e.width));
  }
  if (accessor->sparse.isSparse) {
    SINEW_RETURN_IF_ERROR(ApplySparse(model, *accessor, component, where, e));
  }
  for (std::size_t i = 0; need_finite && e.is_float && i < e.values.size(); ++i) {
    if (!std::isfinite(e.values[i])) {
      return InvalidArgument(where, ": element ", i / e.width, " is ", e.values[i],
                             ", need finite numbers");
    }
  }
  return e;
}

absl::StatusOr<std::vector<std::uint32_t>> ReadIndices(const tinygltf::Model& model, int accessor,
                                                       std::size_t limit, const std::string& what) {
  SINEW_ASSIGN_OR_RETURN(const Elements e, ReadElements(model, accessor, what));
  if (e.width != 1 || e.is_float || e.normalised) {
    return InvalidArgument(what, ": need scalars of an unsigned integer type");
  }
  std::vector<std::uint32_t> out(e.count);
  for (std::size_t i = 0; i < e.count; ++i) {
    if (e.values[i] < 0 || e.values[i] >= static_cast<double>(limit)) {
      return InvalidArgument(what, ": index ", i, " is ", e.values[i], ", need less than ", limit);
    }
    out[i] = static_cast<std::uint32_t>(e.values[i]);
  }
  return out;
}

}  // namespace sinew::client
