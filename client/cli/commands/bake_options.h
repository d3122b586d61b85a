// bake_options.h - the options of `sinew bake`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/bake/character/character_file.h"
#include "client/bake/passes/bake_plan.h"
#include "client/bake/passes/bake_targets.h"
#include "client/cli/base/options.h"

namespace sinew::cli {

inline constexpr char kObjectSpace[] = "object";

struct BakeOptions {
  bake::ReadOptions read;
  std::string file;
  std::optional<std::string> shutter;
  std::optional<std::int64_t> samples;
  std::optional<double> velocity_step;
  std::optional<std::string> frames;
  std::vector<std::string> deformers;
  bake::MotionRequest motion;
  bake::BakeOutput output;
  bake::PartsRequest parts;
  bool dry_run = false;
};

// Declares them. `options` must outlive the set.
void AddBakeOptions(OptionSet& set, BakeOptions& options);

// Fills in what --shutter, --samples, --velocities and --velocity-step say about the motion, whose
// frames are known.
absl::Status ReadSampling(BakeOptions& options);

// Samples of a part, or of a value clip, with as many frames.
std::uint64_t SamplesOfFrames(const BakeOptions& options, std::uint64_t frames);

}  // namespace sinew::cli
