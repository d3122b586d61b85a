// cache_file.h - the data of a cache as one format stores it: an interface with one implementation
// per family of formats.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "client/bake/files/scene_mesh.h"
#include "client/bake/formats/manifest.h"
#include "client/bake/formats/point_cache.h"

namespace sinew::bake {

inline constexpr char kNormals[] = "normals", kVelocities[] = "velocities";

// One frame: [V * 3] each, empty where a cache does not have it.
struct FrameArrays {
  std::span<const float> points, normals = {}, velocities = {};

  // The array called "normals" or "velocities".
  std::span<const float> Attribute(std::string_view name) const {
    return name == kNormals ? normals : velocities;
  }
};

// Which files a cache consists of, besides its manifest.
struct CacheFiles {
  std::string path;
  CacheFormat format = CacheFormat::kPc2;
  std::vector<std::string> attributes = {};  // kNormals, kVelocities: arrays beside the points
  bool has_rest = false, overwrite = true;
  std::shared_ptr<const CacheScene> scene = {};  // of formats that hold meshes
  ManifestUsd usd = {};                          // of .usda
};

// Not thread-safe. Errors are OutputError where a file cannot be written.
class CacheFile {
 public:
  CacheFile() = default;
  CacheFile(const CacheFile&) = delete;
  CacheFile& operator=(const CacheFile&) = delete;
  virtual ~CacheFile() = default;

  // The next frame, with the arrays of CacheFiles::attributes.
  virtual absl::Status Append(const FrameArrays& frame) = 0;
  // After the last frame: everything is on the disk.
  virtual absl::Status Close() = 0;
  // The files get their names.
  virtual absl::Status Commit() = 0;
  virtual std::uint64_t bytes() const = 0;  // written so far
  // Files of a format that checks them as a whole, else none; after Close.
  virtual std::vector<ManifestFile> files() const { return {}; }
};

}  // namespace sinew::bake
