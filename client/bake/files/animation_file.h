// animation_file.h - reads the points of a mesh animation: a point cache of any program, a .usda of
// this one, or a sequence of .obj files.
#pragma once

#include <absl/status/statusor.h>

#include <optional>
#include <string>
#include <vector>

#include "client/bake/base/monitor.h"
#include "client/bake/formats/manifest.h"
#include "client/bake/formats/npy.h"
#include "sinew/problem.h"
#include "sinew/rig_data.h"

namespace sinew::bake {

struct Animation {
  PointArray points;
  std::optional<Manifest> manifest;  // of a cache that has one
  // What the manifest says; else the times of an .mdd, the step of a .pc2, the names of .obj files.
  std::optional<double> fps;
  std::vector<double> frame_numbers;  // [frames] rising
  // Warnings: times that are wrong, and places so far away that float32 does not hold the motion.
  std::vector<client::Problem> problems;
};

// Reads `path` by its extension: .pc2, .mdd, .npy, .usda, or .obj with a place for the number of
// the frame, as in FrameName. If there is a manifest beside it, every frame must have its checksum.
//
//    rest  the mesh that is animated; .obj files must have its faces. `max_points` bounds vertices
//          x frames.
//
// kInvalidArgument: another format, other counts than those of the mesh, other faces, numbers of
// frames with gaps of different size, a file that does not read, a .usda without a manifest, places
// that are not finite or a million times farther from the mesh than it is large.
// kNotFound: no such file. kDataLoss: not what its manifest says. Errors of `monitor`.
absl::StatusOr<Animation> ReadAnimation(const std::string& path, const client::Mesh& rest,
                                        std::uint64_t max_points, const Monitor& monitor);

}  // namespace sinew::bake
