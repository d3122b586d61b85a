// Laws of the smoothing of moves. projection_test compares it with its reference.
#include "core/deform/implicit/project/move_smoothing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/base/vectors.h"
#include "tests/unit/core/deform/implicit/limb_projection.h"

namespace sinew {
namespace {

using testing::LimbProjection;
using testing::RoundedLimb;

const RoundedLimb& RestLimb() {
  static const auto* const kLimb = new RoundedLimb(std::array<AffineD, 2>{});
  return *kLimb;
}

const LimbProjection& Cylinder() {
  static const auto* const kCylinder = new LimbProjection(testing::CanonicalCylinder(), RestLimb());
  return *kCylinder;
}

// Only its unit is scaled, which is all that smoothing reads of a pose.
class ScaledLimb : public RoundedLimb {
 public:
  explicit ScaledLimb(float scale) : RoundedLimb(std::array<AffineD, 2>{}), scale_(scale) {}
  float unit() const override { return scale_; }

 private:
  float scale_;
};

// Points of the cylinder at rest, and moves of some of them.
class Moves {
 public:
  explicit Moves(const PosedField& field = RestLimb(), float scale = 1)
      : field_(field),
        rings_(Cylinder().rings()),
        skinned_(4 * rings_.points()),
        scratch_(MoveSmoothing::Scratch(rings_.points()), NAN),
        certainty_(rings_.points(), 1.0f),
        contact_(rings_.points(), 0.0f),
        smoothed_(rings_.points(), 0.0f) {
    for (std::size_t p = 0; p < rings_.points(); ++p) {
      const Vec3f& at = Cylinder().rig().mesh().positions()[VertexOf(p)];
      skinned_[4 * p] = scale * at.x, skinned_[4 * p + 1] = scale * at.y;
      skinned_[4 * p + 2] = scale * at.z;
    }
    base_ = at_ = skinned_;
  }

  std::size_t points() const { return rings_.points(); }
  std::size_t VertexOf(std::size_t p) const {
    return Cylinder().layout().Vertex(Cylinder().skin().point_lane[p]);
  }
  void Push(std::size_t p, float by) {
    at_[4 * p + 1] += by;
    contact_[p] = 1;
  }
  Vec3d MoveOf(std::size_t p) const {
    const auto apart = [&](std::size_t i) {
      return double{at_[4 * p + i]} - double{skinned_[4 * p + i]};
    };
    return {apart(0), apart(1), apart(2)};
  }
  void Spread(const Task& task = {}) {
    MoveSmoothing smoothing(rings_, Cylinder().level(), field_, skinned_, scratch_, task);
    smoothing.StartSpreading(contact_);
    smoothing.Spread(base_, certainty_, smoothed_, at_);
  }
  void Mend(const Task& task = {}) {
    base_ = at_;
    MoveSmoothing(rings_, Cylinder().level(), field_, skinned_, scratch_, task).Mend(base_, at_);
  }
  void Ease(const Task& task = {}) {
    MoveSmoothing(rings_, Cylinder().level(), field_, skinned_, scratch_, task).Ease(contact_, at_);
  }
  double Largest() const {
    double largest = 0;
    for (std::size_t p = 0; p < points(); ++p) largest = std::max(largest, Length(MoveOf(p)));
    return largest;
  }

  const PosedField& field_;
  MoveRings rings_;
  std::vector<float> skinned_, scratch_, certainty_, contact_, smoothed_, base_, at_;
};

constexpr std::size_t kMiddle = 40 * 32;  // a point far from the ends

TEST(MoveSmoothing, LeavesPointsWithoutMoves) {
  Moves moves;
  moves.contact_[kMiddle] = 1;
  moves.Spread();
  EXPECT_EQ(moves.at_, moves.skinned_);
  moves.Mend();
  EXPECT_EQ(moves.at_, moves.skinned_);
  moves.Ease();
  EXPECT_EQ(moves.at_, moves.skinned_);
}

TEST(MoveSmoothing, SpreadsSingleMoveToItsRing) {
  Moves moves;
  moves.Push(kMiddle, 0.5f);
  moves.Spread();
  EXPECT_LT(Length(moves.MoveOf(kMiddle)), 0.4);
  std::size_t moved = 0;
  for (std::size_t p = 0; p < moves.points(); ++p) moved += Length(moves.MoveOf(p)) > 0 ? 1 : 0;
  EXPECT_GT(moved, 50u);
  EXPECT_LT(moved, 300u);
  EXPECT_GT(moves.smoothed_[kMiddle], 0.1f);
}

TEST(MoveSmoothing, UncertainMovesFollowOthers) {
  Moves certain, uncertain;
  for (Moves* moves : {&certain, &uncertain}) moves->Push(kMiddle, 0.5f);
  uncertain.certainty_[kMiddle] = 0;
  certain.Spread();
  uncertain.Spread();
  EXPECT_LT(Length(uncertain.MoveOf(kMiddle)), Length(certain.MoveOf(kMiddle)));
}

TEST(MoveSmoothing, EqualMovesStayEqual) {
  Moves moves;
  for (std::size_t p = 0; p < moves.points(); ++p) moves.Push(p, 0.25f);
  moves.Spread();
  for (std::size_t p = 0; p < moves.points(); ++p) {
    ASSERT_NEAR(moves.MoveOf(p).y, 0.25, 1e-5) << p;
  }
}

TEST(MoveSmoothing, MendsNoMoreThanTenthOfSize) {
  Moves moves;
  moves.Push(kMiddle, 0.5f);
  moves.Mend();
  EXPECT_NEAR(moves.MoveOf(kMiddle).y, 0.4, 1e-4);
}

// Moves that rise along the cylinder by `gradient`.
Moves Ramp(double gradient) {
  Moves moves;
  const auto& positions = Cylinder().rig().mesh().positions();
  for (std::size_t p = 0; p < moves.points(); ++p) {
    const double along = double{positions[moves.VertexOf(p)].x};
    moves.at_[4 * p + 1] += static_cast<float>(gradient * (along + 10));
  }
  return moves;
}

TEST(MoveSmoothing, EasingLeavesGentleSlopes) {
  Moves gentle = Ramp(0.1);
  const std::vector<float> before = gentle.at_;
  gentle.Ease();
  EXPECT_EQ(gentle.at_, before);
}

// Without contact a move stays as long as it is, and those beside it follow.
TEST(MoveSmoothing, EasingShortensNoMoveWithoutContact) {
  Moves moves;
  moves.Push(kMiddle, 0.5f);
  std::ranges::fill(moves.contact_, 0.0f);
  moves.Ease();
  EXPECT_NEAR(moves.MoveOf(kMiddle).y, 0.5, 1e-4);
  EXPECT_GT(moves.MoveOf(kMiddle + 1).y, 0.01);
}

TEST(MoveSmoothing, EasingShortensContactByItsShare) {
  Moves moves;
  moves.Push(kMiddle, 0.8f);
  moves.Ease();
  EXPECT_LT(moves.MoveOf(kMiddle).y, 0.75);
  EXPECT_GE(moves.MoveOf(kMiddle).y, 0.8 * (1 - double{kEasedInContact}));
  EXPECT_GT(moves.MoveOf(kMiddle + 1).y, 0.01);
}

TEST(MoveSmoothing, MovesNoPointWithoutSpacing) {
  Moves moves;
  for (std::size_t p = 0; p < moves.points(); p += 2) moves.rings_.spacing[p] = 0;
  moves.Push(kMiddle + 1, 0.5f);
  moves.contact_[kMiddle] = 1;
  moves.Spread();
  moves.Mend();
  moves.Ease();
  for (std::size_t p = 0; p < moves.points(); ++p) {
    const Vec3d move = moves.MoveOf(p);
    ASSERT_TRUE(std::isfinite(Length(move))) << p;
    ASSERT_TRUE(p % 2 != 0 || Length(move) == 0) << p;
  }
}

// Lengths whose squares overflow, or are 0.
TEST(MoveSmoothing, IsFiniteAtExtremeScales) {
  for (const float scale : {1e25f, 1e-25f}) {
    const ScaledLimb field(scale);
    Moves moves(field, scale);
    moves.Push(kMiddle, 0.5f * scale);
    moves.Spread();
    moves.Mend();
    moves.Ease();
    for (const float x : moves.at_) ASSERT_TRUE(std::isfinite(x)) << scale;
    for (const float x : moves.smoothed_) ASSERT_FALSE(std::isnan(x)) << scale;
  }
}

}  // namespace
}  // namespace sinew
