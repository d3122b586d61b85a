// frame_set.h - which frames of a clip: "0-99x2,120", also between them: "10,12-13x0.25".
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sinew/rig_data.h"

namespace sinew::bake {

inline constexpr std::int64_t kMaxFrame = 1'000'000'000;
// Beyond it, float32 seconds, as .mdd has them, no longer tell frames well apart.
inline constexpr std::int64_t kMaxStartFrame = 1 << 20;  // more than Blender's last frame

// Frames first, first + step, ... up to last; if `inverted`, those from first to last between them.
// With fractions: multiples of a millionth.
struct FrameRange {
  double first = 0;                 // >= 0
  std::optional<double> last = {};  // >= first; unset = the clip's last
  double step = 1;                  // > 0
  bool inverted = false;            // only of whole numbers
};

struct FrameSet {
  std::vector<FrameRange> ranges = {};  // may overlap; empty = all frames
  const char* name = "frames";          // for messages
  std::int64_t start = 0;               // the number in `ranges` of the clip's first frame

  static FrameSet One(double frame, const char* name = "frames") {
    return {.ranges = {{.first = frame, .last = frame}}, .name = name};
  }
  bool HasFractions() const;
};

// Ranges separated by commas, as in OpenCue's #FRAMESPEC# and in OpenJD: "12", "0-99", "10-" (to
// the end), each optionally with a step: "xSTEP" or ":STEP", or "ySTEP" for all but those. A range
// may fall if its step does: "9-0x-1". Numbers may have fractions: "0.25-", "10-12x0.25".
// RequestError for anything else.
absl::StatusOr<FrameSet> ParseFrames(const std::string& text);

// The frames of the set as the clip counts them, from 0, rising, each once. kOutOfRange: it reaches
// beyond `end`, the last frame that `clip` has at `fps` frames a second. kInvalidArgument: nothing
// is left, or more than 10 million frames.
absl::StatusOr<std::vector<double>> ResolveNumbers(const FrameSet& set, double end,
                                                   const std::string& clip, double fps);
// Those of a clip of `frames` frames, for what has whole ones only. RequestError: fractions.
absl::StatusOr<std::vector<std::int64_t>> ResolveFrames(const FrameSet& set, std::int64_t frames,
                                                        const std::string& clip, double fps);

// Makes `clip` one of these frames, rising and not empty: first_frame and step if their distances
// are even, else frame_numbers. Does not touch the poses.
void SetFrameNumbers(std::span<const std::int64_t> numbers, client::ClipData& clip);

// A number, or those of a clip, `start` frames later. Fractions stay multiples of a millionth, so
// that a number moved there and back is the same.
double MovedFrame(double number, std::int64_t start);
void MoveFrames(std::int64_t start, client::ClipData& clip);

// kOutOfRange: `times`, rising and not empty, are not all within 0 to `end`, as of ResolveNumbers.
// The message has numbers that are `start` later.
absl::Status CheckTimes(const std::vector<double>& times, double end, const std::string& clip,
                        double fps, std::int64_t start);

}  // namespace sinew::bake
