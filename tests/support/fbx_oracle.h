// fbx_oracle.h - the vertices of an FBX file as ufbx itself deforms them.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <string>

#include "sinew/import.h"

namespace sinew::testing {

struct FbxDeviation {
  double worst = 0;  // largest distance of a vertex, over the diagonal of all in that frame
  std::size_t frames = 0, vertices = 0;
};

// Skins every mesh of `scene` linearly, blend shapes included, in frames of every clip (all, or
// `most` evenly spaced ones), and compares with ufbx's skinned positions of the same file. `bytes`
// is the content of the file.
absl::StatusOr<FbxDeviation> DeviationFromUfbx(const std::string& bytes,
                                               const client::ImportedScene& scene, double fps,
                                               std::int64_t most = 0);

}  // namespace sinew::testing
