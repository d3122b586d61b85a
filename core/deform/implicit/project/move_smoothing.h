// move_smoothing.h - smooths the moves of points over the skin, so that neighbours do not part.
//
// Each move D is drawn towards the solution u of  c (u - D) + s (u - mean of u beside it) = 0,  a
// screened Poisson equation: c is how certain the move is, s how much it follows its neighbours.
// Six damped Jacobi passes for every pose keep the result continuous in it. They carry a move over
// six edges at most, so that it spreads less far on a mesh of edges much shorter than kSpreadReach.
//
// Moves in contact (Spread) spread farther where neighbours part, which is what a ledge is:
//
//    s = (kSpreadReach / spacing)^2 (1 + (g / kSteepMove)^2),
//    g = root of the mean of |E_i - E_j|^2 / spacing,  E = the whole move from the skinned point
//
// Restoring moves (Mend) differ as much from point to point as skinning has lost there. They are
// changed only where one does not fit those around it, and by kMostMended at most:
//
//    s = (kSpreadReach / spacing)^2 max(0, l^2 - kFittingMove^2)^2 / kTornMove^4,
//    l = |D - mean of D beside it| / spacing
//
// Whole moves (Ease) are changed in the end where they are still steep. They are not shortened, or
// twists would lose their radius; only at a contact kEasedInContact of what shortens them is let
// through:
//
//    s = (kSpreadReach / spacing)^2 max(0, g^2 - kGentleMove^2)^2 / kRoughMove^4
#pragma once

#include <absl/status/status.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/deform/implicit/field.h"
#include "core/deform/implicit/project/constants.h"
#include "core/deform/implicit/project/level_skin.h"
#include "core/deform/implicit/skin.h"
#include "core/deform/method/method.h"
#include "core/parallel/task.h"
#include "core/simd/vec4.h"

namespace sinew {

// The points beside each point, by the triangles of the welded skin.
struct MoveRings {
  std::vector<std::uint32_t> offset = {0};  // [P + 1] into the tables below
  std::vector<std::uint32_t> point;         // [R]
  std::vector<float> weight;                // [R] length^-2, relative to their sum
  // [P] length of the edges, from the harmonic mean of their squares, relative to the size of the
  // owner; 0 = is never moved: in an attached or rigid component, or without a ring.
  std::vector<float> spacing;

  std::size_t points() const { return spacing.size(); }
  // Rounding may bring the weights of a point above 1.
  static constexpr double kMostSum = 1.001;

  // Upper limit in bytes. Faces cut into fans have less than two edges a corner, both ends list
  // each.
  static std::size_t Cost(std::size_t points, std::size_t corners) {
    return 8 * points + 32 * corners + 8;
  }
  // Validates loaded tables that keep the rules in Fields. kDataLoss.
  absl::Status Check() const;
  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit, const TableSizes& = {}) {
    const std::size_t points = self.points(), count = self.point.size();
    visit("ring_offset", self.offset, rule::Offsets(points, count));
    visit("ring_point", self.point, rule::Below(points));
    visit("ring_weight", self.weight, rule::Size(count), rule::Within{0, kMostSum});
    visit("ring_spacing", self.spacing, rule::NotNegative(), rule::Finite());
  }
};

// rest: see PointsInBindPose.
MoveRings BindMoveRings(const BindInput& input, const LevelSkin& level, const PosedField& bind_pose,
                        const SkinSurface& skin, std::span<const Vec3d> rest);

class MoveSmoothing {
 public:
  static std::size_t Scratch(std::size_t points);  // floats

  // All must outlive it.
  //
  //    skinned  [P][4] before any move
  //    scratch  Scratch(P) floats
  MoveSmoothing(const MoveRings& rings, const LevelSkin& level, const PosedField& posed,
                std::span<const float> skinned, std::span<float> scratch, const Task& task);

  // All leave points of spacing 0 where they are. The same bits for any number of threads.
  //
  // The restoring moves, restored - skinned. Moves `at` as much as `restored`.
  //
  //    restored  [P][4]
  //    at        [P][4]
  void Mend(std::span<float> restored, std::span<float> at);
  // Before the first Spread, which moves points up to kSmoothingPasses edges away from those with
  // nearness > 0. Where it is 0, `base` must be equal to `at`.
  //
  //    nearness  [P] > 0 where another limb is near
  void StartSpreading(std::span<const float> nearness);
  // The moves in contact, at - base. Afterwards `base` is equal to `at`, and the certainty of every
  // point that it may move 1, for the next pass.
  //
  //    base       [P][4]
  //    certainty  [P] c of each move, 0 to 1
  //    smoothed   [P] filled for the points that Spread may move: how far it has moved them
  //    at         [P][4]
  void Spread(std::span<float> base, std::span<float> certainty, std::span<float> smoothed,
              std::span<float> at);
  // The whole moves, at - skinned.
  //
  //    nearness  [P] as above
  //    at        [P][4]
  void Ease(std::span<const float> nearness, std::span<float> at);

 private:
  // The first points of changed_.
  template <class F>
  void For(std::size_t points, const F& visit) const {
    constexpr std::size_t kGrain = 512;
    task_.For(points, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) visit(changed_[i]);
    });
  }
  void Load(std::uint32_t p, Vec4 move);
  template <class F>
  void SolveWhereBesideCounts(std::span<const float> to, const F& over);
  void SetSpreadShares(std::uint32_t p, float certainty, std::span<const float> at);
  void Solve();
  Vec4 MeanBeside(std::uint32_t p, std::span<const float> moves) const;
  template <class MoveOf>
  float Steepness(std::uint32_t p, const MoveOf& move_of) const;
  float LengthOf(std::uint32_t p) const;

  const MoveRings& rings_;
  const LevelSkin& level_;
  const PosedField& posed_;
  const std::span<const float> skinned_;
  const Task& task_;
  const std::span<float> moves_, now_, next_;  // [P][4] D, and u before and after a pass
  const std::span<float> kept_;                // [P] share of the own move in a pass; the rest of
                                               // kDamping is that of the moves beside
  std::vector<std::uint32_t> changed_;         // points that passes change
  std::array<std::size_t, kSmoothingPasses> reached_{};  // how many of them each pass may change
};

}  // namespace sinew
