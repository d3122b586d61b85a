// coverage.h - parts of a body in which a fitted skeleton has no bone, and assignments without
// them.
//
// The penalties of an assignment do not see a limb that no joint was assigned to: a skeleton with
// both legs in one leg may cost less than the right one.
#pragma once

#include <absl/status/status.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/fit/body.h"
#include "core/fit/embedding.h"
#include "core/fit/skeleton_template.h"
#include "core/fit/spheres.h"
#include "core/parallel/task.h"

namespace sinew::fit {

// A limb without a bone, or what lies beyond the last bone of one.
struct BarePart {
  double length = 0;      // within the body, from the nearest sphere that a bone crosses to the tip
  std::uint16_t tip = 0;  // the sphere farthest from bones
};

// The parts that are at least `length` long, the longest first. parents, places: [joints].
std::vector<BarePart> BareParts(const SphereGraph& graph, std::span<const std::uint32_t> parents,
                                std::span<const Vec3d> places, double length);

// A part that is too thin for spheres, such as a sword.
struct ThinPart {
  double length = 0;  // from the nearest sphere or bone to the tip, as the crow flies
  Vec3d tip;
};

// The parts without a bone that are at least `length` long, the longest first, at most so many.
// Corners of a thick body are nearer to its spheres than a radius, and do not count.
std::vector<ThinPart> ThinParts(const Body& body, const SphereGraph& graph,
                                std::span<const std::uint32_t> parents,
                                std::span<const Vec3d> places, double length, std::size_t most);

// Looks for an assignment that has a leaf joint, or two, in long bare parts of this one, and takes
// it if it leaves at most half of the longest one bare and costs less, bare parts included. Shorter
// parts count as well if a leaf shares the sphere of its parent, so that it has no limb. Joints
// with `only` spheres stay. Takes the penalties that it computed from `effort`. kCancelled.
absl::Status CoverBareParts(const EmbedInput& input, const Task& task, Embedding& embedding,
                            std::size_t& effort);

}  // namespace sinew::fit
