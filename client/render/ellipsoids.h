// ellipsoids.h - muscles as meshes to draw.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "client/render/render.h"
#include "sinew/frame.h"

namespace sinew::client {

// All in one mesh; arrays as in MeshView, faces are triangles.
struct Ellipsoids {
  std::vector<float> positions, normals, colours;
  std::vector<std::uint32_t> face_vertices;

  MeshView View() const {
    return {.positions = positions,
            .normals = normals,
            .face_sizes = {},
            .face_vertices = face_vertices,
            .colours = colours};
  }
};

// Factor on a muscle's radii: skin on a belly touches it at vertices only, and its flat faces
// would cut into the belly.
inline constexpr float kDrawnPart = 0.97f;

// One ellipsoid a muscle, consecutive ones in different reds. Muscles whose numbers are not
// finite or whose radii are not all positive are omitted.
Ellipsoids DrawMuscles(std::span<const PosedMuscle> muscles);

// The first of their colours, for legends; much darker than the red of contact.
inline constexpr Rgb kMuscleColour = {118, 34, 52};

}  // namespace sinew::client
