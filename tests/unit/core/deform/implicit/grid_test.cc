// The grid over a part: bounds that hold everywhere in the cells and are tight enough to skip
// parts; trust against the fields it is sampled from, and its continuity.
#include "core/deform/implicit/grid.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "client/models/models.h"
#include "core/deform/implicit/constants.h"
#include "core/deform/implicit/parts.h"
#include "server/convert/rig.h"
#include "sinew/client.h"
#include "tests/support/canonical_limb.h"
#include "tests/support/random.h"
#include "tests/support/small_rigs.h"

namespace sinew {
namespace {

using testing::BindField;
using testing::CanonicalLimb;
using testing::FieldInPose;
using testing::RestPose;
using testing::ValueOrDie;

struct Compared {
  double most_under = -1;  // bound minus f / r
  double slack = 0;        // f / r minus its bound, mean
};

// A part whose model space is part space over the reach.
AlignedVector<float> PlacedInPartSpace(const GridBox& box) {
  AlignedVector<float> placed(kPlacedFloats);
  for (std::size_t k = 0; k < 3; ++k) {
    placed[4 * k] = 1;
    placed[16 + k] = static_cast<float>(box.least[k]);
    placed[19 + k] = static_cast<float>(box.largest[k]);
    placed[22 + k] = -1e30f;
    placed[25 + k] = 1e30f;
    placed[28 + k] = float{kGridSide} / (placed[19 + k] - placed[16 + k]);
  }
  return placed;
}

Compared Compare(const PartFit& fit, int blocks) {
  Compared compared;
  testing::Random random(23);
  const AlignedVector<float> placed = PlacedInPartSpace(fit.box);
  const HrbfPart part = {nullptr, nullptr, 0, placed.data(), fit.cell_bound.data()};
  for (int block = 0; block < blocks; ++block) {
    const PointBlock points = BlockOf(kLanes, [&](std::size_t) {
      Vec3f u;
      float* const to[3] = {&u.x, &u.y, &u.z};
      for (std::size_t k = 0; k < 3; ++k) {
        const double share = random.Next();
        *to[k] = static_cast<float>(fit.box.At(k, share * double{kGridSide}));
      }
      return u;
    });
    alignas(64) float least[kLanes];
    LeastKernel(part, points.x, least);
    for (std::size_t i = 0; i < kLanes; ++i) {
      const double f = std::clamp(fit.hrbf.Value(ToDouble(points.At(i))), -1.0, 1.0);
      const double bound = std::max(-1.0, double{least[i]});
      compared.most_under = std::max(compared.most_under, bound - f);
      compared.slack += (f - bound) / (blocks * double{kLanes});
    }
  }
  return compared;
}

Rig Hand() {
  const client::Model model = ValueOrDie(client::Make("hand"));
  return *ValueOrDie(
              server::ConvertRig(ValueOrDie(client::EncodeRig(model.rig)), server::RigConfig{}))
              .rig;
}

TEST(Grid, CellsBoundTheFieldOfEveryPart) {
  std::vector<testing::NamedRig> rigs = testing::AllRigs();
  rigs.push_back({"limb", testing::CanonicalLimb()});
  rigs.push_back({"hand", Hand()});
  rigs.push_back({"chain", testing::TubeRig({.rings = 301, .joints = 12, .length = 24})});
  const Task task;
  std::size_t parts = 0;
  for (const auto& [name, rig] : rigs) {
    const LimbSurface surface = MakeLimbSurface(rig, Weld(rig));
    for (const LimbBone& bone : MakeLimbBones(rig, surface)) {
      const PartFit fit = FitPart(surface, bone, 50, task);
      if (fit.hrbf.size() == 0) continue;
      ++parts;
      ASSERT_EQ(fit.cell_bound.size(), kGridCells);
      const Compared compared = Compare(fit, 1000);
      EXPECT_LE(compared.most_under, 1e-6) << name << ", joint " << bone.joint;
      EXPECT_LE(compared.slack, 0.06) << name << ", joint " << bone.joint;
    }
  }
  EXPECT_GE(parts, 34u);
}

TEST(Grid, TrustIsZeroOutside) {
  const std::vector<std::uint8_t> sure(kGridCorners, PackedGap(1));
  constexpr auto kLast = static_cast<float>(kGridSide);
  EXPECT_EQ(TrustOfGrid(sure.data(), {0, 0, 0}), 1);
  EXPECT_EQ(TrustOfGrid(sure.data(), {kLast, kLast, kLast}), 1);
  EXPECT_EQ(TrustOfGrid(sure.data(), {kLast / 3, 0.5f, kLast}), 1);
  for (const float at : {-1e-3f, kLast + 1e-3f, 1e30f, -1e30f, std::nanf("")}) {
    EXPECT_EQ(TrustOfGrid(sure.data(), {at, 1, 1}), 0) << at;
    EXPECT_EQ(TrustOfGrid(sure.data(), {1, at, 1}), 0) << at;
    EXPECT_EQ(TrustOfGrid(sure.data(), {1, 1, at}), 0) << at;
  }
  const std::vector<std::uint8_t> never(kGridCorners, PackedGap(-1));
  EXPECT_EQ(TrustOfGrid(never.data(), {1, 2, 3}), 0);
}

TEST(Grid, KeepsSignAndOrderOfGaps) {
  EXPECT_EQ(PackedGap(kMostGap), PackedGap(100));
  EXPECT_EQ(PackedGap(-kMostGap), PackedGap(-100));
  EXPECT_LT(PackedGap(-0.05f), PackedGap(0));
  EXPECT_LT(PackedGap(0), PackedGap(0.05f));
}

// The parts of a limb that meet at its joint, each against the other.
TEST(Grid, TrustFollowsTheNearerPart) {
  const Rig rig = CanonicalLimb();
  const LimbField field = BindField(rig);
  FieldInPose rest(field, RestPose(rig));
  DistanceNeed all;
  all.margin.fill(HUGE_VALF);
  std::size_t trusted = 0, untrusted = 0;
  for (const Vec3d& p : testing::Cloud({0, 0, 0}, {3, 1.2, 1.2}, 2000)) {
    const Vec3f at = ToFloat(p);
    float f[2] = {(*rest).Reach(0), (*rest).Reach(1)};
    for (const PartBlock& part :
         (*rest).Distances(BlockOf(1, [&](std::size_t) { return at; }), all)) {
      f[part.part] = part.value[0];
    }
    for (std::uint32_t part = 0; part < 2; ++part) {
      const float reach = (*rest).Reach(part), gap = f[1 - part] - f[part];
      if (f[part] > 0.5f * reach) continue;  // it fades towards the end of the support
      if (gap > 0.3f) {
        EXPECT_GT((*rest).Trust(part, at), 0.9f) << p.x << " " << p.y << " " << p.z;
        ++trusted;
      } else if (gap < -0.2f) {
        EXPECT_LT((*rest).Trust(part, at), 0.1f) << p.x << " " << p.y << " " << p.z;
        ++untrusted;
      }
    }
  }
  EXPECT_GT(trusted, 500u);
  EXPECT_GT(untrusted, 200u);
}

TEST(Grid, TrustIsContinuous) {
  const Rig rig = CanonicalLimb();
  const LimbField field = BindField(rig);
  FieldInPose rest(field, RestPose(rig));
  constexpr double kStep = 1e-3;
  for (std::uint32_t part = 0; part < 2; ++part) {
    for (const double y : {0.0, 0.7, 1.3, 1.9}) {
      float before = 0, most = 0;
      for (double x = -9; x < 9; x += kStep) {
        const float now = (*rest).Trust(part, ToFloat(Vec3d{x, y, 0.2}));
        EXPECT_NEAR(now, before, 5 * kStep / double{kTrustWidth})
            << part << " at " << x << " " << y;
        before = now;
        most = std::max(most, now);
      }
      EXPECT_EQ(most == 1, y < 1.5);
    }
  }
}

}  // namespace
}  // namespace sinew
