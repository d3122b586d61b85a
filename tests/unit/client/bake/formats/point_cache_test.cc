#include "client/bake/formats/point_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "client/bake/formats/npy.h"
#include "tests/unit/client/bake/formats/bytes.h"

namespace sinew::bake {
namespace {

using testing::Bytes;
using ::testing::ElementsAre;
using testing::Raw;

constexpr CacheFormat kFormats[] = {CacheFormat::kPc2, CacheFormat::kMdd, CacheFormat::kNpy};
// Two frames of one vertex, from frame 3 on, at 2 frames per second.
constexpr CacheInfo kTiny = {
    .frames = 2, .vertices = 1, .first_frame = 3, .frame_step = 1, .fps = 2};

std::string TinyFile(CacheFormat format) {
  std::string file = *EncodeCacheHeader(format, kTiny);
  AppendCacheFrame(format, std::vector<float>{1, -2, 0.5f}, file);
  AppendCacheFrame(format, std::vector<float>{4, 5, 6}, file);
  return file;
}

TEST(Pc2, HeaderBytes) {
  EXPECT_EQ(TinyFile(CacheFormat::kPc2).substr(0, 32), Raw("POINTCACHE2\0"
                                                           "\x01\0\0\0"     // version
                                                           "\x01\0\0\0"     // points
                                                           "\0\0\x40\x40"   // start 3
                                                           "\0\0\x80\x3f"   // sampling 1
                                                           "\x02\0\0\0"));  // samples
  EXPECT_EQ(TinyFile(CacheFormat::kPc2).substr(32, 12), Raw("\0\0\x80\x3f\0\0\0\xc0\0\0\0\x3f"));
}

TEST(Mdd, HeaderBytes) {
  EXPECT_EQ(TinyFile(CacheFormat::kMdd).substr(0, 16), Raw("\0\0\0\x02"     // frames
                                                           "\0\0\0\x01"     // points
                                                           "\x3f\xc0\0\0"   // 1.5 s
                                                           "\x40\0\0\0"));  // 2 s
  EXPECT_EQ(TinyFile(CacheFormat::kMdd).substr(16, 12), Raw("\x3f\x80\0\0\xc0\0\0\0\x3f\0\0\0"));
}

TEST(Npy, HeaderBytes) {
  const std::string text = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1, 3), }";
  const std::string file = TinyFile(CacheFormat::kNpy);
  EXPECT_EQ(file.substr(0, 128),
            Raw("\x93NUMPY\x01\x00\x76\x00") + text + std::string(117 - text.size(), ' ') + "\n");
  EXPECT_EQ(file.substr(128, 12), Raw("\0\0\x80\x3f\0\0\0\xc0\0\0\0\x3f"));
  EXPECT_EQ(file.size(), 128u + 24u);
}

TEST(PointCache, RoundTripsFrames) {
  for (CacheFormat format : kFormats) {
    SCOPED_TRACE(CacheFormatName(format));
    const std::string file = TinyFile(format);
    std::vector<float> frame(3);
    ReadCacheFrame(format, Bytes(file).last(24).first(12), frame);
    EXPECT_THAT(frame, ElementsAre(1, -2, 0.5f));
    ReadCacheFrame(format, Bytes(file).last(12), frame);
    EXPECT_THAT(frame, ElementsAre(4, 5, 6));
  }
}

TEST(PointCache, KeepsAllBitsOfValues) {
  const std::vector<float> odd = {std::bit_cast<float>(0x7fc12345u),      -0.0f,   1e-45f,
                                  std::numeric_limits<float>::infinity(), 3.4e38f, 0};
  for (CacheFormat format : kFormats) {
    SCOPED_TRACE(CacheFormatName(format));
    std::string file = *EncodeCacheHeader(format, {.frames = 1, .vertices = 2});
    AppendCacheFrame(format, odd, file);
    std::vector<float> frame(6);
    ReadCacheFrame(format, Bytes(file).last(24), frame);
    for (std::size_t k = 0; k < odd.size(); ++k) {
      EXPECT_EQ(std::bit_cast<std::uint32_t>(frame[k]), std::bit_cast<std::uint32_t>(odd[k])) << k;
    }
  }
}

TEST(PointCache, ReadsWholeFilesOfAnyProgram) {
  for (CacheFormat format : kFormats) {
    SCOPED_TRACE(CacheFormatName(format));
    const auto points = ReadPointCache(format, Bytes(TinyFile(format)));
    ASSERT_TRUE(points.ok()) << points.status();
    EXPECT_EQ(points->frames, 2u);
    EXPECT_EQ(points->vertices, 1u);
    EXPECT_THAT(points->values, ElementsAre(1, -2, 0.5f, 4, 5, 6));
  }
}

TEST(PointCache, RefusesFilesOfAnotherSize) {
  const auto refusal = [](CacheFormat format, const std::string& file) {
    const auto points = ReadPointCache(format, Bytes(file));
    EXPECT_EQ(points.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(points.status().message());
  };
  for (CacheFormat format : kFormats) {
    SCOPED_TRACE(CacheFormatName(format));
    const std::string file = TinyFile(format);
    for (std::size_t size = 0; size < file.size(); ++size) refusal(format, file.substr(0, size));
    refusal(format, file + '\0');
  }
  std::string file = TinyFile(CacheFormat::kPc2);
  EXPECT_EQ(refusal(CacheFormat::kPc2, file.substr(0, 50)),
            "pc2: got 50 bytes, 2 frames of 1 vertices need 56");
  file[12] = 2;
  EXPECT_EQ(refusal(CacheFormat::kPc2, file), "pc2.version: got 2, need 1");
  // Counts whose product does not fit 64 bits with 12 bytes for each.
  EXPECT_EQ(refusal(CacheFormat::kMdd, Raw("\x7f\xff\xff\xff\x7f\xff\xff\xff")).substr(0, 17),
            "mdd: got 8 bytes,");
  EXPECT_EQ(refusal(CacheFormat::kMdd, Raw("\0\0\0\0\0\0\0\1")),
            "cache.frames: 0, need 1 to 2147483647");
  EXPECT_EQ(refusal(CacheFormat::kObj, ""), "format: got obj, need pc2, mdd or npy");
  const std::uint64_t shape[] = {2, 3};
  EXPECT_EQ(refusal(CacheFormat::kNpy, EncodeNpy(shape, std::vector<float>(6))),
            "npy.shape: (2, 3), need (frames, vertices, 3)");
}

TEST(PointCache, EncodeRejectsInvalidInfo) {
  const double nan = std::nan("");
  const CacheInfo table[] = {
      {.frames = 0, .vertices = 1},
      {.frames = 1, .vertices = 0},
      {.frames = 0x80000000u, .vertices = 1},
      {.frames = 1, .vertices = 0x80000000u},
      {.frames = 1, .vertices = 1, .first_frame = nan},
      {.frames = 1, .vertices = 1, .frame_step = 0},
      {.frames = 1, .vertices = 1, .frame_step = -1},
      {.frames = 1, .vertices = 1, .fps = 0},
      {.frames = 1, .vertices = 1, .fps = std::numeric_limits<double>::infinity()},
  };
  for (CacheFormat format : kFormats) {
    for (const CacheInfo& info : table) {
      EXPECT_EQ(EncodeCacheHeader(format, info).status().code(),
                absl::StatusCode::kInvalidArgument);
    }
  }
}

TEST(PointCache, ParsesFormatNames) {
  EXPECT_EQ(*ParseCacheFormat("pc2"), CacheFormat::kPc2);
  EXPECT_EQ(*ParseCacheFormat(".MDD"), CacheFormat::kMdd);
  EXPECT_EQ(*ParseCacheFormat(".npy"), CacheFormat::kNpy);
  for (const char* name : {"", ".", "abc", "pc2 ", "..pc2"}) {
    EXPECT_EQ(ParseCacheFormat(name).status().code(), absl::StatusCode::kInvalidArgument) << name;
  }
}

}  // namespace
}  // namespace sinew::bake
