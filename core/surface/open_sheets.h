// open_sheets.h - connected parts of a surface that enclose nothing.
#pragma once

#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/surface/part_triangles.h"

namespace sinew {

// [triangles] whether the connected part of each is an open sheet, such as a floor, a cape or a
// bowl, which has no inside: the sum of its areas as vectors is longer than half of its area. It is
// 0 for what is closed, .5 of the area of a hemisphere, 2 / pi of half a pipe and all of a plane.
//
//    triangles  of welded points, wound alike
//    points     [P] in any space
// Nearly linear.
std::vector<bool> InOpenSheets(std::span<const Triangle> triangles, std::span<const Vec3d> points);

}  // namespace sinew
