// appended_clips.h - what all ways to move a scene by clips of another one have in common.
#pragma once

#include <absl/functional/function_ref.h>
#include <absl/status/status.h>

#include <memory>
#include <string>
#include <vector>

#include "client/import/motion.h"
#include "sinew/import.h"

namespace sinew::client {

// The scene's label, or "the character".
const std::string& LabelOf(const ImportedScene& scene);

// The first names in quotes.
std::string Quoted(const std::vector<std::string>& names);

// kInvalidArgument: `from` has no clip, or `to` cannot be moved.
absl::Status CheckClips(const ImportedScene& from, const ImportedScene& to);

// Adds the clips of `from` to `to`, under names that are free, each as the motion that `convert`
// makes of it; then `problems`, and those of `from` that are not of its meshes.
void AppendClips(
    const ImportedScene& from, std::vector<Problem> problems,
    absl::FunctionRef<std::shared_ptr<const Motion>(std::shared_ptr<const Motion>)> convert,
    ImportedScene& to);

}  // namespace sinew::client
