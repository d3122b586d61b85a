#include "client/bake/character/shutter.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <regex>

#include "client/bake/base/errors.h"
#include "client/bake/base/quantity.h"

namespace sinew::bake {
namespace {

constexpr double kSamplesPerFrame = 1e6;  // the grid of sample numbers
constexpr double kSameSample = 1e-6;
constexpr double kLeastDistance = 1e-5;  // of samples

}  // namespace

double OnSampleGrid(double number) {
  return std::round(number * kSamplesPerFrame) / kSamplesPerFrame;
}

absl::StatusOr<Shutter> ParseShutter(const std::string& text, std::int64_t samples) {
  static const std::regex form(
      R"((-?[0-9]{1,20}(?:\.[0-9]{1,20})?)\.\.(-?[0-9]{1,20}(?:\.[0-9]{1,20})?))");
  std::smatch parts;
  const auto wrong = [&](const std::string& why) {
    return RequestError(absl::StrCat("shutter: got \"", text, "\", ", why));
  };
  if (!std::regex_match(text, parts, form)) {
    return wrong(
        "need OPEN..CLOSE in frames from -1 to 1 relative to each frame, such as -0.25..0.25");
  }
  const Shutter shutter = {
      .open = std::stod(parts[1]), .close = std::stod(parts[2]), .samples = samples};
  if (std::abs(shutter.open) > kWidestShutter || std::abs(shutter.close) > kWidestShutter) {
    return wrong("need OPEN and CLOSE from -1 to 1 frames");
  }
  if (shutter.open > shutter.close) return wrong("need an OPEN that is not after CLOSE");
  const double between =
      (shutter.close - shutter.open) / static_cast<double>(std::max<std::int64_t>(samples - 1, 1));
  if (samples > 1 && between < kLeastDistance) {
    return wrong(absl::StrCat("need an OPEN before CLOSE for ", samples, " samples, by ",
                              NumberText(kLeastDistance * static_cast<double>(samples - 1)),
                              " frames or more"));
  }
  return shutter;
}

std::vector<double> SampleNumbers(std::span<const std::int64_t> frames, const Shutter& shutter) {
  std::vector<double> numbers;
  for (const std::int64_t frame : frames) {
    for (std::int64_t k = 0; k < shutter.samples; ++k) {
      const double at = shutter.samples == 1
                            ? 0.5
                            : static_cast<double>(k) / static_cast<double>(shutter.samples - 1);
      numbers.push_back(
          OnSampleGrid(static_cast<double>(frame) + std::lerp(shutter.open, shutter.close, at)));
    }
  }
  std::ranges::sort(numbers);
  numbers.erase(std::ranges::unique(numbers).begin(), numbers.end());
  return numbers;
}

std::vector<std::int64_t> FramesOf(std::span<const double> numbers, const Shutter& shutter) {
  const auto has = [&](double number) {
    const auto at = std::ranges::lower_bound(numbers, number - kSameSample);
    return at != numbers.end() && *at < number + kSameSample;
  };
  std::vector<std::int64_t> frames;
  for (const double number : numbers) {  // each frame has one that is its first
    const auto frame = static_cast<std::int64_t>(
        std::llround(number - (shutter.samples == 1 ? std::midpoint(shutter.open, shutter.close)
                                                    : shutter.open)));
    if (!frames.empty() && frames.back() == frame) continue;
    if (std::ranges::all_of(SampleNumbers(std::array{frame}, shutter), has))
      frames.push_back(frame);
  }
  return frames;
}

std::string EvenSamplesText(const Shutter& shutter) {
  const auto samples = static_cast<double>(shutter.samples);
  return absl::StrCat("need a shutter of 1 frame, such as -0.5..0.5, or of ",
                      NumberText((samples - 1) / samples), ", such as 0..",
                      NumberText((samples - 1) / samples), ", for ", shutter.samples, " samples");
}

}  // namespace sinew::bake
