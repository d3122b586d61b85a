// finish.h - normalises, smooths and prunes computed weights into the influences of vertices.
#pragma once

#include <absl/status/statusor.h>

#include "core/weights/skin.h"

namespace sinew::weights {

// Per point: negative and non-finite values become 0 and the row is divided by its sum; each of
// `smooth` passes moves weights halfway to the mean of the one-ring; weights below `prune` are
// dropped except the strongest; the `max_influences` strongest remain (ties: the lower joint) and
// are divided by their sum. A point without weights gets its nearest joint. Copies the rows to the
// vertices. kCancelled.
absl::StatusOr<InfluenceSource> Finish(const Skin& skin, const WeightOptions& options,
                                       Columns columns, const Progress& progress);

// Bytes held, including the columns and the result.
std::size_t FinishBytes(const Skin& skin, const WeightOptions& options);

}  // namespace sinew::weights
