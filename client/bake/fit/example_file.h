// example_file.h - the points of a cache, all frames at once.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/bake/base/monitor.h"
#include "client/bake/formats/manifest.h"

namespace sinew::bake {

struct ExampleFile {
  std::uint64_t frames = 0;
  std::vector<float> points;         // [frames][vertices * 3]
  std::optional<Manifest> manifest;  // none: a .npy of another program
};

// A cache of arrays or a sequence of .obj with its manifest, whose checksums must be right; or a
// .npy of float32 (frames, vertices, 3) without one.
//   kInvalidArgument: other vertices than `vertices`, more than `max_points` of all frames, another
//   space than that of the model, another kind of file; kDataLoss: damaged; errors of InputFile and
//   of the monitor.
absl::StatusOr<ExampleFile> ReadExamples(const Monitor& monitor, const std::string& path,
                                         std::uint64_t vertices, std::uint64_t max_points);

}  // namespace sinew::bake
