// render.h - pictures of meshes without GPU or display: ray-traced clay with soft shadows, on
// Embree.
//
// The look is made to show shape: a warm key light from the upper left of the camera, a cool fill,
// ambient occlusion, a contact shadow on the ground. What is wrong shows: back faces, and faces
// whose given normals point inwards, are turquoise (kWrongSideColour). Sampling uses fixed
// patterns, so one machine gives the same bytes for the same input on any number of threads.
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
// Before any light falls on it; a hue that neither ramps, muscles nor vertex status have.
inline constexpr Rgb kWrongSideColour = {30, 160, 170};

// Without normals they are smoothed from the faces, edges sharper than 60 degrees kept; without
// colours it is clay.
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
  std::uint32_t samples = 16;     // rays a pixel, [1, 1024], rounded up to a multiple of 16
  std::optional<Rgb> background;  // one colour; unset = a light grey gradient
  bool ground = true;             // shadow on the ground (never when the camera is below it)
  bool wire = false;              // edges of the faces drawn over the surface
  // Drawn as well, and the mesh then like coloured glass: its front surface lets what stands within
  // or behind it shine through. Empty = the mesh is solid.
  MeshView inside{};
  // Set to whether anything in the picture is tinted as a wrong side; null = nobody asks.
  bool* wrong_side_seen = nullptr;
  // Called now and then with the part that is done, up to 1; false stops with kCancelled.
  std::function<bool(double)> progress{};
};

// Draws `mesh` as `camera` sees it. Faces are cut into triangles as fans from their first corner.
// Uses the threads of the caller's oneTBB arena; 1280 x 720 of a character takes one to two seconds
// of one core. kInvalidArgument: empty mesh, sizes that do not agree, an index out of range, a
// value not finite, a camera without direction, options out of range. kResourceExhausted: Embree
// found no memory. kInternal: it failed otherwise.
absl::StatusOr<Image> Render(const MeshView& mesh, const Camera& camera,
                             const RenderOptions& options);

}  // namespace sinew::client
