// cache_output.h - the files of one point cache: the cache, its manifest and, where needed, a rest
// mesh.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "client/cli/files/output_file.h"
#include "core/formats/manifest.h"
#include "core/formats/point_cache.h"

namespace sinew::cli {

// "walk.pc2" -> "walk.pc2.json": the manifest of a cache.
std::string ManifestPath(const std::string& cache);
// "walk.pc2" -> "walk.rest.obj".
std::string RestPath(const std::string& cache);

// Not thread-safe. Errors are OutputError where a file cannot be written.
class CacheOutput {
 public:
  // Creates the temporary files and writes the header. kInvalidArgument: counts or numbers that the
  // format cannot hold.
  static absl::StatusOr<CacheOutput> Create(const std::string& path, CacheFormat format,
                                            const CacheInfo& info, bool has_rest, bool overwrite);

  // The next frame, [info.vertices * 3].
  absl::Status Append(std::span<const float> points);

  // Writes the manifest, with counts, times and hashes filled in, and the rest mesh, and closes all
  // files. Returns the manifest.
  absl::StatusOr<Manifest> Close(Manifest manifest, std::string_view rest_obj);

  std::uint64_t bytes() const { return written_; }  // of the cache

  // Give the files their names: the manifest last, as it vouches for the others. That of an older
  // cache goes first.
  absl::Status CommitData();
  absl::Status CommitManifest();

 private:
  CacheOutput(CacheFormat format, CacheInfo info, OutputFile cache, OutputFile manifest,
              std::optional<OutputFile> rest);

  CacheFormat format_;
  CacheInfo info_;
  OutputFile cache_, manifest_;
  std::optional<OutputFile> rest_;
  std::string bytes_;  // of one frame; kept to spare allocations
  std::uint64_t written_ = 0;
  std::string json_;  // the manifest
  std::vector<std::uint64_t> hashes_;
};

}  // namespace sinew::cli
