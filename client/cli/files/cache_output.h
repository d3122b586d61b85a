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

// "walk.npy", "normals" -> "walk.normals.npy": an array beside the points.
std::string AttributePath(const std::string& cache, const std::string& attribute);
inline constexpr char kNormals[] = "normals", kVelocities[] = "velocities";

// One frame: [V * 3] each, empty where a cache does not have it.
struct FrameArrays {
  std::span<const float> points, normals = {}, velocities = {};

  // Of "normals" or "velocities".
  std::span<const float> Attribute(std::string_view name) const {
    return name == kNormals ? normals : velocities;
  }
};

struct CacheFiles {
  std::string path;
  CacheFormat format = CacheFormat::kPc2;
  std::vector<std::string> attributes = {};  // names of arrays, each in a file of its own
  bool has_rest = false, overwrite = true;
};

// Not thread-safe. Errors are OutputError where a file cannot be written.
class CacheOutput {
 public:
  // Creates the temporary files and writes the headers. kInvalidArgument: counts or numbers that
  // the format cannot hold.
  static absl::StatusOr<CacheOutput> Create(const CacheFiles& files, const CacheInfo& info);

  // The next frame, with the arrays of CacheFiles::attributes.
  absl::Status Append(const FrameArrays& frame);

  // Writes the manifest, with counts, times, hashes and attributes filled in, and the rest mesh,
  // and closes all files. Returns the manifest.
  absl::StatusOr<Manifest> Close(Manifest manifest, std::string_view rest_obj);

  std::uint64_t bytes() const { return written_; }  // of the cache

  // Give the files their names: the manifest last, as it vouches for the others. That of an older
  // cache goes first.
  absl::Status CommitData();
  absl::Status CommitManifest();

 private:
  CacheOutput(CacheFormat format, CacheInfo info, OutputFile cache, OutputFile manifest);

  struct Attribute {
    ManifestAttribute described;
    OutputFile file;
  };

  CacheFormat format_;
  CacheInfo info_;
  OutputFile cache_, manifest_;
  std::optional<OutputFile> rest_;
  std::vector<Attribute> attributes_;
  std::string bytes_;  // of one frame; kept to spare allocations
  std::uint64_t written_ = 0;
  std::string json_;  // the manifest
  std::vector<std::uint64_t> hashes_;
};

}  // namespace sinew::cli
