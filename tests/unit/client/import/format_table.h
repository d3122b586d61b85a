// format_table.h - the entries of the table of formats in client/docs/formats.md, each with a file
// that shows it.
#pragma once

#include <absl/status/statusor.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "sinew/clip_files.h"
#include "sinew/import.h"
#include "tests/support/gltf_builder.h"

namespace sinew::client {

// An entry of the table.
struct Entry {
  std::string feature, format, state;
  std::function<std::string()> show;  // the state that is seen
};

// "read" if `holds`, else what was wrong.
inline std::string ReadIf(bool holds) {
  return holds ? "read" : "wrong";
}

inline absl::StatusOr<ImportedScene> Import(const std::string& extension, const std::string& bytes,
                                            const ImportOptions& options = {}) {
  return ImportFile(testing::WriteFile("x" + extension, bytes), options);
}

// Translation of joint j in frame i of the first clip, at 4 frames a second.
inline std::vector<float> MovesTo(const ImportedScene& scene, std::size_t joint,
                                  std::size_t frame) {
  const auto clip = SampleClip(scene, 0, {.fps = 4});
  if (!clip.ok() || clip->frames <= frame) return {};
  const float* m = &clip->joint_transforms[(frame * scene.rig.joints.size() + joint) * 12];
  return {m[3], m[7], m[11]};
}

inline bool Near(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](float x, float y) {
           return std::abs(x - y) < 1e-5f;
         });
}

// A clip of another file moves the first joint of `character`, which has the same name there.
inline std::string ClipOf(const std::string& extension, const std::string& bytes,
                          const std::string& character) {
  absl::StatusOr<ImportedScene> scene = Import(extension, character);
  const auto clips = ImportClips(testing::WriteFile("clip" + extension, bytes));
  if (!scene.ok() || !clips.ok() || !AddClips(*clips, *scene).ok()) return "wrong";
  return ReadIf(Near(MovesTo(*scene, 0, 1), {2, 0, 0}));
}

inline bool Says(const ImportedScene& scene, Severity severity, const std::string& words) {
  return std::ranges::any_of(scene.problems, [&](const Problem& problem) {
    return problem.severity == severity && problem.message.find(words) != std::string::npos;
  });
}

inline std::string RefusedIf(const absl::Status& status, const std::string& words) {
  return status.message().find(words) != std::string::npos ? "refused" : "wrong";
}

std::vector<Entry> GltfEntries();
std::vector<Entry> FbxEntries();
std::vector<Entry> ColladaEntries();

}  // namespace sinew::client
