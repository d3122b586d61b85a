// manifest.h - the JSON file beside a point cache: its origin and a hash of every frame.
//
// The hashes are of the decoded positions and independent of format, chunking and encoding, so
// `verify` needs only the cache and its manifest.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinew::bake {

// A contiguous run of vertices of one mesh.
struct ManifestMesh {
  std::string name;
  std::uint64_t first_vertex = 0;
  std::uint64_t vertices = 0;
};

// When the samples of motion blur were taken, in frames relative to each frame.
struct ManifestShutter {
  double open = 0, close = 0;  // open <= close
  std::uint64_t samples = 1;   // of each frame, at even distances, both ends included

  friend bool operator==(const ManifestShutter&, const ManifestShutter&) = default;
};

// An array beside the points, such as "normals".
struct ManifestAttribute {
  std::string name;
  std::vector<std::uint64_t> frame_hashes;  // [frames] HashPositions of its [V * 3] values
};

// How a .usda is laid out.
struct ManifestUsd {
  std::string layout = {};         // "mesh", "over" or "clips"; empty: another format
  std::string root = {};           // path of the prim above the meshes, such as "/hero"
  std::uint64_t clip_samples = 0;  // of "clips": samples of each

  friend bool operator==(const ManifestUsd&, const ManifestUsd&) = default;
};

// A file of a format whose files are checked as a whole.
struct ManifestFile {
  std::string name;  // relative to the folder of the manifest
  std::uint64_t bytes = 0;
  std::uint64_t hash = 0;  // BulkChecksum of all of it
};

struct Manifest {
  std::string software_version;
  std::string format;  // "pc2", "mdd", "npy", ...
  std::uint64_t vertices = 0;
  std::uint64_t frames = 0;
  double fps = 24;                         // frames per second, > 0
  double first_frame = 0;                  // frame number of sample 0
  double frame_step = 1;                   // frames between samples, > 0
  std::vector<double> frame_numbers = {};  // [frames] instead, if the distances are not even
  double meters_per_unit = 1;              // > 0
  std::string up_axis;                     // "Y", "Z" or "" (unknown)
  std::string rig;                         // digest: "sha256-<hex>"
  std::string recipe;                      // recipe text with every default filled in
  std::string recipe_digest;               // "sha256-<hex>"
  std::string determinism_digest;
  // What the poses are from. Unknown in manifests of earlier versions: empty.
  std::string source;              // name of the character file, without its folder
  std::string source_digest;       // "sha256-<hex>" of that file
  std::string clip;                // name of the clip, or of the file of poses
  std::string clip_source;         // name of the file of the clip, if that is not `source`
  std::string clip_source_digest;  // "sha256-<hex>" of that file, else empty
  std::string poses_digest;        // "sha256-<hex>" of the file of poses; empty: a clip of `source`
  std::string controls_digest;     // the same of a file of control values
  std::string space;               // of the points: "model", "object" or "custom"
  // XXH3-64 of another space than "model", of the choice of vertices and of texture coordinates;
  // empty: there are none of these.
  std::string layout_digest;
  std::vector<std::uint64_t> pose_hashes;       // [frames] HashPose, or empty: unknown
  std::vector<std::uint64_t> frame_hashes;      // [frames] HashPositions
  std::vector<ManifestMesh> meshes;             // contiguous, in rig order, covering all vertices
  std::optional<ManifestShutter> shutter = {};  // of motion blur; unset = none
  std::vector<ManifestAttribute> attributes = {};  // in the order "normals", "velocities"
  ManifestUsd usd = {};
  std::vector<ManifestFile> files = {};  // of formats that are checked by files, the cache first
  double velocity_step = 0;  // frames before and after a sample that its velocity is taken from
  std::uint64_t start_frame = 0;  // the number of the clip's first frame, which others count from

  double FrameNumber(std::uint64_t sample) const {
    return frame_numbers.empty() ? first_frame + static_cast<double>(sample) * frame_step
                                 : frame_numbers[sample];
  }
};

// XXH3-64 of [V * 3] positions as little-endian float32.
std::uint64_t HashPositions(std::span<const float> positions);

// XXH3-64 of joint transforms followed by control values, as little-endian float32.
std::uint64_t HashPose(std::span<const float> joint_transforms, std::span<const float> controls);

// XXH3-64 of hashes, for a frame that several poses decide.
std::uint64_t CombineHashes(std::span<const std::uint64_t> hashes);

// Pretty-printed JSON with a final newline; key order is fixed, so equal manifests give equal
// bytes. Invalid UTF-8 in names is replaced. kInvalidArgument: frame_hashes or meshes do not match
// the counts, or a number is out of range.
absl::StatusOr<std::string> EncodeManifest(const Manifest& manifest);

// What tells the origin of two caches apart.
struct Difference {
  std::string what;  // such as "recipe"
  std::string a, b;  // the value of each
};

// Nothing: they were baked from the same character, poses and recipe, with the same results. All
// that a manifest says counts, but for single frames and files, the format, and the names of files
// that it has digests of.
std::optional<Difference> OriginDifference(const Manifest& a, const Manifest& b);

// Parses the output of EncodeManifest. Unknown keys are ignored, so that later versions can add
// some. kInvalidArgument: invalid JSON, a key missing or of another type, an unknown version, or
// values that EncodeManifest rejects.
absl::StatusOr<Manifest> ParseManifest(std::string_view json);

}  // namespace sinew::bake
