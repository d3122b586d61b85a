#include "client/bake/formats/cache_layout.h"

#include <absl/strings/str_cat.h>

#include <cmath>
#include <string_view>

#include "core/base/status.h"

namespace sinew::bake {

namespace {

template <class T>
absl::Status Need(bool good, const char* field, T value, std::string_view need) {
  if (good) return absl::OkStatus();
  return InvalidArgument("cache.", field, ": ", value, ", need ", need);
}

absl::Status CheckCount(const char* field, std::uint32_t count) {
  return Need(count >= 1 && count <= kMaxCacheCount, field, count,
              absl::StrCat("1 to ", kMaxCacheCount));
}

absl::Status CheckPositive(const char* field, double value) {
  return Need(std::isfinite(value) && value > 0, field, value, "a finite number above 0");
}

}  // namespace

absl::Status CheckCacheInfo(const CacheInfo& info) {
  SINEW_RETURN_IF_ERROR(CheckCount("frames", info.frames));
  SINEW_RETURN_IF_ERROR(CheckCount("vertices", info.vertices));
  SINEW_RETURN_IF_ERROR(
      Need(std::isfinite(info.first_frame), "first_frame", info.first_frame, "a finite number"));
  SINEW_RETURN_IF_ERROR(CheckPositive("frame_step", info.frame_step));
  if (!info.frame_numbers.empty()) {
    SINEW_RETURN_IF_ERROR(Need(info.frame_numbers.size() == info.frames, "frame_numbers",
                               info.frame_numbers.size(), "one per frame"));
    for (std::size_t k = 0; k < info.frame_numbers.size(); ++k) {
      const double number = info.frame_numbers[k];
      SINEW_RETURN_IF_ERROR(
          Need(std::isfinite(number) && (k == 0 || number > info.frame_numbers[k - 1]),
               "frame_numbers", number, "finite, rising numbers"));
    }
  }
  return CheckPositive("fps", info.fps);
}

}  // namespace sinew::bake
