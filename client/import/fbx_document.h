// fbx_document.h - loads an FBX file with ufbx, within limits.
#pragma once

#include <absl/status/statusor.h>
#include <ufbx.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/types.h"
#include "sinew/import.h"

namespace sinew::client {

// Immutable, and safe to evaluate from several threads.
using FbxScene = std::shared_ptr<const ufbx_scene>;

// Parses `bytes`, binary or text, of FBX versions 3.0 to 7.7. Transforms, units and axes are left
// as they are in the file; no other file is opened.
//   problems  gets what ufbx repaired
// kInvalidArgument: not FBX, damaged, nodes nested deeper than kMaxNodeDepth, or content that needs
// more memory than a sound file of this size does.
absl::StatusOr<FbxScene> LoadFbx(std::string_view bytes, std::vector<Problem>& problems);

std::string ToString(const ufbx_string& text);
AffineD FbxMatrix(const ufbx_matrix& matrix);

// What ufbx could not do, for a message.
std::string DescribeFbxError(const ufbx_error& error);

}  // namespace sinew::client
