#include "core/formats/mdd.h"

#include <absl/strings/str_cat.h>

#include <cmath>

#include "core/base/status.h"

namespace sinew {
namespace {

constexpr std::size_t kCountBytes = 8;

}  // namespace

absl::StatusOr<std::string> EncodeMddHeader(const CacheInfo& info) {
  SINEW_RETURN_IF_ERROR(CheckCacheInfo(info));
  std::string out;
  out.reserve(kCountBytes + std::size_t{info.frames} * 4);
  AppendBytes(info.frames, ByteOrder::kBig, out);
  AppendBytes(info.vertices, ByteOrder::kBig, out);
  for (std::uint32_t k = 0; k < info.frames; ++k) {
    AppendBytes(static_cast<float>((info.first_frame + k * info.frame_step) / info.fps),
                ByteOrder::kBig, out);
  }
  return out;
}

absl::StatusOr<CacheLayout> ParseMdd(std::span<const std::byte> bytes) {
  if (bytes.size() < kCountBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("mdd: ", bytes.size(), " bytes, need at least ", kCountBytes));
  }
  CacheLayout layout;
  layout.order = ByteOrder::kBig;
  layout.info.frames = LoadBytes<std::uint32_t>(bytes.data(), ByteOrder::kBig);
  layout.info.vertices = LoadBytes<std::uint32_t>(bytes.data() + 4, ByteOrder::kBig);
  layout.info.fps = 0;
  layout.data_offset = kCountBytes + std::size_t{layout.info.frames} * 4;
  // Check the size before allocating for the times: the count may be forged.
  SINEW_RETURN_IF_ERROR(CheckCacheSize("mdd", bytes, layout));
  layout.times.resize(layout.info.frames);
  for (std::size_t k = 0; k < layout.times.size(); ++k) {
    const float time = LoadBytes<float>(bytes.data() + kCountBytes + k * 4, ByteOrder::kBig);
    if (!std::isfinite(time) || (k > 0 && time < layout.times[k - 1])) {
      return absl::InvalidArgumentError(
          absl::StrCat("mdd.times[", k, "]: ", time, ", need finite, non-decreasing seconds"));
    }
    layout.times[k] = time;
  }
  return layout;
}

}  // namespace sinew
