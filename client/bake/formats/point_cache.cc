#include "client/bake/formats/point_cache.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>

#include <cmath>
#include <cstring>
#include <utility>

#include "client/bake/formats/npy.h"
#include "core/base/status.h"

namespace sinew::bake {
namespace {

constexpr char kPc2Magic[12] = "POINTCACHE2";  // including its terminating zero
constexpr std::uint32_t kPc2Version = 1;
constexpr std::size_t kPc2HeaderBytes = 32, kMddCountBytes = 8;

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

// kInvalidArgument: wrong magic or version, counts not positive, start or step not finite, wrong
// file size.
absl::StatusOr<CacheLayout> ParsePc2(std::span<const std::byte> bytes) {
  if (bytes.size() < kPc2HeaderBytes) {
    return InvalidArgument("pc2: ", bytes.size(), " bytes, need a header of ", kPc2HeaderBytes);
  }
  if (std::memcmp(bytes.data(), kPc2Magic, sizeof kPc2Magic) != 0) {
    return InvalidArgument("pc2: does not start with POINTCACHE2");
  }
  const auto word = [&](std::size_t offset) {
    return LoadBytes<std::uint32_t>(bytes.data() + offset, ByteOrder::kLittle);
  };
  if (word(12) != kPc2Version) {
    return InvalidArgument("pc2.version: ", word(12), ", need ", kPc2Version);
  }
  CacheLayout layout;
  layout.data_offset = kPc2HeaderBytes;
  layout.info.vertices = word(16);
  layout.info.first_frame = LoadBytes<float>(bytes.data() + 20, ByteOrder::kLittle);
  layout.info.frame_step = LoadBytes<float>(bytes.data() + 24, ByteOrder::kLittle);
  layout.info.frames = word(28);
  layout.info.fps = 0;
  if (!std::isfinite(layout.info.first_frame) || !std::isfinite(layout.info.frame_step)) {
    return InvalidArgument("pc2: start ", layout.info.first_frame, ", sampling ",
                           layout.info.frame_step, ", need finite numbers");
  }
  SINEW_RETURN_IF_ERROR(CheckCacheSize("pc2", bytes, layout));
  return layout;
}

// .mdd motion files (LightWave, Blender's Mesh Cache): big-endian int32 frames, int32 points,
// float32 time in seconds of every frame; then frames x points x 3 float32. There is no magic
// number; other files are recognised by a size that does not match their counts. Frame k has the
// time (first_frame + k * frame_step) / fps.
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

// kInvalidArgument: counts not positive, times not finite or decreasing, wrong file size.
absl::StatusOr<CacheLayout> ParseMdd(std::span<const std::byte> bytes) {
  if (bytes.size() < kMddCountBytes) {
    return InvalidArgument("mdd: ", bytes.size(), " bytes, need at least ", kMddCountBytes);
  }
  CacheLayout layout;
  layout.order = ByteOrder::kBig;
  layout.info.frames = LoadBytes<std::uint32_t>(bytes.data(), ByteOrder::kBig);
  layout.info.vertices = LoadBytes<std::uint32_t>(bytes.data() + 4, ByteOrder::kBig);
  layout.info.fps = 0;
  layout.data_offset = kMddCountBytes + std::size_t{layout.info.frames} * 4;
  // Check the size before allocating for the times: the count may be forged.
  SINEW_RETURN_IF_ERROR(CheckCacheSize("mdd", bytes, layout));
  layout.times.resize(layout.info.frames);
  for (std::size_t k = 0; k < layout.times.size(); ++k) {
    const float time = LoadBytes<float>(bytes.data() + kMddCountBytes + k * 4, ByteOrder::kBig);
    if (!std::isfinite(time) || (k > 0 && time < layout.times[k - 1])) {
      return InvalidArgument("mdd.times[", k, "]: ", time, ", need finite, non-decreasing seconds");
    }
    layout.times[k] = time;
  }
  return layout;
}

void ReadFloats(std::span<const std::byte> bytes, ByteOrder order, std::span<float> values) {
  if (order == ByteOrder::kLittle) {
    std::memcpy(values.data(), bytes.data(), values.size_bytes());
    return;
  }
  for (std::size_t k = 0; k < values.size(); ++k) {
    values[k] = LoadBytes<float>(bytes.data() + k * 4, ByteOrder::kBig);
  }
}

}  // namespace

const char* CacheFormatName(CacheFormat format) {
  switch (format) {
    case CacheFormat::kPc2:
      return "pc2";
    case CacheFormat::kMdd:
      return "mdd";
    case CacheFormat::kNpy:
      return "npy";
    case CacheFormat::kUsda:
      return "usda";
    case CacheFormat::kObj:
      return "obj";
    case CacheFormat::kGlb:
      return "glb";
  }
  return "";
}

absl::StatusOr<CacheFormat> ParseCacheFormat(std::string_view name) {
  std::string lower(name.substr(name.starts_with('.') ? 1 : 0));
  absl::AsciiStrToLower(&lower);
  for (CacheFormat format : {CacheFormat::kPc2, CacheFormat::kMdd, CacheFormat::kNpy,
                             CacheFormat::kUsda, CacheFormat::kObj, CacheFormat::kGlb}) {
    if (lower == CacheFormatName(format)) return format;
  }
  return InvalidArgument("format: '", std::string(name), "', need pc2, mdd, npy, usda, obj or glb");
}

absl::StatusOr<std::string> EncodeCacheHeader(CacheFormat format, const CacheInfo& info) {
  switch (format) {
    case CacheFormat::kPc2:
      return EncodePc2Header(info);
    case CacheFormat::kMdd:
      return EncodeMddHeader(info);
    case CacheFormat::kNpy:
      return EncodeNpyHeader(info);
    case CacheFormat::kUsda:
    case CacheFormat::kObj:
    case CacheFormat::kGlb:
      SINEW_RETURN_IF_ERROR(CheckCacheInfo(info));
      return std::string();
  }
  return InvalidArgument("format: unknown, need pc2, mdd, npy, usda, obj or glb");
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
  ReadFloats(bytes, format == CacheFormat::kMdd ? ByteOrder::kBig : ByteOrder::kLittle, positions);
}

absl::StatusOr<CacheReader> CacheReader::Open(CacheFormat format,
                                              std::span<const std::byte> bytes) {
  if (IsSceneFormat(format)) {
    return InvalidArgument("format: ", CacheFormatName(format), ", need pc2, mdd or npy");
  }
  absl::StatusOr<CacheLayout> layout = format == CacheFormat::kPc2   ? ParsePc2(bytes)
                                       : format == CacheFormat::kMdd ? ParseMdd(bytes)
                                                                     : ParseNpyCache(bytes);
  if (!layout.ok()) return layout.status();
  return CacheReader(*std::move(layout), bytes);
}

absl::Status CacheReader::ReadFrame(std::uint32_t frame, std::span<float> positions) const {
  if (frame >= frames()) {
    return absl::OutOfRangeError(absl::StrCat("frame: ", frame, ", cache has 0..", frames() - 1));
  }
  const std::size_t values = std::size_t{vertices()} * 3;
  if (positions.size() != values) {
    return InvalidArgument("positions: ", positions.size(), " values, need ", values);
  }
  ReadFloats(bytes_.subspan(layout_.data_offset + frame * values * 4, values * 4), layout_.order,
             positions);
  return absl::OkStatus();
}

}  // namespace sinew::bake
