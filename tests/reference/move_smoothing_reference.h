// move_smoothing_reference.h - the smoothing of the moves of implicit skinning in double, over the
// whole mesh.
#pragma once

#include <span>
#include <vector>

#include "tests/reference/delta_mush_reference.h"

namespace sinew::reference {

class MoveSmoother {
 public:
  // All must outlive it.
  //
  //    size     [P] of the owner of each point
  //    spreads  [P] false: stays
  //    skinned  [P] before any move
  MoveSmoother(const MushMesh& mesh, std::span<const double> size, const std::vector<bool>& spreads,
               const Points& skinned);

  // See MoveSmoothing of production.
  void Mend(Points& restored, Points& at) const;
  // Returns [P] how far smoothing has moved each point.
  std::vector<double> Spread(const Points& base, std::span<const double> certainty,
                             Points& at) const;
  void Ease(std::span<const double> nearness, Points& at) const;

 private:
  double SquaredGradient(std::size_t p, const Points& moves) const;
  Vec3d MeanBeside(std::size_t p, const Points& moves) const;
  double SpacingOf(std::size_t p) const;
  Points Solve(const Points& moves, std::span<const double> certainty,
               std::span<const double> beside) const;

  const MushMesh& mesh_;
  const std::span<const double> size_;
  const std::vector<bool>& spreads_;
  const Points& skinned_;
};

}  // namespace sinew::reference
