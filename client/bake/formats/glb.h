// glb.h - the JSON of a binary glTF whose meshes move by morph targets, and the header before it.
//
// The binary chunk has four views, in this order: vectors (float32 x 3: points, normals and their
// differences), indices (uint32), motion (float32: times and weights) and texture coordinates
// (float32 x 2).
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sinew::bake {

struct GlbMesh {
  std::string name;
  std::uint64_t vertices = 0;
  std::uint64_t first_index = 0, indices = 0;  // of triangles, in the view of indices
  std::uint64_t first_uv = 0;                  // in the view of texture coordinates
  bool has_uvs = false;
};

struct GlbScene {
  std::string name;            // of the node above the meshes
  double meters_per_unit = 1;  // glTF is in metres: that node scales
  bool z_up = false;           // glTF has Y up: it turns
  std::vector<GlbMesh> meshes;
  std::vector<float> times;               // [frames] seconds, rising, from 0
  std::vector<std::string> target_names;  // [frames - 1]
  std::uint64_t vector_bytes = 0, index_bytes = 0, motion_bytes = 0, uv_bytes = 0;
};

// Collects what the frames have, and then writes everything before the binary chunk. Move only.
class GlbDocument {
 public:
  explicit GlbDocument(std::size_t meshes);
  GlbDocument(GlbDocument&&) noexcept;
  ~GlbDocument();

  // Vectors [V * 3] at `offset` of their view: the attribute "POSITION" or "NORMAL" of a mesh, or
  // its difference in the next morph target. Those of a target follow each other.
  void AddBase(std::size_t mesh, const char* attribute, std::uint64_t offset,
               std::span<const float> values);
  void AddTarget(std::size_t mesh, std::size_t target, const char* attribute, std::uint64_t offset,
                 std::span<const float> values);

  // Header, JSON and the header of the binary chunk. Call once. kInvalidArgument: 4 GiB or more.
  absl::StatusOr<std::string> Encode(const GlbScene& scene);

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

// What precedes the binary chunk of `bytes` bytes, whose end the caller pads with zeros to a
// multiple of 4: the header, the JSON, and the header of the chunk. kInvalidArgument: 4 GiB or
// more.
absl::StatusOr<std::string> GlbHead(std::string json, std::uint64_t bytes);

}  // namespace sinew::bake
