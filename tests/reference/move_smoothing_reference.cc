#include "tests/reference/move_smoothing_reference.h"

#include <algorithm>
#include <cmath>

#include "core/base/vectors.h"

namespace sinew::reference {
namespace {

constexpr int kPasses = 6;
constexpr double kReach = 0.25, kSteep = 0.2, kFits = 0.15, kTorn = 0.35, kMostMended = 0.1;
constexpr double kFlat = 0.15, kRough = 0.2, kHeld = 0.1, kLet = 0.35;

Points Difference(const Points& a, const Points& b) {
  Points moves;
  for (std::size_t p = 0; p < a.size(); ++p) moves.push_back(a[p] - b[p]);
  return moves;
}

}  // namespace

MoveSmoother::MoveSmoother(const MushMesh& mesh, std::span<const double> size,
                           const std::vector<bool>& spreads, const Points& skinned)
    : mesh_(mesh), size_(size), spreads_(spreads), skinned_(skinned) {}

void MoveSmoother::Mend(Points& restored, Points& at) const {
  const Points moves = Difference(restored, skinned_);
  std::vector<double> certainty(moves.size(), 1), beside(moves.size());
  for (std::size_t p = 0; p < moves.size(); ++p) {
    if (!spreads_[p] || mesh_.ring[p].empty()) continue;
    const double torn = Length(moves[p] - MeanBeside(p, moves)) / SpacingOf(p);
    const double over = std::max(0.0, torn * torn - kFits * kFits) / (kTorn * kTorn);
    beside[p] = std::pow(kReach * size_[p] / SpacingOf(p) * over, 2);
  }
  const Points mended = Solve(moves, certainty, beside);
  for (std::size_t p = 0; p < moves.size(); ++p) {
    Vec3d change = mended[p] - moves[p];
    const double most = kMostMended * size_[p], length = Length(change);
    if (length > most) change = (most / length) * change;
    restored[p] = restored[p] + change;
    at[p] = at[p] + change;
  }
}

std::vector<double> MoveSmoother::Spread(const Points& base, std::span<const double> certainty,
                                         Points& at) const {
  const Points whole = Difference(at, skinned_);
  std::vector<double> beside(at.size()), own;
  for (std::size_t p = 0; p < at.size(); ++p) {
    own.push_back(std::max(0.02, certainty[p]));
    if (!spreads_[p] || mesh_.ring[p].empty()) continue;
    const double steep = SquaredGradient(p, whole) / std::pow(kSteep, 2);
    beside[p] = std::pow(kReach * size_[p] / SpacingOf(p), 2) * (1 + steep);
  }
  const Points spread = Solve(Difference(at, base), own, beside);
  std::vector<double> smoothed;
  for (std::size_t p = 0; p < at.size(); ++p) {
    const Vec3d to = base[p] + spread[p];
    smoothed.push_back(Length(to - at[p]));
    at[p] = to;
  }
  return smoothed;
}

void MoveSmoother::Ease(std::span<const double> nearness, Points& at) const {
  const Points moves = Difference(at, skinned_);
  std::vector<double> certainty(moves.size(), 1), beside(moves.size());
  for (std::size_t p = 0; p < moves.size(); ++p) {
    if (!spreads_[p] || mesh_.ring[p].empty()) continue;
    const double over = SquaredGradient(p, moves) - kFlat * kFlat;
    beside[p] =
        std::pow(kReach * size_[p] / SpacingOf(p) * std::max(0.0, over) / (kRough * kRough), 2);
  }
  const Points eased = Solve(moves, certainty, beside);
  for (std::size_t p = 0; p < moves.size(); ++p) {
    Vec3d change = eased[p] - moves[p];
    const double held = kHeld * size_[p], move = Length(moves[p]);
    if (move > 0) {
      const double shorter = std::max(0.0, -Dot(change, moves[p]) / move);
      const double made_good = std::min(1.0, move / held) * (1 - kLet * std::min(1.0, nearness[p]));
      change = change + (made_good * shorter / move) * moves[p];
    }
    at[p] = at[p] + change;
  }
}

double MoveSmoother::SquaredGradient(std::size_t p, const Points& moves) const {
  double weights = 0, apart = 0;
  for (const std::size_t q : mesh_.ring[p]) {
    const Vec3d edge = mesh_.rest[q] - mesh_.rest[p], other = moves[p] - moves[q];
    weights += 1 / Dot(edge, edge);
    apart += Dot(other, other) / Dot(edge, edge);
  }
  return apart / weights / std::pow(SpacingOf(p), 2);
}

Vec3d MoveSmoother::MeanBeside(std::size_t p, const Points& moves) const {
  double weights = 0;
  Vec3d sum;
  for (const std::size_t q : mesh_.ring[p]) {
    const Vec3d edge = mesh_.rest[q] - mesh_.rest[p];
    weights += 1 / Dot(edge, edge);
    sum = sum + (1 / Dot(edge, edge)) * moves[q];
  }
  return (1 / weights) * sum;
}

double MoveSmoother::SpacingOf(std::size_t p) const {
  double weights = 0;
  for (const std::size_t q : mesh_.ring[p]) {
    const Vec3d edge = mesh_.rest[q] - mesh_.rest[p];
    weights += 1 / Dot(edge, edge);
  }
  return std::sqrt(static_cast<double>(mesh_.ring[p].size()) / weights);
}

Points MoveSmoother::Solve(const Points& moves, std::span<const double> certainty,
                           std::span<const double> beside) const {
  Points now = moves;
  for (int pass = 0; pass < kPasses; ++pass) {
    Points next = now;
    for (std::size_t p = 0; p < moves.size(); ++p) {
      if (!(beside[p] > 0)) continue;
      const Vec3d jacobi = (1 / (certainty[p] + beside[p])) *
                           (certainty[p] * moves[p] + beside[p] * MeanBeside(p, now));
      next[p] = 0.2 * now[p] + 0.8 * jacobi;
    }
    now = next;
  }
  return now;
}

}  // namespace sinew::reference
