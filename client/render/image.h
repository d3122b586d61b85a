// image.h - an 8-bit picture and its PNG form.
#pragma once

#include <absl/status/statusor.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sinew::client {

using Rgb = std::array<std::uint8_t, 3>;  // sRGB

inline constexpr std::uint32_t kMaxImageSide = 16384;

struct Image {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::vector<std::uint8_t> rgb;  // [height * width * 3] sRGB, rows from the top

  Image() = default;
  Image(std::uint32_t width_in, std::uint32_t height_in, Rgb fill);

  Rgb At(std::uint32_t x, std::uint32_t y) const;
  void Set(std::uint32_t x, std::uint32_t y, Rgb colour);
};

// The file as bytes: 8-bit RGB, sRGB chunk, no time stamp, so the same picture gives the same
// bytes. kInvalidArgument: a side is 0 or above kMaxImageSide, or `rgb` has another size.
// kInternal: libpng failed.
absl::StatusOr<std::string> EncodePng(const Image& image);

}  // namespace sinew::client
