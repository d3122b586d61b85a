// cor_surface.h - the surface as needed for centres of rotation: triangles with corner weights,
// split where weights change fast, and listed by joint.
#pragma once

#include <absl/status/statusor.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/rows.h"
#include "core/base/types.h"
#include "core/deform/cor/cor_params.h"
#include "core/parallel/task.h"
#include "core/rig/rig.h"

namespace sinew {

// A vertex influenced by a joint.
struct CorUser {
  std::uint32_t vertex;
  float weight;
};

// A triangle influenced by a joint, with its weights at the corners.
struct CorCarrier {
  std::uint32_t triangle;
  float weight[3];
};

// A piece of a triangle: barycentric centroid and share of the area.
struct CorPiece {
  float corner[3];
  float area;
};

// In weight space a triangle is determined by its three sides, the distances of the corner weights.
// Appends the pieces after repeatedly halving the longest side until none exceeds 0.1. Ties: the
// first of sides 01, 12, 20 within 1e-9 of the longest.
//
//    side2  squared weight distances along 01, 12, 20
void SplitCorTriangle(const std::array<double, 3>& side2, std::vector<CorPiece>& pieces);

// Upper limit of the number of pieces of SplitCorTriangle in constant time; exact up to five.
// Source: Stynes 1980, sides after n halvings are at most sqrt(3) 2^(-n/2) of the longest, sqrt(2)
// for odd n.
std::uint32_t MostCorPieces(const std::array<double, 3>& side2);

struct CorSurface {
  // Polygons are split into fans; triangles of zero area are left out.
  std::vector<std::array<std::uint32_t, 3>> corners;  // [T] vertices
  std::vector<double> area;                           // [T] parts of the whole surface's
  std::vector<std::uint64_t> first_piece;             // [T] into pieces
  std::vector<std::uint32_t> piece_count;             // [T] upper limit, exact after AddPieces
  std::uint64_t pieces_needed = 0;                    // likewise; an unsplit triangle counts as one
  std::vector<CorPiece> pieces;                       // [pieces_needed] after AddPieces

  // Rows per joint, ascending by vertex and triangle.
  Rows<CorUser> users;
  Rows<CorCarrier> carriers;

  // Uses the `params`.max_influences strongest weights of each vertex, renormalised. kCancelled.
  static absl::StatusOr<CorSurface> Create(const Rig& rig, const CorParams& params,
                                           const Task& task);
  // Splits the triangles. kCancelled.
  absl::Status AddPieces(const Rig& rig, const CorParams& params, const Task& task);

  std::size_t joints() const { return users.offsets.size() - 1; }
  // Peak memory of Create, including vector growth, and of AddPieces.
  std::size_t bytes() const;
};

}  // namespace sinew
