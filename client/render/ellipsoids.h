// ellipsoids.h - muscles and bones as meshes to draw.
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

// A ball at each joint of a posed rig, and a spindle from it to the joint above. joints: [J * 12]
// joint to model; parents: [J] or -1; size: of the character. Joints that are not finite are
// omitted.
void AddBones(std::span<const float> joints, std::span<const std::int32_t> parents, double size,
              Ellipsoids& out);

inline constexpr Rgb kBoneColour = {40, 62, 140};

// The first of the colours of muscles, for legends; much darker than the red of contact.
inline constexpr Rgb kMuscleColour = {118, 34, 52};

}  // namespace sinew::client
