// visibility.h - whether a point of a bone is visible from a point of the skin through the body.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/types.h"
#include "core/weights/skin.h"

struct RTCDeviceTy;
struct RTCSceneTy;

namespace sinew::weights {

// Casts rays through the skin's triangles. Only front faces block, where the line would re-enter
// the body. So a bone outside the body is visible, but not one beyond the gap between two limbs.
// The skin must outlive it.
class Visibility {
 public:
  // kResourceExhausted: out of memory for the ray tracer.
  static absl::StatusOr<Visibility> Create(const Skin& skin);

  // Faces around the point itself never block. Thread-safe. The result does not depend on the
  // layout of the search tree: its tests are conservative, and each triangle is tested alone.
  bool Sees(std::uint32_t point, const Vec3d& target) const;

  // Upper limit of the bytes held.
  static std::size_t CostBytes(std::size_t triangles) {
    return (std::size_t{1} << 20) + 320 * triangles;
  }

 private:
  struct Release {
    void operator()(RTCDeviceTy* device) const;
    void operator()(RTCSceneTy* scene) const;
  };
  explicit Visibility(const Skin& skin) : skin_(&skin) {}

  const Skin* skin_;
  std::vector<Vec3f> vertices_;  // one more than points: Embree reads 16 bytes per vertex
  std::unique_ptr<RTCDeviceTy, Release> device_;
  std::unique_ptr<RTCSceneTy, Release> scene_;
};

}  // namespace sinew::weights
