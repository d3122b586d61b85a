// cache_check.h - a point cache against the checksums of its manifest.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "client/bake/files/cache_output.h"
#include "client/bake/files/input_file.h"
#include "client/bake/formats/manifest.h"
#include "client/bake/formats/obj.h"
#include "client/bake/formats/point_cache.h"

namespace sinew::bake {

inline constexpr std::uint64_t kMaxCacheBytes = std::uint64_t{1} << 46;

// Reads the manifest beside a cache. Errors begin with "manifest" or its path.
absl::StatusOr<Manifest> ReadManifest(const std::string& cache);

// The header that a cache with this manifest has.
CacheInfo InfoOf(const Manifest& manifest);

// A frame number as a key of maps and sets: the same for numbers that differ by rounding only.
std::int64_t FrameKey(double frame_number);
std::set<std::int64_t> FrameKeys(const CacheInfo& info);

// kDataLoss: sample `sample` of `path` has another checksum than its manifest says.
absl::Status CheckSample(const std::string& path, const Manifest& manifest, std::uint32_t sample,
                         std::span<const float> positions);

// Called with the fraction that is done; an error ends the work.
using CacheProgress = std::function<absl::Status(double fraction)>;

// What is wrong with a cache.
struct CacheDamage {
  bool header = false;                 // a header or length is not that of the manifest
  std::vector<std::uint32_t> samples;  // rising: damaged, or behind the end of the file
  std::string first;                   // in words

  bool any() const { return header || !samples.empty(); }
};

// The manifest that the array `attribute` of a cache would have by itself.
Manifest ManifestOfAttribute(const Manifest& manifest, const ManifestAttribute& attribute);

// A cache with its arrays, any of which may be cut off or damaged anywhere.
class OpenCache {
 public:
  // Errors of InputFile::Open. kInvalidArgument: a manifest that no cache can have. kDataLoss: an
  // array that is not there.
  static absl::StatusOr<OpenCache> Open(const std::string& path, const Manifest& manifest);

  // Reads every frame. Samples are those of which an array, or the file of a sequence, is damaged;
  // a .usda is checked file by file, without samples.
  absl::StatusOr<CacheDamage> FindDamage(const CacheProgress& progress) const;

  // Frame `sample` of a cache of arrays, or of a sequence; the spans last until the next call.
  // kDataLoss: it is not there whole.
  absl::StatusOr<FrameArrays> Read(std::uint32_t sample);

  std::uint64_t bytes() const;

 private:
  struct Array {
    std::string name;  // of an attribute; empty = the points
    InputFile file;
    Manifest manifest;
    std::vector<float> values = {};  // of one frame
  };
  absl::StatusOr<CacheDamage> FindDamagedFile(const CacheProgress& progress) const;

  std::string path_;
  Manifest manifest_;
  bool is_sequence_ = false;   // a file for each frame
  std::vector<Array> arrays_;  // none for formats that are checked by files
  ObjArrays frame_;            // of a sequence
};

// What the manifest would say without these samples, rising.
Manifest WithoutSamples(const Manifest& manifest, std::span<const std::uint32_t> samples);

// Whether all its files have the sizes that the manifest says, without reading them.
bool HasSizes(const std::string& path, const Manifest& manifest);

// The frames of a cache in one file, which may be cut off or damaged anywhere. kInvalidArgument: a
// manifest that no cache can have.
absl::StatusOr<CacheDamage> FindDamage(std::span<const std::byte> cache, const Manifest& manifest,
                                       const CacheProgress& progress);

// kDataLoss: an array of the frame has another checksum than the manifest says.
absl::Status CheckFrame(const std::string& path, const Manifest& manifest, std::uint32_t sample,
                        const FrameArrays& frame);

// The frame numbers of samples: "12, 40-43, 50-60x2", as ParseFrames and ParseTimes read them.
std::string FramesText(const CacheInfo& info, std::span<const std::uint32_t> samples);
// The frame numbers of all samples, without blanks: "12,40-43".
std::string FramesText(const CacheInfo& info);

}  // namespace sinew::bake
