// Trust against the fields it is sampled from, and its continuity.
#include "core/deform/implicit/field/trust_grid.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/support/canonical_limb.h"

namespace sinew {
namespace {

using testing::BindField;
using testing::CanonicalLimb;
using testing::FieldInPose;
using testing::RestPose;

TEST(TrustGrid, IsZeroOutside) {
  const std::vector<std::uint8_t> sure(kTrustPoints, PackedLead(1));
  constexpr auto kLast = static_cast<float>(kTrustSide - 1);
  EXPECT_EQ(TrustOfGrid(sure.data(), {0, 0, 0}), 1);
  EXPECT_EQ(TrustOfGrid(sure.data(), {kLast, kLast, kLast}), 1);
  EXPECT_EQ(TrustOfGrid(sure.data(), {kLast / 3, 0.5f, kLast}), 1);
  for (const float at : {-1e-3f, kLast + 1e-3f, 1e30f, -1e30f, std::nanf("")}) {
    EXPECT_EQ(TrustOfGrid(sure.data(), {at, 1, 1}), 0) << at;
    EXPECT_EQ(TrustOfGrid(sure.data(), {1, at, 1}), 0) << at;
    EXPECT_EQ(TrustOfGrid(sure.data(), {1, 1, at}), 0) << at;
  }
  const std::vector<std::uint8_t> never(kTrustPoints, PackedLead(-1));
  EXPECT_EQ(TrustOfGrid(never.data(), {1, 2, 3}), 0);
}

TEST(TrustGrid, KeepsSignAndOrderOfLeads) {
  EXPECT_EQ(PackedLead(kMostLead), PackedLead(100));
  EXPECT_EQ(PackedLead(-kMostLead), PackedLead(-100));
  EXPECT_LT(PackedLead(-0.05f), PackedLead(0));
  EXPECT_LT(PackedLead(0), PackedLead(0.05f));
}

// The parts of a limb that meet at its joint, each against the other.
TEST(TrustGrid, SaysWhichPartIsNearer) {
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
      const float reach = (*rest).Reach(part), lead = f[1 - part] - f[part];
      if (f[part] > 0.5f * reach) continue;  // it fades towards the end of the support
      if (lead > 0.3f) {
        EXPECT_GT((*rest).Trust(part, at), 0.9f) << p.x << " " << p.y << " " << p.z;
        ++trusted;
      } else if (lead < -0.2f) {
        EXPECT_LT((*rest).Trust(part, at), 0.1f) << p.x << " " << p.y << " " << p.z;
        ++untrusted;
      }
    }
  }
  EXPECT_GT(trusted, 500u);
  EXPECT_GT(untrusted, 200u);
}

TEST(TrustGrid, TrustIsContinuous) {
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
