// manifest.h - the JSON beside a point cache: what it was made from, and a hash of every frame.
//
// The hashes are of the decoded positions, so they are the same whatever format, chunking or
// encoding the frames took: `verify` needs the cache and its manifest, nothing else.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinew {

// A run of vertices that belongs to one mesh of the rig.
struct ManifestMesh {
  std::string name;
  std::uint64_t first_vertex = 0;
  std::uint64_t vertices = 0;
};

struct Manifest {
  std::string software_version;
  std::string format;  // "pc2", "mdd", "npy", ...
  std::uint64_t vertices = 0;
  std::uint64_t frames = 0;
  double fps = 24;             // frames per second, > 0
  double first_frame = 0;      // frame number of sample 0
  double frame_step = 1;       // frames between samples, > 0
  double meters_per_unit = 1;  // > 0
  std::string up_axis;         // "Y", "Z" or "" (unknown)
  std::string rig;             // digest: "sha256-<hex>"
  std::string recipe;          // recipe text with every default filled in
  std::string recipe_digest;   // "sha256-<hex>"
  std::string determinism_digest;
  std::vector<std::uint64_t> frame_hashes;  // [frames] HashPositions
  std::vector<ManifestMesh> meshes;         // contiguous, in rig order, together all vertices
};

// XXH3-64 of [V * 3] positions as little-endian float32.
std::uint64_t HashPositions(std::span<const float> positions);

// Pretty JSON with a final newline; keys in a fixed order, same bytes for the same manifest. Bytes
// of names that are not UTF-8 are replaced. kInvalidArgument: frame_hashes or meshes do not match
// the counts, a number is out of range.
absl::StatusOr<std::string> EncodeManifest(const Manifest& manifest);

// Reads what EncodeManifest wrote. Keys it does not know are skipped, so that later versions may
// add some. kInvalidArgument: not JSON, a key missing or of another type, an unknown version, or
// what EncodeManifest refuses.
absl::StatusOr<Manifest> ParseManifest(std::string_view json);

}  // namespace sinew
