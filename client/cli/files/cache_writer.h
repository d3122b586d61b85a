// cache_writer.h - a point cache with its manifest and, where needed, its rest mesh: all of them or
// none.
#pragma once

#include <absl/status/statusor.h>

#include <optional>
#include <span>
#include <string>

#include "client/cli/files/output_file.h"
#include "core/formats/manifest.h"
#include "core/formats/point_cache.h"
#include "sinew/rig_data.h"

namespace sinew::cli {

// "walk.pc2" -> "walk.pc2.json": the manifest of a cache.
std::string ManifestPath(const std::string& cache);
// "walk.pc2" -> "walk.rest.obj".
std::string RestPath(const std::string& cache);

struct CacheTarget {
  std::string path;
  CacheFormat format = CacheFormat::kPc2;
  bool overwrite = true;
  bool rest_mesh = false;  // write RestPath too
};

// Not thread-safe. Errors are OutputError where a file cannot be written.
class CacheWriter {
 public:
  // Creates the temporary files, so that an unwritable place is known before any work, and writes
  // the header.
  //   kInvalidArgument: counts or numbers the format cannot hold.
  static absl::StatusOr<CacheWriter> Create(const CacheTarget& target, const CacheInfo& info);

  // The next frame, [vertices * 3].
  absl::Status Append(std::span<const float> positions);

  // Fills in counts, times and hashes of `manifest`, writes it and the rest mesh, and gives all
  // files their names; the manifest comes last. Returns the size of the cache in bytes.
  absl::StatusOr<std::uint64_t> Finish(Manifest manifest, const client::RigData& rig);

 private:
  CacheWriter(CacheTarget target, CacheInfo info, OutputFile cache, OutputFile manifest,
              std::optional<OutputFile> rest);
  absl::Status WriteRest(const client::RigData& rig);

  CacheTarget target_;
  CacheInfo info_;
  OutputFile cache_, manifest_;
  std::optional<OutputFile> rest_;
  std::string bytes_;  // of one frame, kept to spare allocations
  std::uint64_t written_ = 0;
  std::vector<std::uint64_t> hashes_;
};

}  // namespace sinew::cli
