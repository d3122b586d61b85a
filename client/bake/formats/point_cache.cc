#include "client/bake/formats/point_cache.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>

#include <cmath>
#include <cstring>
#include <iterator>

#include "client/bake/formats/byte_order.h"
#include "client/bake/formats/npy.h"
#include "core/base/status.h"

namespace sinew::bake {
namespace {

constexpr const char* kNames[] = {"pc2", "mdd", "npy", "usda", "obj", "glb"};  // by CacheFormat
constexpr char kPc2Magic[12] = "POINTCACHE2";  // including its terminating zero
constexpr std::uint32_t kPc2Version = 1;
constexpr std::size_t kMddCountBytes = 8;

// .pc2 point caches (3ds Max, Blender's Mesh Cache): 32 bytes, little-endian: "POINTCACHE2\0",
// int32 version = 1, int32 points, float32 start frame, float32 frames between samples, int32
// samples. Then samples x points x 3 float32. The frame rate is not stored.
absl::StatusOr<std::string> EncodePc2Header(const CacheInfo& info) {
  SINEW_RETURN_IF_ERROR(CheckCacheInfo(info));
  if (!info.frame_numbers.empty()) {
    return InvalidArgument(
        "pc2.frame_numbers: a .pc2 holds frames at even distances, need .mdd or .npy for others");
  }
  std::string out(kPc2Magic, sizeof kPc2Magic);
  AppendBytes(kPc2Version, ByteOrder::kLittle, out);
  AppendBytes(info.vertices, ByteOrder::kLittle, out);
  AppendBytes(static_cast<float>(info.first_frame), ByteOrder::kLittle, out);
  AppendBytes(static_cast<float>(info.frame_step), ByteOrder::kLittle, out);
  AppendBytes(info.frames, ByteOrder::kLittle, out);
  return out;
}

// .mdd motion files (LightWave, Blender's Mesh Cache): big-endian int32 frames, int32 points,
// float32 time in seconds of every frame, its number / fps; then frames x points x 3 float32.
absl::StatusOr<std::string> EncodeMddHeader(const CacheInfo& info) {
  SINEW_RETURN_IF_ERROR(CheckCacheInfo(info));
  std::string out;
  out.reserve(kMddCountBytes + std::size_t{info.frames} * 4);
  AppendBytes(info.frames, ByteOrder::kBig, out);
  AppendBytes(info.vertices, ByteOrder::kBig, out);
  for (std::uint32_t k = 0; k < info.frames; ++k) {
    AppendBytes(static_cast<float>(info.FrameNumber(k) / info.fps), ByteOrder::kBig, out);
  }
  return out;
}

// Where the counts of a header are, and the size of all of it.
struct Header {
  std::uint32_t frames = 0, vertices = 0;
  std::uint64_t bytes = 0;
};

absl::StatusOr<Header> ParsePc2Header(std::span<const std::byte> bytes) {
  constexpr std::size_t kBytes = 32;
  if (bytes.size() < kBytes || std::memcmp(bytes.data(), kPc2Magic, sizeof kPc2Magic) != 0) {
    return InvalidArgument("pc2: does not begin with POINTCACHE2 and a header of 32 bytes");
  }
  const auto at = [&](std::size_t offset) {
    return LoadBytes<std::uint32_t>(bytes.data() + offset, ByteOrder::kLittle);
  };
  if (at(12) != kPc2Version) return InvalidArgument("pc2.version: got ", at(12), ", need 1");
  return Header{.frames = at(28), .vertices = at(16), .bytes = kBytes};
}

absl::StatusOr<Header> ParseMddHeader(std::span<const std::byte> bytes) {
  if (bytes.size() < kMddCountBytes) {
    return InvalidArgument("mdd: got ", bytes.size(), " bytes, need a header of 8 or more");
  }
  const auto frames = LoadBytes<std::uint32_t>(bytes.data(), ByteOrder::kBig);
  return Header{.frames = frames,
                .vertices = LoadBytes<std::uint32_t>(bytes.data() + 4, ByteOrder::kBig),
                .bytes = kMddCountBytes + std::uint64_t{frames} * 4};
}

// What other programs leave at 0 is left out, and what is wrong, which is named.
void ReadTimes(CacheFormat format, std::span<const std::byte> bytes, PointArray& points) {
  if (format == CacheFormat::kPc2) {
    const double step = LoadBytes<float>(bytes.data() + 24, ByteOrder::kLittle);
    if (step > 0 && std::isfinite(step)) {
      points.frame_step = step;
    } else if (step != 0) {
      points.bad_times = absl::StrCat("a sample rate of ", step, ", need more than 0");
    }
    return;
  }
  for (std::uint32_t k = 0; k < points.frames; ++k) {
    const double time = LoadBytes<float>(bytes.data() + kMddCountBytes + k * 4, ByteOrder::kBig);
    if (!std::isfinite(time) || (k > 0 && time <= points.seconds.back())) {
      if (time != 0 || points.seconds.back() != 0) {
        points.bad_times =
            absl::StrCat("a time of ", time, " s in place ", k, ", need finite times that rise");
      }
      points.seconds.clear();
      return;
    }
    points.seconds.push_back(time);
  }
}

}  // namespace

const char* CacheFormatName(CacheFormat format) {
  return kNames[static_cast<std::size_t>(format)];
}

absl::StatusOr<CacheFormat> ParseCacheFormat(std::string_view name) {
  std::string lower(name.substr(name.starts_with('.') ? 1 : 0));
  absl::AsciiStrToLower(&lower);
  for (std::uint8_t k = 0; k < std::size(kNames); ++k) {
    if (lower == kNames[k]) return static_cast<CacheFormat>(k);
  }
  return InvalidArgument("format: '", std::string(name), "', need pc2, mdd, npy, usda, obj or glb");
}

absl::StatusOr<std::string> EncodeCacheHeader(CacheFormat format, const CacheInfo& info) {
  if (format == CacheFormat::kPc2) return EncodePc2Header(info);
  if (format == CacheFormat::kMdd) return EncodeMddHeader(info);
  if (format == CacheFormat::kNpy) return EncodeNpyHeader(info);
  SINEW_RETURN_IF_ERROR(CheckCacheInfo(info));
  return std::string();
}

void AppendCacheFrame(CacheFormat format, std::span<const float> positions, std::string& out) {
  if (format != CacheFormat::kMdd) {
    out.append(reinterpret_cast<const char*>(positions.data()), positions.size_bytes());
    return;
  }
  const std::size_t begin = out.size();
  out.resize(begin + positions.size_bytes());
  char* to = out.data() + begin;
  for (float value : positions) {
    const std::uint32_t bits = __builtin_bswap32(std::bit_cast<std::uint32_t>(value));
    std::memcpy(to, &bits, sizeof bits);
    to += sizeof bits;
  }
}

void ReadCacheFrame(CacheFormat format, std::span<const std::byte> bytes,
                    std::span<float> positions) {
  if (format != CacheFormat::kMdd) {
    std::memcpy(positions.data(), bytes.data(), positions.size_bytes());
    return;
  }
  for (std::size_t k = 0; k < positions.size(); ++k) {
    positions[k] = LoadBytes<float>(bytes.data() + k * 4, ByteOrder::kBig);
  }
}

absl::StatusOr<PointArray> ReadPointCache(CacheFormat format, std::span<const std::byte> bytes) {
  if (format == CacheFormat::kNpy) return ReadPointsNpy(bytes);
  const std::string name = CacheFormatName(format);
  if (IsSceneFormat(format)) {
    return InvalidArgument("format: got ", name, ", need pc2, mdd or npy");
  }
  SINEW_ASSIGN_OR_RETURN(const Header header, format == CacheFormat::kPc2 ? ParsePc2Header(bytes)
                                                                          : ParseMddHeader(bytes));
  SINEW_RETURN_IF_ERROR(CheckCacheInfo({.frames = header.frames, .vertices = header.vertices}));
  // In double, because the product of two counts may be too large for any integer.
  const double need = static_cast<double>(header.bytes) +
                      12.0 * static_cast<double>(header.frames) * header.vertices;
  if (need != static_cast<double>(bytes.size())) {
    return InvalidArgument(name, ": got ", bytes.size(), " bytes, ", header.frames, " frames of ",
                           header.vertices, " vertices need ", need);
  }
  PointArray points = {.frames = header.frames, .vertices = header.vertices, .values = {}};
  points.values.resize(std::size_t{header.frames} * header.vertices * 3);
  ReadCacheFrame(format, bytes.subspan(header.bytes), points.values);
  ReadTimes(format, bytes, points);
  return points;
}

}  // namespace sinew::bake
