// join_parts.h - a cache of the parts that processes have baked: which frames it has to have, and
// whether the parts are still needed.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "client/cli/files/cache_parts.h"

namespace sinew::cli {

struct JoinRequest {
  std::string cache;
  CacheFormat format = CacheFormat::kPc2;
  bool overwrite = true;
  // All frames of the cache, rising. Empty = those of the parts, which have to be at even
  // distances: a gap may be a part that is missing.
  std::vector<std::int64_t> frames = {};
  // Parts are removed only where `frames` says that none is still to come, and not with this.
  bool keep_parts = false;
};

struct JoinedParts {
  JoinedCache cache = {};
  std::size_t parts = 0;
  bool removed = false;
};

// Errors of JoinParts. kNotFound: there are no parts. kFailedPrecondition: without `frames`, a gap
// or frames with fractions.
absl::StatusOr<JoinedParts> JoinAll(const JoinRequest& request, const CacheProgress& progress);

}  // namespace sinew::cli
