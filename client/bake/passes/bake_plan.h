// bake_plan.h - what is left to do of a bake: nothing if its caches are current, or the parts that
// an earlier run has not finished.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "client/bake/character/character_file.h"
#include "client/bake/files/cache_check.h"
#include "client/bake/files/cache_parts.h"
#include "client/bake/passes/bake_manifest.h"
#include "client/bake/passes/bake_targets.h"

namespace sinew::bake {

struct PartsRequest {
  std::optional<std::uint64_t> frames = {};  // of a part
  bool resume = false;                       // keep what an earlier run has finished
  bool only = false;                         // do not join the parts: another command does

  bool enabled() const { return frames || resume || only; }
};

// One pass of frames and what it reads.
struct PassInput {
  const CharacterFile& character;
  const client::ClipData& clip;
  const MotionRequest& motion;
  const SourceDigests& digests;
  const BakePass& pass;
  double progress_begin = 0, progress_end = 1;  // of the whole command
};

// The frames of the clip, divided into parts.
Chunks ChunksOf(const client::ClipData& clip, const PartsRequest& request);

// What there is of a pass. Writes and removes nothing.
class BakePlan {
 public:
  // `origin`: ManifestOf of a validated session. What it refers to must outlive it.
  BakePlan(const PassInput& in, const PartsRequest& parts, Manifest origin)
      : in_(in), parts_(parts), origin_(std::move(origin)) {}

  // Whether all caches are there, complete, and what the bake would write, or with `only` have its
  // frames among theirs, each with its checksum. Errors of ReadMotion and of `progress`.
  absl::StatusOr<bool> IsCurrent(const CacheProgress& progress);

  struct Missing {
    Chunks chunks;  // that no complete part holds for every target
    // Paths of parts that are damaged or out of date, and why.
    std::vector<std::pair<std::string, std::string>> useless;
  };
  // Reads all parts with frames of this bake. Errors of ReadMotion and of `progress`.
  absl::StatusOr<Missing> FindMissing(const CacheProgress& progress);

 private:
  absl::StatusOr<bool> IsCurrent(const CacheTarget& target, const CacheProgress& progress);
  absl::StatusOr<std::string> FaultOf(const CachePart& part, const Manifest& expected,
                                      const CacheProgress& progress);
  absl::StatusOr<std::set<std::int64_t>> KeptFrames(const CacheTarget& target);
  struct Compared {
    std::size_t same = 0, different = 0;  // poses; frames that the clip does not have are neither
  };
  absl::StatusOr<Compared> ComparePoses(const Manifest& manifest);
  Manifest Expected(const CacheTarget& target) const;
  absl::Status FindHashes();  // unless they are known

  const PassInput& in_;
  const PartsRequest& parts_;
  const Manifest origin_;
  std::map<std::int64_t, std::uint64_t> hashes_;  // of the clip's frames, by FrameKey
};

// Removes parts with frames of the clip, which an earlier run has left, and folders that are empty
// then. Returns how many there were.
std::size_t RemoveParts(const std::vector<CacheTarget>& targets, const client::ClipData& clip);

// Removes parts with frames of the clip that are of other bakes than the caches: where the caches
// are current, these are out of date. Folders stay, because other tasks may be writing to them.
std::size_t RemovePartsOfOtherBakes(const std::vector<CacheTarget>& targets,
                                    const client::ClipData& clip);

}  // namespace sinew::bake
