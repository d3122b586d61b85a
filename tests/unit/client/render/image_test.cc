#include "client/render/image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <png.h>

namespace sinew::client {
namespace {

Image Pattern() {
  Image image(5, 3, {10, 20, 30});
  image.Set(0, 0, {255, 0, 1});
  image.Set(4, 2, {0, 255, 128});
  return image;
}

// What libpng reads, without rows where it fails.
Image Read(const std::string& bytes) {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_memory(&png, bytes.data(), bytes.size()) == 0) return {};
  png.format = PNG_FORMAT_RGB;
  Image image(png.width, png.height, {0, 0, 0});
  return png_image_finish_read(&png, nullptr, image.rgb.data(), 0, nullptr) != 0 ? image : Image();
}

TEST(Png, RoundTripsEveryPixel) {
  const auto png = EncodePng(Pattern());
  ASSERT_TRUE(png.ok()) << png.status();
  EXPECT_EQ(png->substr(0, 8), "\x89PNG\r\n\x1a\n");
  const Image image = Read(*png);
  ASSERT_EQ(image.width, 5u);
  ASSERT_EQ(image.height, 3u);
  EXPECT_EQ(image.rgb, Pattern().rgb);
  EXPECT_EQ(image.At(4, 2), (Rgb{0, 255, 128}));
}

TEST(Png, SamePictureGivesSameBytes) {
  EXPECT_EQ(*EncodePng(Pattern()), *EncodePng(Pattern()));
}

TEST(Png, RejectsMismatchedImages) {
  Image ragged = Pattern(), wide = Pattern(), flat;
  ragged.rgb.pop_back();
  wide.width = kMaxImageSide + 1;
  for (const Image& image : {ragged, wide, flat}) {
    EXPECT_EQ(EncodePng(image).status().code(), absl::StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace sinew::client
