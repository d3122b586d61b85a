// render.h - pictures of meshes without GPU or display: ray-traced clay with soft shadows, on
// Embree.
//
// The lighting is chosen to show shape: a warm key light from the upper left of the camera, a cool
// fill, ambient occlusion, a contact shadow on the ground. Back faces, and faces whose given
// normals point inwards, are turquoise (kWrongSideColour), unless the mesh has colours, which both
// sides show. Sampling uses fixed patterns, so one
// machine gives the same bytes for the same input on any number of threads.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "client/render/camera.h"
#include "client/render/image.h"

namespace sinew::client {

inline constexpr std::uint32_t kMaxRenderSide = 8192;
// Colour before lighting; a hue that ramps, muscles and vertex status do not use.
inline constexpr Rgb kWrongSideColour = {30, 160, 170};

// Without normals they are computed from the faces, keeping edges sharper than 60 degrees; without
// colours the mesh is clay.
struct MeshView {
  std::span<const float> positions;              // [V * 3] scene units, finite, V >= 1
  std::span<const float> normals;                // [V * 3] or empty
  std::span<const std::uint32_t> face_sizes;     // [F] each >= 3; empty = all triangles
  std::span<const std::uint32_t> face_vertices;  // [sum of face sizes], outside counter-clockwise
  std::span<const float> colours;                // [V * 3] sRGB in [0, 1] or empty
};

struct RenderOptions {
  std::uint32_t width = 1280;     // pixels, [1, kMaxRenderSide]
  std::uint32_t height = 720;     // pixels, [1, kMaxRenderSide]
  std::optional<Rgb> background;  // one colour; unset = a light grey gradient
  bool ground = true;             // shadow on the ground (never when the camera is below it)
  bool wire = false;              // edges of the faces drawn over the surface
  // Drawn inside or behind the mesh, which becomes translucent. Empty = the mesh is solid.
  MeshView inside{};
  // Set to whether the picture shows a wrong side; may be null.
  bool* wrong_side_seen = nullptr;
  // Called occasionally with the finished fraction; returning false stops with kCancelled.
  std::function<bool(double)> progress{};
};

// Draws `mesh` as `camera` sees it. Faces are cut into triangles as fans from their first corner.
// Uses the threads of the caller's oneTBB arena; 1280 x 720 of a character takes one to two seconds
// of one core. kInvalidArgument: empty mesh, mismatched sizes, an index out of range, a
// value not finite, a camera without direction, options out of range. kResourceExhausted: Embree
// ran out of memory. kInternal: another Embree error.
absl::StatusOr<Image> Render(const MeshView& mesh, const Camera& camera,
                             const RenderOptions& options);

}  // namespace sinew::client
