// array.h - sinew.v1.Array to vectors: type, shape and size are checked before a byte is read.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/types.h"
#include "sinew/v1/rig.pb.h"

namespace sinew::server {

// All rows of a float32 array. rows: what is needed, or any. kInvalidArgument names `path`, what it
// got and needs.
absl::StatusOr<std::vector<float>> ReadFloats(const v1::Array& array, const std::string& path,
                                              std::uint32_t columns,
                                              std::optional<std::uint64_t> rows);

// All rows of a float32 array of twelve columns.
absl::StatusOr<std::vector<AffineD>> ReadAffines(const v1::Array& array, const std::string& path,
                                                 std::uint64_t rows);

// All rows of a float32 array of three columns.
absl::StatusOr<std::vector<Vec3f>> ReadPoints(const v1::Array& array, const std::string& path,
                                              std::optional<std::uint64_t> rows);

// All rows of a one-column array of uint8, uint16 or uint32, widened. smallest: the narrowest type
// allowed.
absl::StatusOr<std::vector<std::uint32_t>> ReadIntegers(const v1::Array& array,
                                                        const std::string& path,
                                                        v1::ArrayType smallest,
                                                        std::optional<std::uint64_t> rows);

}  // namespace sinew::server
