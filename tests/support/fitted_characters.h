// fitted_characters.h - built-in templates fitted to characters, and how far the joints are from
// those of the files.
#pragma once

#include <absl/status/statusor.h>

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/fit/fit_skeleton.h"

namespace sinew::testing {

struct FitCharacter {
  std::string file, skeleton;
  // The joint of the file for each joint of the template. If empty, JointRoles finds them.
  std::map<std::string, std::string> joints = {};
  // Errors of Pinocchio's library at the joints that its figures count, if they are known.
  double published_mean = 0, published_largest = 0;
};

// The shared models that are fitted; some of the files may be missing.
std::span<const FitCharacter> FitCharacters();

struct JointError {
  std::string joint;
  double percent = 0;  // of the height
  // Whether the published figures count it: hips, thighs, knees, ankles, shoulders, elbows and
  // hands of a human, feet, heels and fore knees of a horse.
  bool published = false;
};

struct FittedCharacter {
  std::string label;
  std::size_t faces = 0;
  double seconds = 0;
  absl::StatusOr<SkeletonFit> fit;
  std::vector<JointError> errors;  // of the joints that are known in the file
};

// The mean of the joints, or of the published ones; 0 if there are none.
double MeanError(std::span<const JointError> errors, bool published);

// Drops the skin of the file and fits. `divided` times, each triangle becomes four. Errors are
// those of the file.
absl::StatusOr<FittedCharacter> Fit(const FitCharacter& character,
                                    const std::filesystem::path& path, int divided = 0);

}  // namespace sinew::testing
