// latency_plot.h - percentiles of latency as a picture.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "client/render/image.h"

namespace sinew::bench {

inline constexpr std::uint32_t kLeastPlotWidth = 320, kLeastPlotHeight = 200;  // pixels

struct LatencyCurve {
  std::string label;             // UTF-8
  std::vector<float> latencies;  // ms, in any order, not empty
};

// One line per curve: percentiles from the median on to the right, each tenth of the poses that
// are slower taking as much room as the last; latency upwards, both logarithmic. A line ends at the
// slowest pose. Labels stand below, as many as fit. At least kLeastPlotWidth x kLeastPlotHeight.
//   kFailedPrecondition: no font, as of client::Font.
absl::StatusOr<client::Image> PlotLatency(std::span<const LatencyCurve> curves,
                                          const std::string& title, std::uint32_t width,
                                          std::uint32_t height);

}  // namespace sinew::bench
