// cache_output.h - the files of one point cache: the cache, its manifest and, where needed, a rest
// mesh.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/bake/files/array_file.h"
#include "client/bake/files/cache_file.h"
#include "client/bake/files/output_file.h"
#include "client/bake/formats/manifest.h"
#include "client/bake/formats/point_cache.h"

namespace sinew::bake {

// "walk.pc2" -> "walk.pc2.json": the manifest of a cache.
std::string ManifestPath(const std::string& cache);
// "walk.pc2" -> "walk.rest.obj".
std::string RestPath(const std::string& cache);

// Not thread-safe. Errors are OutputError where a file cannot be written.
class CacheOutput {
 public:
  // Creates the temporary files. kInvalidArgument: counts or numbers that
  // the format cannot hold.
  static absl::StatusOr<CacheOutput> Create(const CacheFiles& files, const CacheInfo& info);

  // What Create would report of formats, counts and names, without creating anything.
  static absl::Status Check(const CacheFiles& files, const CacheInfo& info);

  // The size of the cache without its manifest and rest mesh: exact for arrays, else as if every
  // frame were about as `frame`, which has the arrays of CacheFiles::attributes.
  static std::uint64_t Estimate(const CacheFiles& files, const CacheInfo& info,
                                const FrameArrays& frame);

  // The next frame, with the arrays of CacheFiles::attributes.
  absl::Status Append(const FrameArrays& frame);

  // Writes the manifest, with counts, times, hashes and attributes filled in, and the rest mesh,
  // and closes all files. Returns the manifest.
  absl::StatusOr<Manifest> Close(Manifest manifest, std::string_view rest_obj);

  std::uint64_t bytes() const { return data_->bytes(); }  // of the cache

  // Give the files their names: the manifest last, as it vouches for the others. That of an older
  // cache goes first, and files and arrays that only the older cache had, if they are what its
  // manifest says: never those of another program.
  absl::Status CommitData();
  absl::Status CommitManifest();

 private:
  CacheOutput(CacheFiles files, CacheInfo info, std::unique_ptr<CacheFile> data,
              OutputFile manifest);

  void RemoveOlderFiles() const;

  CacheFiles files_;
  CacheInfo info_;
  std::unique_ptr<CacheFile> data_;
  OutputFile manifest_;
  std::optional<OutputFile> rest_;
  std::vector<std::uint64_t> hashes_;
  std::vector<ManifestAttribute> attributes_;
  std::string json_;  // the manifest
  std::vector<ManifestFile> written_files_;
  std::optional<Manifest> older_;  // of the cache that is replaced
};

}  // namespace sinew::bake
