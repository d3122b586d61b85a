// compare.h - quality metrics of deformed frames, and the comparison of several recipes.
//
// Included by sinew/client.h. Every ratio is relative to the rest mesh, also where shapes are
// active: a shape that stretches a face counts as distortion. A metric that is undefined for a mesh
// or a frame is absent.
#pragma once

#include <absl/status/status.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sinew/stream.h"

namespace sinew::client {

// Measurements of one frame.
struct FrameMetrics {
  std::uint64_t frame = 0;                  // the pose's number
  double evaluate_seconds = 0;              // of the deformation alone, on the server
  std::optional<double> volume_ratio;       // signed volume; open borders are closed by fans
  std::optional<double> minimum_thickness;  // smallest ratio of a vertex's distance from its bone
                                            // to the distance at rest
  std::optional<double> bulge;  // largest distance of a vertex from the nearest of its bones, less
                                // that from its own bone at rest, over the limb's radius
  std::optional<double> edge_distortion;   // root mean square of ln(length / rest length)
  std::optional<double> worst_edge;        // largest |ln|
  std::optional<double> area_distortion;   // rms of ln(area / rest area), weighted by rest area
  std::optional<double> flipped_fraction;  // inverted faces, as a fraction of the rest area
  std::optional<double> flipped_beyond_linear;  // the part of it whose faces linear blending of the
                                                // same pose neither inverts nor shrinks to half
  std::optional<std::uint64_t> self_intersections;  // pairs of faces that intersect, but not at
                                                    // rest; also absent if there are too many
  std::optional<double> overlap;    // volume enclosed twice, but not at rest, over the rest volume
  std::optional<double> roughness;  // largest of an edge: how far apart its ends move from where
                                    // `dqs` puts them, over its rest length and the pose's scale.
                                    // Corrections of dqs: about 1 in a crease, more at ledges;
                                    // of other methods it is also their difference from dqs
  std::optional<double> roughness_999;   // 99.9th percentile of the same
  std::optional<double> rough_fraction;  // fraction of the edges above 1
  std::optional<double> jerk;  // rms third difference in time, bounding-box diagonals / s^3
  std::optional<double> pop;   // largest second difference of a vertex relative to its joint, per
                               // degree of the fastest joint, over the limb's radius
  std::optional<double> pop_999;  // 99.9th percentile of the same
};

// A pose that could not be used.
struct PoseProblem {
  std::uint64_t frame = 0;
  absl::Status problem;
};

// One recipe over all poses.
struct TargetMetrics {
  std::string determinism_digest;    // of the resolved recipe and the method versions
  std::vector<FrameMetrics> frames;  // in order
  std::vector<PoseProblem> problems;
  FrameMetrics mean;        // over the frames that have a value; `frame` is 0
  FrameMetrics worst;       // smallest volume and thickness, largest of the others; `frame` is 0
  double bind_seconds = 0;  // time to compute the bound data; 0 = it was read from disk
  std::uint64_t bound_bytes = 0;
};

// Called with the number of frames measured so far and of all frames, over all targets.
using CompareProgress = std::function<void(std::size_t done, std::size_t total)>;

// Options of Compare.
struct CompareOptions {
  PoseLayout layout = {};
  double frames_per_second = 24;   // of the poses, for jerk; > 0
  bool self_intersections = true;  // also measure the two slow metrics: these and overlap
  CompareProgress progress = {};
};

}  // namespace sinew::client
