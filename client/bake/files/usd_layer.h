// usd_layer.h - one layer of a .usda cache: prims on the meshes' paths, with faces, time samples or
// neither.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "client/bake/files/cache_file.h"
#include "client/bake/files/spool.h"
#include "client/bake/files/summed_file.h"
#include "client/bake/formats/usda.h"

namespace sinew::bake {

// What all layers of a cache have in common.
struct UsdScene {
  CacheScene meshes;
  std::vector<std::string> attributes;  // kNormals, kVelocities
  std::vector<std::string> root;        // names of the prims down to the parent of the meshes
  std::vector<std::string> prims;       // [meshes] names

  std::string RootPath() const;  // "/hero"
};

// `root`: a path, as IsUsdPrimPath.
UsdScene UsdSceneOf(const CacheScene& meshes, const std::vector<std::string>& attributes,
                    const std::string& root);

// The time samples of a layer, which wait on the disk: a layer has all of one attribute before the
// next one. Move only. Errors of Spool.
class UsdSamples {
 public:
  // `path`: the layer. `scene` must outlive it.
  static absl::StatusOr<UsdSamples> Create(const std::string& path, const UsdScene& scene);

  // kInvalidArgument: a number that is not finite.
  absl::Status Append(double time, const FrameArrays& frame);

  // Writes the samples of attribute `name` of a mesh.
  absl::Status Write(std::size_t mesh, const std::string& name, SummedFile& out);

 private:
  UsdSamples(const UsdScene& scene, std::vector<std::string> names)
      : scene_(&scene), names_(std::move(names)) {}

  const UsdScene* scene_;
  std::vector<std::string> names_;  // of attributes
  std::vector<Spool> spools_;       // [meshes * names]
  std::string text_;                // of one sample; kept to spare allocations
};

enum class UsdContent : std::uint8_t {
  kMesh,       // meshes with faces and time samples: opens by itself
  kOver,       // time samples for meshes that another layer defines
  kTopology,   // meshes with faces; time samples come from elsewhere
  kAttributes  // names and types of the attributes with time samples
};

// Writes a whole layer. `samples`: of kMesh and kOver.
absl::Status WriteUsdLayer(const UsdScene& scene, const UsdLayerInfo& info, UsdContent content,
                           UsdSamples* samples, SummedFile& out);

// Bytes of the faces of all meshes, and of the time samples of a frame with finite numbers.
std::uint64_t UsdFaceBytes(const UsdScene& scene);
std::uint64_t UsdSampleBytes(const UsdScene& scene, double time, const FrameArrays& frame);

// The prims down to the root, around `body`, with `metadata` of the innermost one.
std::string UsdRootPrims(const UsdScene& scene, const std::string& specifier,
                         const std::string& metadata, const std::string& body);

}  // namespace sinew::bake
