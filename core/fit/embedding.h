// embedding.h - which sphere of a body each joint of a reduced skeleton belongs to.
//
// The discrete optimisation of Baran and Popovic 2007, section 4: a best-first search over partial
// assignments with a lower bound of what is still to come, so the result is the best one for its
// nine penalties.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/fit/reduced_skeleton.h"
#include "core/fit/spheres.h"
#include "core/parallel/task.h"

namespace sinew::fit {

struct Embedding {
  std::vector<std::uint16_t> spheres;  // [reduced joints]
  double penalty = 0;
};

struct EmbedInput {
  const ReducedSkeleton& skeleton;
  const SphereGraph& graph;
  Vec3d up;
  // [reduced joints] the only spheres that a joint may have; none: all that suit it.
  std::span<const std::vector<std::uint16_t>> only;
};

// Penalties that a search computes, each of a joint in a partial assignment. Right fits of real
// characters need 2,000,000 at most, and most of them 60,000.
inline constexpr std::size_t kMaxEffort = 4000000;

// How far a search came.
struct EmbedReach {
  std::size_t joints = 0;  // that found a place, at most
  bool exhausted = false;  // kMaxEffort or a full queue ended it, or none was left
};

// The assignment with the least penalty, if it is at most `most` <= 1 and found before the search
// is exhausted, which a body that resembles the template does not come near. Raises `reach`, and
// takes the penalties that it computed from `effort`. kCancelled.
absl::StatusOr<std::optional<Embedding>> Embed(const EmbedInput& input, double most,
                                               const Task& task, EmbedReach& reach,
                                               std::size_t& effort);

// [template joints] the centres of the spheres of an assignment, with the joints that divide its
// chains; a chain within one sphere keeps some of the template's length.
std::vector<Vec3d> PlacesOf(const ReducedSkeleton& skeleton, const SphereGraph& graph,
                            const Embedding& embedding);

// The points of a path through the centres of `spheres` at the given parts of its length.
std::vector<Vec3d> PointsOfPath(const SphereGraph& graph, std::span<const std::uint16_t> spheres,
                                std::span<const double> parts);

}  // namespace sinew::fit
