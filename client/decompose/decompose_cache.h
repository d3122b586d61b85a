// decompose_cache.h - a rig and its poses from a point cache and the mesh that it animates.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "client/bake/base/monitor.h"
#include "client/bake/character/character_file.h"
#include "core/decompose/decompose.h"
#include "sinew/rig_data.h"

namespace sinew::bake {

struct DecomposedCache {
  client::RigData rig;  // the mesh at rest, with a skeleton and weights
  std::size_t frames = 0;
  std::vector<float> poses;                  // [frames * joints * 12] joint to model
  std::optional<double> fps;                 // if the cache says it
  std::vector<double> frame_numbers;         // see Animation
  double diagonal = 0;                       // of the box of the mesh at rest
  std::vector<double> iterations;            // see Decomposition::errors
  std::vector<double> connected_iterations;  // see Decomposition::connected_errors
  double gap = 0;                            // see Decomposition
  DecompositionError error;                  // of linear blending of what is returned
  std::vector<Problem> problems;
};

// `rest` is the mesh, at rest in the space of the cache, with or without a skin. Its shapes,
// controls, maps and muscles are left out.
//   Errors of ReadAnimation and Decompose.
absl::StatusOr<DecomposedCache> DecomposeCache(const std::string& cache, const CharacterFile& rest,
                                               const DecomposeOptions& options,
                                               const Monitor& monitor);

}  // namespace sinew::bake
