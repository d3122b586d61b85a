// surface_nets.h - a quad mesh of the zero level of a field, by surface nets on a regular grid.
//
// One vertex per sheet of surface in a grid cell, one quad per crossed edge: closed if the surface
// stays inside the grid. Vertices are then spread evenly and pulled onto the surface. Source:
// Gibson 1998, Constrained Elastic Surface Nets.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <functional>
#include <vector>

namespace sinew::client {

using Field =
    std::function<double(const Eigen::Vector3d&)>;  // negative inside, about a distance near zero

struct QuadMesh {
  std::vector<Eigen::Vector3d> vertices;
  std::vector<std::array<std::uint32_t, 4>> quads;  // counter-clockwise seen from outside
};

// Cost O(cells) evaluations plus a few dozen per vertex. The field must be positive on the border
// of the box.
QuadMesh SurfaceNets(const Field& field, const Eigen::Vector3d& low, const Eigen::Vector3d& high,
                     double cell);

// [V] neighbours along quad edges, rising.
std::vector<std::vector<std::uint32_t>> Neighbours(const QuadMesh& mesh);

}  // namespace sinew::client
