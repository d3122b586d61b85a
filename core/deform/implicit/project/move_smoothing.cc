#include "core/deform/implicit/project/move_smoothing.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>

#include "core/base/vectors.h"
#include "core/deform/implicit/project/constants.h"
#include "core/deform/method/scratch.h"
#include "core/simd/vec4.h"
#include "core/surface/rig_surface.h"

namespace sinew {
namespace {

// Shorter edges count as this long, relative to the size of the owner.
constexpr double kShortest = 1e-6;
constexpr std::size_t kGrain = 1024;  // points

float SizeOf(const LevelSkin& level, const PosedField& posed, std::size_t p) {
  const std::uint16_t owner = level.owner[p];
  return posed.unit() * (owner == kNoOwner ? 1 : posed.Size(owner));
}

// The squared length of the first three components, in units that are positive. Squares of lengths
// in model space could overflow, or become 0.
float SquareIn(float unit, Vec4 v) {
  const Vec4 in_units = (1 / unit) * v, squares = in_units * in_units;
  return squares[0] + squares[1] + squares[2];
}

bool CanMove(PointRole role) {
  return role != PointRole::kAttachedComponent && role != PointRole::kRigidComponent;
}

}  // namespace

MoveRings BindMoveRings(const BindInput& input, const LevelSkin& level, const PosedField& bind_pose,
                        const SkinSurface& skin, std::span<const Vec3d> rest) {
  const PointOrder& order = input.surface.order();
  MoveRings rings;
  rings.offset.reserve(skin.points() + 1);
  rings.spacing.reserve(skin.points());
  for (std::uint32_t p = 0; p < skin.points(); ++p) {
    const double size = double{SizeOf(level, bind_pose, p)};
    std::vector<double> weights;
    double sum = 0;
    for (const std::uint32_t q : input.surface.triangles().row(order.point[p])) {
      const std::uint32_t other = order.number[q];
      if (other == p) continue;
      const double length = std::max(Length(rest[other] - rest[p]), kShortest * size);
      rings.point.push_back(other);
      weights.push_back(1 / (length * length));
      sum += weights.back();
    }
    for (const double weight : weights) rings.weight.push_back(static_cast<float>(weight / sum));
    rings.offset.push_back(static_cast<std::uint32_t>(rings.point.size()));
    const bool moves = !weights.empty() && CanMove(skin.RoleOf(p));
    const double spacing = std::sqrt(static_cast<double>(weights.size()) / sum) / size;
    rings.spacing.push_back(moves ? static_cast<float>(spacing) : 0);
  }
  rings.point.shrink_to_fit();
  rings.weight.shrink_to_fit();
  return rings;
}

absl::Status MoveRings::Check() const {
  for (std::size_t p = 0; p < points(); ++p) {
    double sum = 0;
    for (std::uint32_t k = offset[p]; k < offset[p + 1]; ++k) sum += double{weight[k]};
    if (spacing[p] > 0 && spacing[p] < 0.5 * kShortest) {
      return absl::DataLossError(absl::StrCat("bound data: implicit: ring_spacing: got ",
                                              spacing[p], ", need 0 or at least ", kShortest));
    }
    if (sum > kMostSum) {
      return absl::DataLossError(
          absl::StrCat("bound data: implicit: ring_weight: the weights of point ", p, " sum to ",
                       sum, ", need at most 1"));
    }
  }
  return absl::OkStatus();
}

std::size_t MoveSmoothing::Scratch(std::size_t points) {
  return 3 * WholeLines(4 * points) + WholeLines(points);
}

MoveSmoothing::MoveSmoothing(const MoveRings& rings, const LevelSkin& level,
                             const PosedField& posed, std::span<const float> skinned,
                             std::span<float> scratch, const Task& task)
    : rings_(rings),
      level_(level),
      posed_(posed),
      skinned_(skinned),
      task_(task),
      moves_(scratch.first(4 * rings.points())),
      now_(scratch.subspan(WholeLines(4 * rings.points()), 4 * rings.points())),
      next_(scratch.subspan(2 * WholeLines(4 * rings.points()), 4 * rings.points())),
      kept_(scratch.subspan(3 * WholeLines(4 * rings.points()), rings.points())) {}

void MoveSmoothing::Mend(std::span<float> restored, std::span<float> at) {
  SolveWhereBesideCounts(restored, [&](std::uint32_t p) {
    const Vec4 apart = Load4(moves_.data(), p) - MeanBeside(p, moves_);
    return (SquareIn(LengthOf(p), apart) - kFittingMove * kFittingMove) / (kTornMove * kTornMove);
  });
  For(changed_.size(), [&](std::uint32_t p) {
    const Vec4 apart = Load4(now_.data(), p) - Load4(moves_.data(), p);
    const float most = kMostMended * SizeOf(level_, posed_, p);
    const Vec4 change = (1 / std::max(1.0f, std::sqrt(SquareIn(most, apart)))) * apart;
    Store4(Load4(restored.data(), p) + change, restored.data(), p);
    Store4(Load4(at.data(), p) + change, at.data(), p);
  });
}

void MoveSmoothing::Ease(std::span<const float> nearness, std::span<float> at) {
  SolveWhereBesideCounts(at, [&](std::uint32_t p) {
    const auto move_of = [&](std::size_t q) { return Load4(moves_.data(), q); };
    return (Steepness(p, move_of) - kGentleMove * kGentleMove) / (kRoughMove * kRoughMove);
  });
  For(changed_.size(), [&](std::uint32_t p) {
    const Vec4 move = Load4(moves_.data(), p);
    const float held = kHeldMove * SizeOf(level_, posed_, p);
    Vec4 change = Load4(now_.data(), p) - move;
    // What shortens the move. It sets in with the length of the move, so that its direction may
    // turn where that is 0.
    const float length = std::sqrt(SquareIn(held, move));
    if (length > 0) {
      const Vec4 along = (1 / length) * ((1 / held) * move);
      const float shorter = std::max(0.0f, -Dot3((1 / held) * change, along));
      const float made_good =
          std::min(1.0f, length) * (1 - kEasedInContact * std::min(1.0f, nearness[p]));
      change += (made_good * shorter * held) * along;
    }
    Store4(Load4(at.data(), p) + change, at.data(), p);
  });
}

void MoveSmoothing::StartSpreading(std::span<const float> nearness) {
  std::vector<std::uint8_t> found(rings_.points());
  changed_.clear();
  for (std::uint32_t p = 0; p < rings_.points(); ++p) {
    if (!(nearness[p] > 0)) continue;
    if (!(rings_.spacing[p] > 0)) {
      Load(p, Vec4{});
      continue;
    }
    found[p] = 1;
    changed_.push_back(p);
  }
  // Each pass carries a move to the next points. The ring beyond is only read.
  std::size_t begin = 0;
  for (std::size_t pass = 0; pass <= kSmoothingPasses; ++pass) {
    const std::size_t end = changed_.size();
    for (; begin < end; ++begin) {
      const std::uint32_t p = changed_[begin];
      for (std::uint32_t k = rings_.offset[p]; k < rings_.offset[p + 1]; ++k) {
        const std::uint32_t q = rings_.point[k];
        if (found[q] != 0) continue;
        if (pass == kSmoothingPasses || !(rings_.spacing[q] > 0)) {
          Load(q, Vec4{});
          continue;
        }
        found[q] = 1;
        changed_.push_back(q);
      }
    }
    if (pass == kSmoothingPasses) break;
    std::ranges::sort(changed_.begin() + static_cast<std::ptrdiff_t>(end), changed_.end());
    reached_[pass] = changed_.size();
  }
}

void MoveSmoothing::Spread(std::span<float> base, std::span<float> certainty,
                           std::span<float> smoothed, std::span<float> at) {
  For(changed_.size(), [&](std::uint32_t p) {
    Load(p, Load4(at.data(), p) - Load4(base.data(), p));
    SetSpreadShares(p, certainty[p], at);
  });
  Solve();
  For(changed_.size(), [&](std::uint32_t p) {
    const Vec4 to = Load4(base.data(), p) + Load4(now_.data(), p);
    smoothed[p] = std::sqrt(SquareIn(SizeOf(level_, posed_, p), to - Load4(at.data(), p)));
    Store4(to, at.data(), p);
    Store4(to, base.data(), p);
    certainty[p] = 1;
  });
}

void MoveSmoothing::Load(std::uint32_t p, Vec4 move) {
  for (const std::span<float> moves : {moves_, now_, next_}) Store4(move, moves.data(), p);
}

float MoveSmoothing::LengthOf(std::uint32_t p) const {
  return rings_.spacing[p] * SizeOf(level_, posed_, p);
}

Vec4 MoveSmoothing::MeanBeside(std::uint32_t p, std::span<const float> moves) const {
  Vec4 sum = {};
  for (std::uint32_t k = rings_.offset[p]; k < rings_.offset[p + 1]; ++k) {
    sum += rings_.weight[k] * Load4(moves.data(), rings_.point[k]);
  }
  return sum;
}

// g^2 over that of a gradient of 1, of the moves move_of(q).
template <class MoveOf>
float MoveSmoothing::Steepness(std::uint32_t p, const MoveOf& move_of) const {
  const float per_length = 1 / LengthOf(p);
  const Vec4 own = move_of(p);
  Vec4 squares = {};
  for (std::uint32_t k = rings_.offset[p]; k < rings_.offset[p + 1]; ++k) {
    const Vec4 steep = per_length * (own - move_of(rings_.point[k]));
    squares += rings_.weight[k] * (steep * steep);
  }
  return squares[0] + squares[1] + squares[2];
}

// s = (kSpreadReach / spacing)^2 max(0, over(p))^2, for the moves to - skinned.
template <class F>
void MoveSmoothing::SolveWhereBesideCounts(std::span<const float> to, const F& over) {
  const auto for_all = [&](const auto& visit) {
    task_.For(rings_.points(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t p = begin; p < end; ++p) visit(static_cast<std::uint32_t>(p));
    });
  };
  for_all([&](std::uint32_t p) { Load(p, Load4(to.data(), p) - Load4(skinned_.data(), p)); });
  for_all([&](std::uint32_t p) {
    kept_[p] = kDamping;
    if (!(rings_.spacing[p] > 0)) return;
    const float beside = kSpreadReach / rings_.spacing[p] * std::max(0.0f, over(p));
    kept_[p] = kDamping / (1 + beside * beside);
  });
  changed_.clear();
  for (std::uint32_t p = 0; p < rings_.points(); ++p) {
    if (kept_[p] < kDamping) changed_.push_back(p);
  }
  reached_.fill(changed_.size());
  Solve();
}

void MoveSmoothing::SetSpreadShares(std::uint32_t p, float certainty, std::span<const float> at) {
  const float wide = kSpreadReach / rings_.spacing[p];
  const float own = std::max(kLeastCertainty, certainty);
  const auto move_of = [&](std::size_t q) {
    return Load4(at.data(), q) - Load4(skinned_.data(), q);
  };
  const float steep = Steepness(p, move_of) / (kSteepMove * kSteepMove);
  const float beside = wide * wide * (1 + steep);
  kept_[p] = kDamping * own / (own + beside);
}

// The result is in now_.
void MoveSmoothing::Solve() {
  static_assert(kSmoothingPasses % 2 == 0);
  for (std::size_t pass = 0; pass < kSmoothingPasses; ++pass) {
    const std::span<const float> now = pass % 2 == 0 ? now_ : next_;
    const std::span<float> next = pass % 2 == 0 ? next_ : now_;
    For(reached_[pass], [&](std::uint32_t p) {
      const Vec4 own = (1 - kDamping) * Load4(now.data(), p) + kept_[p] * Load4(moves_.data(), p);
      Store4(own + (kDamping - kept_[p]) * MeanBeside(p, now), next.data(), p);
    });
  }
}

}  // namespace sinew
