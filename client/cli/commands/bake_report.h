// bake_report.h - what `sinew bake` says about its caches.
#pragma once

#include <absl/time/time.h>

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "client/cli/character/character_file.h"
#include "client/cli/commands/bake_plan.h"
#include "client/cli/commands/bake_targets.h"
#include "client/cli/run/context.h"
#include "core/formats/manifest.h"

namespace sinew::cli {

struct Baked {
  bool current = false;      // the caches were there already
  std::size_t kept = 0;      // frames that an earlier run has baked
  std::size_t received = 0;  // frames of this run
  std::size_t finished = 0;  // of these, frames in complete files
  std::uint64_t bytes = 0;   // of all caches of the pass
  absl::Duration elapsed;
  Manifest manifest;
};

// Prints the paths of a finished pass, or appends its JSON to `caches`.
void Report(const Context& context, const PassInput& in, const PartsRequest& parts,
            const Baked& baked, nlohmann::ordered_json& caches);

// Reports for --dry-run what would be baked. `session` is validated.
void ReportPlan(const Context& context, const PassInput& in, const PartsRequest& parts,
                const Chunks& chunks, const client::Session& session, const Baked& baked,
                nlohmann::ordered_json& caches);

// The whole frames that a pass bakes: with a shutter, those that the samples belong to.
CacheInfo FramesOfPass(const PassInput& in);

// What is left of a pass that failed.
std::string KeptText(const PassInput& in, const PartsRequest& parts, const Baked& baked);

}  // namespace sinew::cli
