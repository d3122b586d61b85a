// bake_report.h - what `sinew bake` says about its caches.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "client/bake/character/character_file.h"
#include "client/bake/formats/manifest.h"
#include "client/bake/passes/bake_plan.h"
#include "client/bake/passes/bake_targets.h"
#include "client/bake/passes/pass_runner.h"
#include "client/cli/run/context.h"

namespace sinew::cli {

// Prints the paths of a finished pass, or appends its JSON to `caches`.
void Report(const Context& context, const bake::PassInput& in, const bake::PartsRequest& parts,
            const bake::Baked& baked, nlohmann::ordered_json& caches);

// Reports for --dry-run what would be baked. `session` is validated.
void ReportPlan(const Context& context, const bake::PassInput& in, const bake::PartsRequest& parts,
                const bake::Chunks& chunks, const client::Session& session,
                const bake::Baked& baked, nlohmann::ordered_json& caches);

// What is left of a pass that failed.
std::string KeptText(const bake::PassInput& in, const bake::PartsRequest& parts,
                     const bake::Baked& baked);

}  // namespace sinew::cli
