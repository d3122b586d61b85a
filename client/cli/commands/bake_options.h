// bake_options.h - the options of `sinew bake`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/cli/base/options.h"
#include "client/cli/character/character_file.h"
#include "client/cli/commands/bake_plan.h"
#include "client/cli/commands/bake_targets.h"

namespace sinew::cli {

inline constexpr char kObjectSpace[] = "object";

struct BakeOptions {
  ReadOptions read;
  std::string file, times;
  std::optional<std::string> shutter;
  std::optional<std::int64_t> samples;
  std::optional<double> velocity_step;
  std::optional<std::string> frames;
  std::vector<std::string> deformers;
  MotionRequest motion;
  BakeOutput output;
  PartsRequest parts;
  bool skip_if_current = false;
  bool dry_run = false;
};

// Declares them. `options` must outlive the set.
void AddBakeOptions(OptionSet& set, BakeOptions& options);

// Fills in what --shutter, --samples, --velocities and --velocity-step say about the motion.
absl::Status ReadSampling(BakeOptions& options);

// Samples of a part, or of a value clip, with as many frames.
std::uint64_t SamplesOfFrames(const BakeOptions& options, std::uint64_t frames);

}  // namespace sinew::cli
