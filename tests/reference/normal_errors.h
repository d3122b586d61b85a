// normal_errors.h - errors of normals by different rules on the bent and twisted tube.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/deform/engine/deformer.h"

namespace sinew::reference {

// kStretched45: bent, and the second joint is scaled along its axes.
enum class TubePose { kBend45, kTwist90, kStretched45 };
enum class TubeMethod { kLbs, kDqs, kDdm };

// Angles in degrees to the normal of the smooth deformed surface, over all vertices.
struct NormalError {
  double max = 0, mean = 0;
};

// Rules based on the rest normal. The cofactor and the gradient-corrected rule differ from the
// rotated one for lbs only.
struct RuleErrors {
  NormalError rotated, cofactor, gradient;
};
RuleErrors MeasureRules(TubeMethod method, TubePose pose, std::size_t rings, std::size_t around);

// The engine's normals, from posed float vertices.
struct TubeMesh {
  std::size_t rings = 61, around = 32;
  bool quads = false;
  bool authored = true;  // with the tube's exact normals; else without normals
};
NormalError MeasureNormals(TubeMethod method, TubePose pose, NormalRule rule, const TubeMesh& mesh);
// Errors of any recipe's normals against the normals of the smooth surface through its posed
// vertices.
NormalError MeasureNormals(const Recipe& recipe, TubePose pose, NormalRule rule,
                           const TubeMesh& mesh);

}  // namespace sinew::reference
