#include "core/formats/pc2.h"

#include <absl/strings/str_cat.h>

#include <cmath>
#include <cstring>

#include "core/base/status.h"

namespace sinew {
namespace {

constexpr char kMagic[12] = "POINTCACHE2";  // including its terminating zero
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kHeaderBytes = 32;

}  // namespace

absl::StatusOr<std::string> EncodePc2Header(const CacheInfo& info) {
  SINEW_RETURN_IF_ERROR(CheckCacheInfo(info));
  std::string out(kMagic, sizeof kMagic);
  AppendBytes(kVersion, ByteOrder::kLittle, out);
  AppendBytes(info.vertices, ByteOrder::kLittle, out);
  AppendBytes(static_cast<float>(info.first_frame), ByteOrder::kLittle, out);
  AppendBytes(static_cast<float>(info.frame_step), ByteOrder::kLittle, out);
  AppendBytes(info.frames, ByteOrder::kLittle, out);
  return out;
}

absl::StatusOr<CacheLayout> ParsePc2(std::span<const std::byte> bytes) {
  if (bytes.size() < kHeaderBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("pc2: ", bytes.size(), " bytes, need a header of ", kHeaderBytes));
  }
  if (std::memcmp(bytes.data(), kMagic, sizeof kMagic) != 0) {
    return absl::InvalidArgumentError("pc2: does not start with POINTCACHE2");
  }
  const auto word = [&](std::size_t offset) {
    return LoadBytes<std::uint32_t>(bytes.data() + offset, ByteOrder::kLittle);
  };
  if (word(12) != kVersion) {
    return absl::InvalidArgumentError(absl::StrCat("pc2.version: ", word(12), ", need ", kVersion));
  }
  CacheLayout layout;
  layout.data_offset = kHeaderBytes;
  layout.info.vertices = word(16);
  layout.info.first_frame = LoadBytes<float>(bytes.data() + 20, ByteOrder::kLittle);
  layout.info.frame_step = LoadBytes<float>(bytes.data() + 24, ByteOrder::kLittle);
  layout.info.frames = word(28);
  layout.info.fps = 0;
  if (!std::isfinite(layout.info.first_frame) || !std::isfinite(layout.info.frame_step)) {
    return absl::InvalidArgumentError(absl::StrCat("pc2: start ", layout.info.first_frame,
                                                   ", sampling ", layout.info.frame_step,
                                                   ", need finite numbers"));
  }
  SINEW_RETURN_IF_ERROR(CheckCacheSize("pc2", bytes, layout));
  return layout;
}

}  // namespace sinew
