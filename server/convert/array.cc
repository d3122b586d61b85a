#include "server/convert/array.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "client/lib/base/array_type.h"
#include "core/base/counted_text.h"
#include "core/base/status.h"
#include "server/base/status.h"

namespace sinew::server {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are read as they lie");

std::string NameOf(v1::ArrayType type) {
  return v1::ArrayType_IsValid(type) ? v1::ArrayType_Name(type)
                                     : absl::StrCat("type ", static_cast<int>(type));
}

// Shape, then that the bytes are all there.
absl::Status CheckShape(const v1::Array& array, const std::string& path, std::uint32_t columns,
                        std::optional<std::uint64_t> rows) {
  const std::string got = absl::StrCat("got ", CountedText(array.rows(), "row"), " of ",
                                       CountedText(array.columns(), "column"), ", need ");
  if (array.columns() != columns) {
    return InvalidField(
        path, absl::StrCat(got, rows ? absl::StrCat(*rows, " ") : "", "rows of ", columns));
  }
  if (rows && array.rows() != *rows) {
    return InvalidField(path, absl::StrCat(got, CountedText(*rows, "row"), " of ", columns));
  }
  const std::uint64_t row_bytes = std::uint64_t{columns} * BytesOf(array.type());
  const std::uint64_t bytes = array.data().size();
  if (array.rows() > bytes || array.rows() * row_bytes != bytes) {
    return InvalidField(path + ".data", absl::StrCat("got ", CountedText(bytes, "byte"), ", need ",
                                                     CountedText(array.rows(), "row"), " of ",
                                                     CountedText(row_bytes, "byte")));
  }
  return absl::OkStatus();
}

template <class T>
void Widen(const std::string& bytes, std::vector<std::uint32_t>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
    values[i] = value;
  }
}

template <class T>
std::vector<T> Copy(const std::string& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

absl::Status CheckFloats(const v1::Array& array, const std::string& path, std::uint32_t columns,
                         std::optional<std::uint64_t> rows) {
  if (array.type() != v1::ARRAY_TYPE_FLOAT32) {
    return InvalidField(path + ".type",
                        absl::StrCat("got ", NameOf(array.type()), ", need ARRAY_TYPE_FLOAT32"));
  }
  return CheckShape(array, path, columns, rows);
}

}  // namespace

absl::StatusOr<std::vector<float>> ReadFloats(const v1::Array& array, const std::string& path,
                                              std::uint32_t columns,
                                              std::optional<std::uint64_t> rows) {
  SINEW_RETURN_IF_ERROR(CheckFloats(array, path, columns, rows));
  return Copy<float>(array.data());
}

absl::StatusOr<std::vector<AffineD>> ReadAffines(const v1::Array& array, const std::string& path,
                                                 std::uint64_t rows) {
  SINEW_RETURN_IF_ERROR(CheckFloats(array, path, 12, rows));
  const auto values = Copy<std::array<float, 12>>(array.data());
  std::vector<AffineD> affines(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::copy(values[i].begin(), values[i].end(), affines[i].m.begin());
  }
  return affines;
}

absl::StatusOr<std::vector<Vec3f>> ReadPoints(const v1::Array& array, const std::string& path,
                                              std::optional<std::uint64_t> rows) {
  SINEW_RETURN_IF_ERROR(CheckFloats(array, path, 3, rows));
  return Copy<Vec3f>(array.data());
}

absl::StatusOr<std::vector<std::uint32_t>> ReadIntegers(const v1::Array& array,
                                                        const std::string& path,
                                                        v1::ArrayType smallest,
                                                        std::optional<std::uint64_t> rows) {
  const v1::ArrayType type = array.type();
  const bool integers = type == v1::ARRAY_TYPE_UINT8 || type == v1::ARRAY_TYPE_UINT16 ||
                        type == v1::ARRAY_TYPE_UINT32;
  if (!integers || BytesOf(type) < BytesOf(smallest)) {
    return InvalidField(
        path + ".type",
        absl::StrCat("got ", NameOf(type), ", need ", NameOf(smallest),
                     smallest == v1::ARRAY_TYPE_UINT32 ? "" : " or a wider unsigned integer"));
  }
  SINEW_RETURN_IF_ERROR(CheckShape(array, path, 1, rows));
  std::vector<std::uint32_t> values(array.rows());
  if (type == v1::ARRAY_TYPE_UINT8) Widen<std::uint8_t>(array.data(), values);
  if (type == v1::ARRAY_TYPE_UINT16) Widen<std::uint16_t>(array.data(), values);
  if (type == v1::ARRAY_TYPE_UINT32) Widen<std::uint32_t>(array.data(), values);
  return values;
}

}  // namespace sinew::server
