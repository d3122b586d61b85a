// finish.h - from what a method computed to the influences of vertices.
#pragma once

#include <absl/status/statusor.h>

#include "core/weights/skin.h"

namespace sinew::weights {

// Per point: values that are negative or not finite count as 0, the rest is divided by its sum;
// `smooth` passes move each joint's weight halfway to the mean of the point's neighbours along
// triangle edges; weights below `prune` go, the strongest stays; of the rest the `max_influences`
// strongest stay (ties: the lower joint) and are divided by their sum. A point with nothing takes
// the joint nearest to it. Copies to the vertices. kCancelled.
absl::StatusOr<InfluenceSource> Finish(const Skin& skin, const WeightOptions& options,
                                       Columns columns, const Progress& progress);

// Bytes it holds beside the columns, and its result.
std::size_t FinishBytes(std::size_t vertices, std::size_t points, std::size_t joints,
                        const WeightOptions& options);

}  // namespace sinew::weights
