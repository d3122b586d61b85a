// cache_parts.h - a cache that is baked in parts, by one process or by many.
//
// A part of "walk.pc2" is an ordinary cache with some of its frames, in the folder
// "walk.pc2.parts". Parts appear whole or not at all, so processes that bake the same frames do no
// harm: they write the same bytes.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "client/bake/files/cache_check.h"
#include "client/bake/formats/manifest.h"
#include "client/bake/formats/point_cache.h"

namespace sinew::bake {

// Parts hold any frames of any cache format.
inline constexpr CacheFormat kPartFormat = CacheFormat::kNpy;

inline constexpr char kPartsSuffix[] = ".parts";

// "walk.pc2" -> "walk.pc2.parts".
std::string PartsFolder(const std::string& cache);

// Creates it unless it is there.
absl::Status CreatePartsFolder(const std::string& cache);

// The part with these frames, rising: "walk.pc2.parts/0-49.npy".
std::string PartPath(const std::string& cache, std::span<const double> frame_numbers);

// A part, or the cache itself, of which some frames are used.
struct CachePart {
  std::string path;
  Manifest manifest;
  bool is_cache = false;
};

struct FoundParts {
  std::vector<CachePart> parts;  // by their first frame
  // Paths of parts whose manifest cannot be read, and why.
  std::vector<std::pair<std::string, absl::Status>> unreadable;
};

// All parts that have a manifest; none without a folder. A folder that cannot be read is
// unreadable.
FoundParts FindParts(const std::string& cache);

// The frames of a sequence of files that are intact, without those that `parts` have. Unset: there
// is none, or it is of another bake.
std::optional<CachePart> IntactSequence(const std::string& cache, std::span<const CachePart> parts);

struct JoinedCache {
  Manifest manifest;
  std::uint64_t bytes = 0;
  std::set<std::string> parts = {};  // paths of those that its frames are from
};

// Whether a part or cache has one of these frames, FrameKeys.
bool HasAnyOf(const Manifest& manifest, const std::set<std::int64_t>& frames);

// Writes `cache` with the frames of `info`, each from a part that has it, and its manifest and rest
// mesh. Parts without any of these frames are not looked at. Every frame is checked. The result is
// the same, byte for byte, as of a bake in one piece. info.vertices is not read.
//   kFailedPrecondition: frames that no part has, or parts of different bakes. kDataLoss: a damaged
//   part. Its path and frame are in the message.
absl::StatusOr<JoinedCache> JoinParts(const std::string& cache, CacheFormat format, CacheInfo info,
                                      std::span<const CachePart> parts, bool overwrite,
                                      const CacheProgress& progress);

// Removes the files of a part; its manifest last, because without it the others are not found.
void RemovePart(const std::string& path);

// Removes what processes that were killed have left, and the folder if it is empty then.
void RemovePartsFolder(const std::string& cache);

}  // namespace sinew::bake
