#include <absl/strings/str_cat.h>
#include <png.h>

#include "client/render/image.h"

namespace sinew::client {
Image::Image(std::uint32_t width_in, std::uint32_t height_in, Rgb fill)
    : width(width_in), height(height_in), rgb(std::size_t{width_in} * height_in * 3) {
  for (std::size_t k = 0; k < rgb.size(); ++k) rgb[k] = fill[k % 3];
}

Rgb Image::At(std::uint32_t x, std::uint32_t y) const {
  const std::size_t k = (std::size_t{y} * width + x) * 3;
  return {rgb[k], rgb[k + 1], rgb[k + 2]};
}

void Image::Set(std::uint32_t x, std::uint32_t y, Rgb colour) {
  const std::size_t k = (std::size_t{y} * width + x) * 3;
  for (std::size_t c = 0; c < 3; ++c) rgb[k + c] = colour[c];
}

absl::StatusOr<std::string> EncodePng(const Image& image) {
  if (image.width < 1 || image.width > kMaxImageSide || image.height < 1 ||
      image.height > kMaxImageSide) {
    return absl::InvalidArgumentError(
        absl::StrCat("image: ", image.width, " x ", image.height, ", need 1 to ", kMaxImageSide));
  }
  const std::size_t size = std::size_t{image.width} * image.height * 3;
  if (image.rgb.size() != size) {
    return absl::InvalidArgumentError(
        absl::StrCat("image.rgb: ", image.rgb.size(), " bytes, need ", size));
  }
  // libpng's simplified interface reports errors by return value, without longjmp, and frees what
  // it allocated for writing.
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  png.width = image.width;
  png.height = image.height;
  png.format = PNG_FORMAT_RGB;
  png_alloc_size_t bytes = PNG_IMAGE_PNG_SIZE_MAX(png);
  std::string out(bytes, '\0');
  if (png_image_write_to_memory(&png, out.data(), &bytes, 0, image.rgb.data(), 0, nullptr) == 0) {
    return absl::InternalError(absl::StrCat("png: ", png.message));
  }
  out.resize(bytes);
  return out;
}

}  // namespace sinew::client
