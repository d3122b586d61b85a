// shutter.h - the samples of motion blur: when, relative to each frame, the points are baked.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sinew::bake {

inline constexpr double kWidestShutter = 1;  // frames to either side
inline constexpr std::int64_t kMostSamples = 64;

// Samples of a frame, at even distances from `open` to `close`, both included; a single sample is
// in the middle.
struct Shutter {
  double open = 0, close = 0;  // frames relative to the frame; open <= close, within -1 to 1
  std::int64_t samples = 1;    // at least 1
};

// "-0.25..0.25". RequestError for anything else, or for several samples at one time.
absl::StatusOr<Shutter> ParseShutter(const std::string& text, std::int64_t samples);

// The numbers of all samples of `frames`, rising. A sample that two frames share, as the last of
// one is the first of the next for -0.5..0.5, is there once. Numbers are multiples of a millionth
// of a frame, so a sample has the same number whichever frames are asked for.
std::vector<double> SampleNumbers(std::span<const std::int64_t> frames, const Shutter& shutter);

// The nearest such multiple.
double OnSampleGrid(double number);

// The frames whose samples are all in `numbers`: those that SampleNumbers was called with, and
// others of which every sample is one of theirs.
std::vector<std::int64_t> FramesOf(std::span<const double> numbers, const Shutter& shutter);

// What a format that holds samples at even distances needs: "need a shutter of 1 frame, such as
// -0.5..0.5, or one of 0.667 frames".
std::string EvenSamplesText(const Shutter& shutter);

}  // namespace sinew::bake
