// tracer.h - rays against a surface, sixteen at a time: RAII wrappers for Embree.
//
// Coordinates are the surface's own (Surface::ToLocal). The tree is built by one thread, so that
// equal surfaces and rays give equal hits with any number of threads.
#pragma once

#include <absl/status/statusor.h>
#include <embree3/rtcore.h>

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>

#include "client/render/surface.h"

namespace sinew::client {

inline constexpr std::size_t kPacket = 16;

// The points origin + t direction, 0 <= t <= length.
struct Ray {
  Eigen::Vector3f origin;
  Eigen::Vector3f direction;  // of any length but 0
  float length = 1e30f;       // in units of `direction`
};

// Where a ray meets a triangle, from either side.
struct Hit {
  std::uint32_t triangle = 0;      // index into Surface::triangles
  std::array<float, 3> weights{};  // of the corners, sum 1
  float distance = 0;              // in units of the ray's direction
};

// A packet of rays; lanes without a ray stay empty.
using Rays = std::array<std::optional<Ray>, kPacket>;

// A surface and its tree. Thread-safe once created.
class Tracer {
 public:
  // kResourceExhausted: no memory. kInternal: Embree failed.
  static absl::StatusOr<Tracer> Create(Surface surface);

  const Surface& surface() const { return surface_; }

  // The nearest hit of each ray; nothing for misses and empty lanes.
  std::array<std::optional<Hit>, kPacket> Nearest(const Rays& rays) const;

  // Bit k: ray k is blocked; 0 for empty lanes. Cheaper than Nearest.
  std::uint32_t Blocked(const Rays& rays) const;

 private:
  struct Release {
    void operator()(RTCDevice device) const { rtcReleaseDevice(device); }
    void operator()(RTCScene scene) const { rtcReleaseScene(scene); }
  };
  using Device = std::unique_ptr<std::remove_pointer_t<RTCDevice>, Release>;
  using Scene = std::unique_ptr<std::remove_pointer_t<RTCScene>, Release>;

  Tracer(Surface surface, Device device, Scene scene)
      : surface_(std::move(surface)), device_(std::move(device)), scene_(std::move(scene)) {}

  Surface surface_;  // Embree reads its points and triangles, which stay in place when it is moved
  Device device_;
  Scene scene_;
};

}  // namespace sinew::client
