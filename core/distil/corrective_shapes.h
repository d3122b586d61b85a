// corrective_shapes.h - shapes, driven by the turns of single joints, that correct linear blend.
//
// Poses that turn one joint alone show what linear blend lacks around it. The main components of
// these residuals, taken back to the rest pose, are the shapes of the joint; how much of each a
// turn needs is a sum of |turn - sample| over the samples (radial basis functions), which
// interpolates them. A component that is also subtracted becomes two shapes, for players may clamp
// morph weights to 0 and 1. Shapes of several joints add up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/parallel/task.h"

namespace sinew {

// The displacement at rest that linear blend with the matrix `blend` turns into `displacement`:
// the inverse of its linear part, damped where the blend collapses. `size`: singular values of a
// blend that does not, 1 unless the rest pose scales.
Vec3d ToRest(const Mat3d& blend, const Vec3d& displacement, double size = 1);

// A sparse displacement of the rest mesh.
struct CorrectiveShape {
  std::vector<std::uint32_t> vertices;  // rising
  std::vector<Vec3f> offsets;           // [vertices]
  double energy = 0;  // sum over the samples of the squared displacement that it stands for
  std::vector<double> kernel_weights;  // [samples] of the joint
};

struct JointShapes {
  std::vector<Vec3d> samples;           // turns, the first is none
  std::vector<CorrectiveShape> shapes;  // by falling energy; all zero at rest

  // How much of the shape `index` a turn needs, 0 to 1. No sample needs more than 0.8.
  double Value(std::size_t index, const Vec3d& turn) const;
};

struct ShapeLimits {
  std::size_t components = 6;  // of a joint, each of them one or two shapes
  double least_shape = 0;      // drops shapes that move no vertex farther
  double least_offset = 0;     // drops the vertices of a shape that it moves less
};

// The shapes of one joint.
//
//    samples    turns, the first is none; all different
//    residuals  [samples][n] at rest, what linear blend lacks
JointShapes FitJointShapes(std::span<const Vec3d> samples,
                           std::span<const std::vector<Vec3f>> residuals, const ShapeLimits& limits,
                           const Task& task);

}  // namespace sinew
