// Constraints of a part's field: the skin of its joint in the bind pose, and end caps that no joint
// rotation moves out of the skin.
#include "core/deform/implicit/part_fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/vectors.h"
#include "core/deform/implicit/limb_bones.h"
#include "core/deform/implicit/limb_surface.h"
#include "tests/support/canonical_limb.h"
#include "tests/support/small_rigs.h"

namespace sinew {
namespace {

struct Fitted {
  LimbBone bone;
  PartFit fit;
  std::vector<Vec3d> centres;  // model space
};

std::vector<Fitted> FitAll(const Rig& rig) {
  const LimbSurface surface = MakeLimbSurface(rig, Weld(rig));
  std::vector<Fitted> all;
  for (const LimbBone& bone : MakeLimbBones(rig, surface)) {
    Fitted fitted{bone, FitPart(surface, bone, 50, Task()), {}};
    for (const Vec3d& c : fitted.fit.hrbf.centres) {
      fitted.centres.push_back(fitted.fit.centre + bone.radius * c);
    }
    all.push_back(std::move(fitted));
  }
  return all;
}

// The forearm has most of the weight up to one radius before its joint.
TEST(PartFit, IgnoresSkinBeyondJoint) {
  RigSource source = testing::CanonicalSource();
  InfluenceSource rows{.offsets = {0}, .bindings = {}, .weights = {}};
  for (const Vec3f& p : source.mesh.positions) {
    const float second = p.x < -1 ? 0.1F : p.x < 0 ? 0.6F : 0.9F;
    rows.bindings.insert(rows.bindings.end(), {0, 1});
    rows.weights.insert(rows.weights.end(), {1 - second, second});
    rows.offsets.push_back(rows.bindings.size());
  }
  source.influences = rows;
  const std::vector<Fitted> all = FitAll(testing::MakeRig(source));
  ASSERT_EQ(all.size(), 2u);
  const Fitted& forearm = all[1];
  ASSERT_GT(forearm.centres.size(), forearm.fit.samples);
  std::size_t behind = 0;
  for (const Vec3d& c : forearm.centres) {
    if (c.x > -1e-6) continue;
    ++behind;
    EXPECT_LT(Length(c), 1.01) << "outside of the ball about the joint";
  }
  EXPECT_GE(behind, 1 + kDomeRing);
}

// Skin in the middle shared evenly between two of four joints and others: no part includes it.
TEST(PartFit, IgnoresSharedSkin) {
  RigSource source = testing::CanonicalSource();
  for (int k = 0; k < 2; ++k) {
    source.joints.push_back({.name = k == 0 ? "c" : "d", .parent = 0});
    source.rest_local.push_back(source.rest_local[1]);
    source.bindings.push_back({static_cast<std::uint16_t>(2 + k), source.bindings[1].inverse_bind});
  }
  InfluenceSource rows{.offsets = {0}, .bindings = {}, .weights = {}};
  for (const Vec3f& p : source.mesh.positions) {
    if (p.x >= 1 && p.x <= 3) {
      rows.bindings.insert(rows.bindings.end(), {0, 1, 2, 3});
      rows.weights.insert(rows.weights.end(), {0.2F, 0.4F, 0.2F, 0.2F});
    } else {
      rows.bindings.push_back(p.x < 0 ? 0 : 1);
      rows.weights.push_back(1);
    }
    rows.offsets.push_back(rows.bindings.size());
  }
  source.influences = rows;
  for (const Fitted& fitted : FitAll(testing::MakeRig(source))) {
    EXPECT_GT(fitted.fit.samples, 0u);
    for (std::size_t i = 0; i < fitted.centres.size(); ++i) {
      const Vec3d& c = fitted.centres[i];
      // Halfway between a row of one joint and a shared one.
      EXPECT_FALSE(c.x > 1.07 && c.x < 2.93) << "joint " << fitted.bone.joint << " at " << c.x;
    }
  }
}

// Parallel bones: each field ends at its own skin, not inside the other.
TEST(PartFit, ClosesSidesAtSkinExtent) {
  const std::vector<Fitted> all = FitAll(testing::MakeRig(testing::PalmSource()));
  ASSERT_EQ(all.size(), 2u);
  for (const Fitted& fitted : all) {
    const double side = fitted.bone.root.y;
    const auto value = [&](const Vec3d& at) {
      return fitted.fit.hrbf.Value((1 / fitted.bone.radius) * (at - fitted.fit.centre));
    };
    EXPECT_LT(value({0, side, 0}), -0.15) << "its own bone";
    for (double x = -1.5; x <= 1.5; x += 0.1) {  // at rings and between them
      EXPECT_NEAR(value({x, side, 0.4}), 0, 0.15) << "its own skin";
      // The value at an open side: -0.18 throughout.
      EXPECT_GT(value({x, -0.2 * side, 0}), -0.05) << "beside it";
      EXPECT_GT(value({x, -0.5 * side, 0}), -0.05) << "farther on";
      EXPECT_GT(value({x, -side, 0}), 0) << "the other bone";
    }
  }
}

// The rest pose bends the limb; sections and lengths come from the bind pose.
TEST(PartFit, InvariantToRestPose) {
  RigSource source = testing::CanonicalSource();
  const double c = std::cos(1.2), s = std::sin(1.2);
  RigSource bent = source;
  bent.rest_local[1] = Compose(source.rest_local[1], {{c, -s, 0, 0, s, c, 0, 0, 0, 0, 1, 0}});
  const std::vector<Fitted> straight = FitAll(testing::MakeRig(source)),
                            other = FitAll(testing::MakeRig(bent));
  ASSERT_EQ(straight.size(), other.size());
  for (std::size_t i = 0; i < straight.size(); ++i) {
    ASSERT_EQ(straight[i].centres.size(), other[i].centres.size());
    for (std::size_t k = 0; k < straight[i].centres.size(); ++k) {
      EXPECT_LT(Length(straight[i].centres[k] - other[i].centres[k]), 1e-5);
    }
  }
}

}  // namespace
}  // namespace sinew
