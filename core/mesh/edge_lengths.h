// edge_lengths.h - tells a deformed mesh from other points.
#pragma once

#include <absl/status/status.h>

#include <span>
#include <string>
#include <vector>

#include "core/base/types.h"
#include "core/mesh/mesh.h"

namespace sinew {

// The median over edges of their length in `to` against that in `from`, [vertices] each; 1 if no
// edge has a length in `from`.
double EdgeRatio(const Mesh& mesh, std::span<const Vec3f> from, std::span<const Vec3f> to);

// kInvalidArgument: the median of `ratios`, of which there is at least one, is above 2 or below
// 0.5: vertices in another order, or another unit. The message begins with `edges`, such as "rest:
// edges of the animation".
absl::Status CheckEdgeRatios(const std::string& edges, std::vector<double> ratios);

}  // namespace sinew
