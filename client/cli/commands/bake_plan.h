// bake_plan.h - what is left to do of a bake: nothing if its cache is current, or the parts that an
// earlier run has not finished.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/cli/character/character_file.h"
#include "client/cli/files/cache_writer.h"
#include "client/cli/run/context.h"
#include "sinew/rig_data.h"

namespace sinew::cli {

struct PartsRequest {
  std::optional<std::uint64_t> frames = {};  // of a part
  bool resume = false;                       // keep what an earlier run has finished
  bool only = false;                         // do not join the parts: another command does

  bool enabled() const { return frames || resume || only; }
};

// The manifest of a cache before its frames are known: what `origin` says, and the target.
Manifest ExpectedManifest(const CacheTarget& target, const client::RigData& rig,
                          const Manifest& origin);

// Whether the cache is there, complete, and what this bake would write. Its frames are not read:
// that is what `sinew verify` does. `preroll` as Manifest::preroll, if the recipe has state.
bool IsCurrent(const CacheTarget& target, const client::RigData& rig, const client::ClipData& clip,
               const Manifest& origin, const std::string& preroll);

// Indices of the frames of a clip, divided into parts, each of `request.frames` frames.
using Chunks = std::vector<std::vector<std::size_t>>;
Chunks ChunksOf(const client::ClipData& clip, const PartsRequest& request);

// Those that no complete part holds for every target. Parts that are damaged or out of date are
// removed, with a note.
Chunks MissingChunks(const Context& context, const std::vector<CacheTarget>& targets,
                     const client::RigData& rig, const client::ClipData& clip,
                     const Manifest& origin, const std::string& preroll,
                     const PartsRequest& request);

// Removes the parts of an earlier run.
void RemoveParts(const std::vector<CacheTarget>& targets);

}  // namespace sinew::cli
