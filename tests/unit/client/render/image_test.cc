#include "client/render/image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sinew::client {
namespace {

Image Pattern() {
  Image image(5, 3, {10, 20, 30});
  image.Set(0, 0, {255, 0, 1});
  image.Set(4, 2, {0, 255, 128});
  return image;
}

std::span<const std::byte> Bytes(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

TEST(Png, RoundTripsEveryPixel) {
  const auto png = EncodePng(Pattern());
  ASSERT_TRUE(png.ok()) << png.status();
  EXPECT_EQ(png->substr(0, 8), "\x89PNG\r\n\x1a\n");
  const auto image = ReadPng(Bytes(*png));
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_EQ(image->width, 5u);
  EXPECT_EQ(image->height, 3u);
  EXPECT_EQ(image->rgb, Pattern().rgb);
  EXPECT_EQ(image->At(4, 2), (Rgb{0, 255, 128}));
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

TEST(Png, RefusesTruncatedAndForeignFiles) {
  const std::string png = *EncodePng(Pattern());
  // The last 12 bytes are the end marker, which libpng does not need.
  for (std::size_t size = 0; size < png.size() - 12; ++size) {
    EXPECT_EQ(ReadPng(Bytes(png.substr(0, size))).status().code(),
              absl::StatusCode::kInvalidArgument)
        << size;
  }
  EXPECT_FALSE(ReadPng(Bytes("GIF89a and more bytes")).ok());
  std::string damaged = png;
  damaged[png.size() / 2] = static_cast<char>(damaged[png.size() / 2] ^ 0x40);
  EXPECT_FALSE(ReadPng(Bytes(damaged)).ok());
}

}  // namespace
}  // namespace sinew::client
