// Bounds of a part's field: valid everywhere in its box, and tight enough to skip parts.
#include "core/deform/implicit/field/part_reach.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/deform/implicit/field/hrbf_kernel.h"
#include "core/deform/implicit/field/limb_bones.h"
#include "core/deform/implicit/field/limb_surface.h"
#include "core/deform/implicit/field/part_fit.h"
#include "tests/support/canonical_limb.h"
#include "tests/support/random.h"
#include "tests/support/small_rigs.h"

namespace sinew {
namespace {

struct Compared {
  double most_under = -1;  // bound minus f / r
  double slack = 0;        // f / r minus its bound, mean
};

Compared Compare(const PartFit& fit, int points) {
  Compared compared;
  testing::Random random(23);
  for (int i = 0; i < points; ++i) {
    std::array<double, 3> x;
    std::size_t cell = 0;
    for (std::size_t k = 0; k < 3; ++k) x[k] = random.Next();
    for (std::size_t k = 3; k-- > 0;) {
      cell = cell * kReachSide + static_cast<std::size_t>(x[k] * double{kReachSide});
      x[k] = fit.least[k] + x[k] * (fit.largest[k] - fit.least[k]);
    }
    const double f = std::clamp(fit.hrbf.Value({x[0], x[1], x[2]}), -1.0, 1.0);
    const double bound = std::max(-1.0, double{LeastOfCell(fit.reach[cell])});
    compared.most_under = std::max(compared.most_under, bound - f);
    compared.slack += (f - bound) / points;
  }
  return compared;
}

TEST(PartReach, BoundsEveryPartsField) {
  std::vector<testing::NamedRig> rigs = testing::AllRigs();
  rigs.push_back({"limb", testing::CanonicalLimb()});
  rigs.push_back({"chain", testing::TubeRig({.rings = 301, .joints = 12, .length = 24})});
  const Task task;
  std::size_t parts = 0;
  for (const auto& [name, rig] : rigs) {
    const LimbSurface surface = MakeLimbSurface(rig, Weld(rig));
    for (const LimbBone& bone : MakeLimbBones(rig, surface)) {
      const PartFit fit = FitPart(surface, bone, 50, task);
      if (fit.hrbf.size() == 0) continue;
      ++parts;
      ASSERT_EQ(fit.reach.size(), kReachCells);
      const Compared compared = Compare(fit, 4000);
      EXPECT_LE(compared.most_under, 1e-6) << name << ", joint " << bone.joint;
      EXPECT_LE(compared.slack, 0.35) << name << ", joint " << bone.joint;
    }
  }
  EXPECT_GE(parts, 14u);
}

}  // namespace
}  // namespace sinew
