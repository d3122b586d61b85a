// join_parts.h - the end of a bake in parts: the cache is written, and parts that are in it are
// removed.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/bake/files/cache_check.h"
#include "client/bake/files/cache_parts.h"

namespace sinew::bake {

struct JoinRequest {
  std::string cache;
  CacheFormat format = CacheFormat::kPc2;
  bool overwrite = true;
  // The frames of the cache, without vertices. Unset = those of the parts, which have to be at even
  // distances: a gap may be a part that is missing. Only where they are set it is known that no
  // part is still to come, so that parts can be removed.
  std::optional<CacheInfo> frames = {};
  // Numbers of the cache's whole frames, rising: their samples are those of the parts' shutter,
  // if they have one. Empty = `frames`.
  std::vector<std::int64_t> frame_numbers = {};

  bool names_frames() const { return frames || !frame_numbers.empty(); }
};

struct JoinOutcome {
  JoinedCache cache;
  std::size_t used = 0;     // parts that frames of the cache are from
  std::size_t removed = 0;  // parts whose frames are all in the cache
  std::size_t kept = 0;     // the others
  bool was_joined = false;  // an earlier call has written the cache
};

// Writes the cache and then removes the parts. If it ended between the two, the next call removes
// them. Named frames that no part has are taken from the cache, if it is of the same bake. Errors
// of JoinParts. kNotFound: there are no parts. kFailedPrecondition: without `frames`, a gap, or
// samples of a shutter.
absl::StatusOr<JoinOutcome> JoinAndRemoveParts(const JoinRequest& request,
                                               const CacheProgress& progress);

}  // namespace sinew::bake
