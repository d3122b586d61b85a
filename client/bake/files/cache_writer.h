// cache_writer.h - point caches with their manifests and, where needed, rest meshes: all of them or
// none.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "client/bake/files/cache_output.h"
#include "sinew/rig_data.h"

namespace sinew::bake {

// The rest pose as a mesh to apply caches to.
struct RestMesh {
  std::vector<float> positions;                // [rig.vertices() * 3] model space
  std::vector<std::vector<float>> corner_uvs;  // [meshes], each as ObjPart has them
};

// [meshes of the rig] the vertices that a cache has, rising; empty = all of the mesh.
using VertexSelection = std::vector<std::vector<std::uint32_t>>;

struct CacheTarget {
  std::string path;
  CacheFormat format = CacheFormat::kPc2;
  bool overwrite = true;
  // The rest mesh, for RestPath, or for the faces of a format that holds them; null: neither.
  std::shared_ptr<const RestMesh> rest_mesh = {};
  std::vector<std::size_t> meshes = {};  // of the rig, rising; empty = all
  // Null: all vertices. No face has a vertex that is left out.
  std::shared_ptr<const VertexSelection> selection = {};
  // Which axis of the cache points up: points are turned about X. Unspecified = that of the rig.
  client::UpAxis up = client::UpAxis::kUnspecified;
  // [12], the rows of a 3x4 matrix: from model space to the space of the cache's points. Empty =
  // the same. Not together with `up`.
  std::vector<float> space = {};
  std::string space_name = "model";          // for the manifest
  std::vector<std::string> attributes = {};  // kNormals, kVelocities: arrays beside the points
  ManifestUsd usd = {};                      // of .usda, and of parts of one

  bool WritesRest() const { return rest_mesh != nullptr && !IsSceneFormat(format); }
};

// Vertices of all meshes of the target.
std::uint64_t VerticesOf(const CacheTarget& target, const client::RigData& rig);

// Sets what `manifest` says about the points: meshes, vertices, axis and space.
void DescribePoints(const CacheTarget& target, const client::RigData& rig, Manifest& manifest);

// How the values of an array turn with the space of a cache.
enum class VectorKind : std::uint8_t { kPoint, kDirection, kNormal };

// The values of a cache, of [rig.vertices() * 3] values in model space: `values` themselves, or
// those of the target's meshes and vertices, turned and placed, in `scratch`. Normals keep unit
// length.
std::span<const float> ValuesOf(const CacheTarget& target, const client::RigData& rig,
                                VectorKind kind, std::span<const float> values,
                                std::vector<float>& scratch);

// Applies ValuesOf to all arrays of a frame. Not thread-safe.
class FrameSelection {
 public:
  // Both must outlive the spans that Select returns, and the next call ends them.
  FrameArrays Select(const CacheTarget& target, const client::RigData& rig,
                     const FrameArrays& frame);

 private:
  std::vector<float> points_, normals_, velocities_;  // kept to spare allocations
};

// One cache. Not thread-safe. Errors are OutputError where a file cannot be written.
class CacheWriter {
 public:
  // Creates the temporary files, so that an unwritable place is known before any work, and writes
  // the header. `rig` must outlive the writer. info.vertices is not read: `target` chooses them.
  //   kInvalidArgument: counts or numbers the format cannot hold, no vertices, or target.up for a
  //   rig that does not say which axis is up.
  static absl::StatusOr<CacheWriter> Create(const CacheTarget& target, const CacheInfo& info,
                                            const client::RigData& rig);

  // The size of such a cache without its manifest and rest mesh, for CacheOutput::Estimate.
  static std::uint64_t Estimate(const CacheTarget& target, const CacheInfo& info,
                                const client::RigData& rig);

  // The next frame of the whole rig, [rig.vertices() * 3] in model space.
  absl::Status Append(const FrameArrays& frame);
  absl::Status Append(std::span<const float> positions) {
    return Append(FrameArrays{.points = positions});
  }

  // Fills in counts, meshes, times, axis and frame hashes of `manifest`, writes it and the rest
  // mesh of every cache, and then gives all files their names; manifests come last. Returns the
  // size of the caches in bytes.
  static absl::StatusOr<std::uint64_t> Finish(std::span<CacheWriter> writers,
                                              const Manifest& manifest);

 private:
  CacheWriter(CacheTarget target, const client::RigData& rig, CacheOutput output)
      : target_(std::move(target)), rig_(&rig), output_(std::move(output)) {}
  absl::StatusOr<std::string> RestObj();
  absl::Status Close(Manifest manifest);

  CacheTarget target_;
  const client::RigData* rig_;
  CacheOutput output_;
  FrameSelection selection_;
};

}  // namespace sinew::bake
