// compare.h - what deformed frames are measured by, and the comparison of several deformers.
//
// Included by sinew/client.h. Every ratio is against the rest mesh, also where shapes moved
// it: what they stretch counts as stretched. What has no meaning for a mesh or a frame is absent.
#pragma once

#include <absl/status/status.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sinew::client {

struct FrameMetrics {
  std::uint64_t frame = 0;                  // the pose's number
  double evaluate_seconds = 0;              // of the deformer alone, on the server
  std::optional<double> volume_ratio;       // signed volume; open borders are closed by fans
  std::optional<double> minimum_thickness;  // smallest distance of a vertex from the bone that
                                            // carries it, over its rest distance
  std::optional<double> bulge;              // how far skin stands out of the body that its bones
                                            // alone would carry along, over the limb's radius;
                                            // largest. Absent: a mesh that encloses nothing
  std::optional<double> edge_distortion;    // root mean square of ln(length / rest length)
  std::optional<double> worst_edge;         // largest |ln|
  std::optional<double> area_distortion;    // rms of ln(area / rest area), weighted by rest area
  std::optional<double> flipped_fraction;   // of the rest area: faces turned against their bones
  std::optional<double> flipped_beyond_linear;  // the part of it that linear blending of the same
                                                // pose neither turns nor shrinks to half
  std::optional<std::uint64_t> self_intersections;  // pairs of faces that cross, not so at rest;
                                                    // absent also where they are too many
  std::optional<double> overlap;     // volume enclosed twice, not so at rest, over that at rest
  std::uint32_t replayed_steps = 0;  // recipes with state: as FrameView::replayed_steps
  std::optional<double> jerk;        // rms third difference in time, bounding-box diagonals / s^3
};

// A pose that could not be used.
struct PoseProblem {
  std::uint64_t frame = 0;
  absl::Status problem;
};

// One deformer over all poses.
struct TargetMetrics {
  std::string determinism_digest;    // digest of the resolved recipe and method versions
  std::vector<FrameMetrics> frames;  // in order
  std::vector<PoseProblem> problems;
  FrameMetrics mean;        // over the frames that have a value; `frame` is 0
  FrameMetrics worst;       // smallest volume and thickness, largest of the others; `frame` is 0
  double bind_seconds = 0;  // what computing the bound data took; 0 = it was read back from disk
  std::uint64_t bound_bytes = 0;
};

struct CompareOptions {
  double frames_per_second = 24;   // of the poses as they are given, for jerk; > 0
  bool self_intersections = true;  // the slow measures: these and overlap
};

// Called with what has been measured and will be measured in all, frames times targets.
using CompareProgress = std::function<void(std::size_t done, std::size_t total)>;

}  // namespace sinew::client
