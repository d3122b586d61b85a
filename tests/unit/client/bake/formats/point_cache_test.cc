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
using ::testing::HasSubstr;
using testing::Raw;
using testing::With;

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

std::string Message(CacheFormat format, const std::string& file) {
  const auto reader = CacheReader::Open(format, Bytes(file));
  if (reader.ok()) return "accepted";
  EXPECT_EQ(reader.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(reader.status().message());
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
    const auto reader = CacheReader::Open(format, Bytes(file));
    ASSERT_TRUE(reader.ok()) << reader.status();
    EXPECT_EQ(reader->frames(), 2u);
    EXPECT_EQ(reader->vertices(), 1u);
    std::vector<float> frame(3);
    ASSERT_TRUE(reader->ReadFrame(0, frame).ok());
    EXPECT_THAT(frame, ElementsAre(1, -2, 0.5f));
    ASSERT_TRUE(reader->ReadFrame(1, frame).ok());
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
    const auto reader = CacheReader::Open(format, Bytes(file));
    ASSERT_TRUE(reader.ok()) << reader.status();
    std::vector<float> frame(6);
    ASSERT_TRUE(reader->ReadFrame(0, frame).ok());
    for (std::size_t k = 0; k < odd.size(); ++k) {
      EXPECT_EQ(std::bit_cast<std::uint32_t>(frame[k]), std::bit_cast<std::uint32_t>(odd[k])) << k;
    }
  }
}

TEST(PointCache, ReadsTimeFromHeaders) {
  const std::string pc2 = TinyFile(CacheFormat::kPc2), mdd = TinyFile(CacheFormat::kMdd);
  const auto pc2_reader = CacheReader::Open(CacheFormat::kPc2, Bytes(pc2));
  EXPECT_EQ(pc2_reader->info().first_frame, 3);
  EXPECT_EQ(pc2_reader->info().frame_step, 1);
  EXPECT_TRUE(pc2_reader->times().empty());
  const auto mdd_reader = CacheReader::Open(CacheFormat::kMdd, Bytes(mdd));
  EXPECT_THAT(mdd_reader->times(), ElementsAre(1.5f, 2.0f));
}

TEST(PointCache, RejectsTruncationAndTrailingBytes) {
  for (CacheFormat format : kFormats) {
    SCOPED_TRACE(CacheFormatName(format));
    const std::string file = TinyFile(format);
    for (std::size_t size = 0; size < file.size(); ++size) {
      // An exact copy, so that reading past the end is outside the allocation.
      const std::vector<char> cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_FALSE(CacheReader::Open(format, std::as_bytes(std::span(cut))).ok()) << size;
    }
    EXPECT_NE(Message(format, file + '\0'), "accepted");
    EXPECT_NE(Message(format, file + file.substr(file.size() - 12)), "accepted");
  }
}

TEST(PointCache, RejectsCorruptedHeaders) {
  const std::string pc2 = TinyFile(CacheFormat::kPc2), mdd = TinyFile(CacheFormat::kMdd);
  const std::string most = "\xff\xff\xff\xff", half = Raw("\0\0\0\x80"), none = Raw("\0\0\0\0");
  const std::string not_a_number = Raw("\0\0\xc0\x7f"), infinity = Raw("\0\0\x80\x7f");
  const struct {
    CacheFormat format;
    std::string file;
    const char* says;
  } table[] = {
      {CacheFormat::kPc2, With(pc2, 0, "Q"), "POINTCACHE2"},
      {CacheFormat::kPc2, With(pc2, 11, "!"), "POINTCACHE2"},
      {CacheFormat::kPc2, With(pc2, 12, "\x02"), "version: 2, need 1"},
      {CacheFormat::kPc2, With(pc2, 16, none), "0 vertices"},
      {CacheFormat::kPc2, With(pc2, 16, most), "4294967295 vertices"},
      {CacheFormat::kPc2, With(pc2, 16, half), "2147483648 vertices"},
      {CacheFormat::kPc2, With(pc2, 16, "\x02"), "need exactly"},
      {CacheFormat::kPc2, With(pc2, 20, not_a_number), "finite"},
      {CacheFormat::kPc2, With(pc2, 24, infinity), "finite"},
      {CacheFormat::kPc2, With(pc2, 28, none), "0 frames"},
      {CacheFormat::kPc2, With(pc2, 28, most), "4294967295 frames"},
      {CacheFormat::kPc2, With(pc2, 28, "\x03"), "need exactly"},
      {CacheFormat::kMdd, With(mdd, 0, none), "0 frames"},
      {CacheFormat::kMdd, With(mdd, 0, most), "4294967295 frames"},
      {CacheFormat::kMdd, With(mdd, 0, "\x7f\xff\xff\xff"), "need exactly"},
      {CacheFormat::kMdd, With(mdd, 4, none), "0 vertices"},
      {CacheFormat::kMdd, With(mdd, 4, "\x7f\xff\xff\xff"), "need exactly"},
      {CacheFormat::kMdd, With(mdd, 8, "\x7f\xc0"), "times[0]"},
      {CacheFormat::kMdd, With(mdd, 12, "\x3f\x80"), "times[1]: 1, need"},
  };
  for (const auto& row : table) EXPECT_THAT(Message(row.format, row.file), HasSubstr(row.says));
}

TEST(PointCache, HandlesCountProductOverflow) {
  std::string file = TinyFile(CacheFormat::kPc2);
  file = With(With(file, 16, "\xff\xff\xff\x7f"), 28, "\xff\xff\xff\x7f");
  EXPECT_THAT(Message(CacheFormat::kPc2, file), HasSubstr("need exactly 2147483647 frames"));
}

TEST(PointCache, ReadFrameRejectsBadFrameOrBuffer) {
  const std::string file = TinyFile(CacheFormat::kPc2);
  const auto reader = CacheReader::Open(CacheFormat::kPc2, Bytes(file));
  std::vector<float> frame(3), small(2);
  EXPECT_EQ(reader->ReadFrame(2, frame).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(reader->ReadFrame(0, small).code(), absl::StatusCode::kInvalidArgument);
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
