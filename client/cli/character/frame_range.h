// frame_range.h - which frames of a clip: "0-99x2", or "10.25,10.5" between them.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sinew::cli {

// Frames first, first + step, ... up to last.
struct FrameRange {
  std::int64_t first = 0;                 // >= 0
  std::optional<std::int64_t> last = {};  // >= first; unset = the clip's last
  std::int64_t step = 1;                  // >= 1
  const char* option = "--frames";        // that set it, for messages
};

// "12", "0-99", "10-" (to the end), each optionally followed by "xSTEP". UsageError (exit 64) for
// anything else.
absl::StatusOr<FrameRange> ParseFrameRange(const std::string& text);

// `range` with its last frame filled in and made one that is hit. kOutOfRange: it reaches beyond
// `frames`, which `clip` has at `fps` frames a second.
absl::StatusOr<FrameRange> ResolveFrames(const FrameRange& range, std::int64_t frames,
                                         const std::string& clip, double fps);

// Frames with fractions, such as "10,10.25,12-13x0.125": numbers and ranges, rising. UsageError for
// anything else.
absl::StatusOr<std::vector<double>> ParseTimes(const std::string& text);

// kOutOfRange: the last of `times`, not empty, is after `end`, the last frame that `clip` has at
// `fps` frames a second.
absl::Status CheckTimes(const std::vector<double>& times, double end, const std::string& clip,
                        double fps);

// Of a resolved range.
std::int64_t FrameCount(const FrameRange& range);

}  // namespace sinew::cli
