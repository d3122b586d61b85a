// Roles of the connected components of a skin: projected, not projected, or attached to other skin.
#include "core/surface/connected_components.h"
#include "core/surface/rig_surface.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <vector>

#include "core/deform/dqs/dqs.h"
#include "core/deform/implicit/implicit.h"
#include "tests/support/rounded_limb.h"
#include "tests/support/run_method.h"
#include "tests/support/tube.h"
#include "tests/unit/core/deform/implicit/limb_projection.h"
#include "tests/unit/core/metrics/measured.h"

namespace sinew {
namespace {

using testing::ValueOrDie;

struct Piece {
  double from = 0, to = 1;  // along x
  std::uint32_t rings = 9, spokes = 16;
  std::function<double(double)> radius, lower;  // of x; lower: weight of the second joint
  bool closed = true;
};

// Components around the x axis, on joints at -5 and 0.
RigSource SegmentedBody(const std::vector<Piece>& pieces) {
  RigSource source = testing::CanonicalCylinderSource();
  MeshSource& mesh = source.mesh;
  mesh = {};
  mesh.face_offsets = {0};
  source.influences = {.offsets = {0}, .bindings = {}, .weights = {}};
  const auto triangle = [&](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    mesh.face_vertices.insert(mesh.face_vertices.end(), {a, b, c});
    mesh.face_offsets.push_back(static_cast<std::uint32_t>(mesh.face_vertices.size()));
  };
  for (const Piece& piece : pieces) {
    const auto add = [&](double x, double r, double angle) {
      mesh.positions.push_back(ToFloat(Vec3d{x, r * std::cos(angle), r * std::sin(angle)}));
      for (std::uint16_t b = 0; b < 2; ++b) {
        const double share = b == 0 ? 1 - piece.lower(x) : piece.lower(x);
        if (share <= 0) continue;
        source.influences.bindings.push_back(b);
        source.influences.weights.push_back(static_cast<float>(share));
      }
      source.influences.offsets.push_back(source.influences.bindings.size());
    };
    const auto first = static_cast<std::uint32_t>(mesh.positions.size());
    const auto at = [&](std::uint32_t i, std::uint32_t k) {
      return first + i * piece.spokes + k % piece.spokes;
    };
    for (std::uint32_t i = 0; i < piece.rings; ++i) {
      const double x = piece.from + (piece.to - piece.from) * i / (piece.rings - 1);
      for (std::uint32_t k = 0; k < piece.spokes; ++k) {
        add(x, piece.radius(x), 2 * std::numbers::pi * k / piece.spokes);
      }
    }
    const std::uint32_t last = piece.rings - 1, cap = first + piece.rings * piece.spokes;
    if (piece.closed) {
      add(piece.from, 0, 0);
      add(piece.to, 0, 0);
    }
    for (std::uint32_t k = 0; k < piece.spokes; ++k) {
      for (std::uint32_t i = 0; i < last; ++i) {
        triangle(at(i, k), at(i, k + 1), at(i + 1, k + 1));
        triangle(at(i, k), at(i + 1, k + 1), at(i + 1, k));
      }
      if (!piece.closed) continue;
      triangle(cap, at(0, k + 1), at(0, k));
      triangle(cap + 1, at(last, k), at(last, k + 1));
    }
  }
  mesh.parts = {{"segments", 0, static_cast<std::uint32_t>(mesh.positions.size()), 0,
                 static_cast<std::uint32_t>(mesh.face_offsets.size() - 1)}};
  return source;
}

const auto kUpper = [](double) { return 0.0; };
const auto kLower = [](double) { return 1.0; };
const auto kBlended = [](double x) { return std::clamp(0.5 + x, 0.0, 1.0); };
const auto kLimb = [](double) { return 1.0; };

Piece Ball() {
  return {.from = -0.69,
          .to = 0.69,
          .rings = 24,
          .spokes = 40,
          .radius = [](double x) { return std::sqrt(0.49 - x * x); },
          .lower = kBlended};
}

std::vector<ComponentRole> RolesOf(const Rig& rig) {
  const WeldedPoints welded = Weld(rig);
  const std::vector<ComponentRole> of_points = FindComponentRoles(
      rig, welded, TriangleNeighbours(rig.mesh(), welded), BorderPoints(rig.mesh(), welded));
  std::vector<ComponentRole> roles;
  for (std::size_t v = 0; v < rig.vertices(); ++v) roles.push_back(of_points[welded.point[v]]);
  return roles;
}

// Two limbs and the ball between them, which has more vertices than both, but less area.
Rig LimbsAndBall() {
  return testing::MakeRig(SegmentedBody({{.from = -5, .to = 0.3, .radius = kLimb, .lower = kUpper},
                                         {.from = -0.3, .to = 5, .radius = kLimb, .lower = kLower},
                                         Ball()}));
}

TEST(ConnectedComponents, SeparateLimbsAndJointBallsAreRigid) {
  const Rig rig = LimbsAndBall();
  for (const ComponentRole role : RolesOf(rig)) EXPECT_EQ(role, ComponentRole::kRigidComponent);
}

TEST(ConnectedComponents, RigidComponentsAreNotProjected) {
  const Rig rig = LimbsAndBall();
  const auto pose = testing::BendPose(rig, 100);
  const auto start = testing::RunMethod<Dqs>(rig, {}, pose);
  Task task;
  const Implicit implicit =
      ValueOrDie(Implicit::Bind({rig, *start.layout, RigSurface(rig, *start.layout)}, {}, task));
  ASSERT_TRUE(implicit.Check(*start.layout, rig.bindings().size()).ok());
  EXPECT_EQ(implicit.field.parts(), 2u);
  PosedRig posed;
  posed.joints = pose;
  const auto out = testing::RunBound(implicit, *start.layout, posed, start.blocks);
  EXPECT_EQ(testing::FileOrder(*start.layout, out), start.points);
}

// Correction methods skip them too.
TEST(ConnectedComponents, RigidComponentsAreNotCorrected) {
  const Rig rig = LimbsAndBall();
  const auto pose = testing::BendPose(rig, 100);
  const auto skinned = metrics::Deformed(rig, "dqs", pose);
  for (const char* recipe_text : {"dqs | bulge_free", "dqs | bulge_free(method=bisector)",
                                  "dqs | relax", "implicit_skinning"}) {
    EXPECT_EQ(metrics::Deformed(rig, recipe_text, pose), skinned) << recipe_text;
  }
}

// One joint may have nearly all the weight of a skin that still bends.
TEST(ConnectedComponents, TwoUnevenPartsAreSkin) {
  const Rig rig = testing::MakeRig(
      SegmentedBody({{.from = -5, .to = 0.3, .rings = 40, .radius = kLimb, .lower = [](double x) {
                        return x > 0.1 ? 1.0 : 0.0;
                      }}}));
  for (const ComponentRole role : RolesOf(rig)) EXPECT_EQ(role, ComponentRole::kSkin);
}

// A sleeve is attached to the skin, whatever its influences; a ball is not.
TEST(ConnectedComponents, OpenOrRigidComponentsAreAttached) {
  const Piece skin = {.from = -5, .to = 5, .rings = 41, .radius = kLimb, .lower = kBlended};
  const Piece sleeve = {.from = -1,
                        .to = 1,
                        .radius = [](double) { return 1.1; },
                        .lower = kBlended,
                        .closed = false};
  const Piece ring = {
      .from = 2, .to = 2.2, .rings = 3, .radius = [](double) { return 1.05; }, .lower = kLower};
  const Rig rig = testing::MakeRig(SegmentedBody({skin, sleeve, ring, Ball()}));
  const std::vector<ComponentRole> roles = RolesOf(rig);
  const std::size_t sleeve_at = 41 * 16 + 2, ring_at = sleeve_at + 9 * 16, ball_at = ring_at + 50;
  for (std::size_t v = 0; v < rig.vertices(); ++v) {
    EXPECT_EQ(roles[v], v < sleeve_at ? ComponentRole::kSkin
                        : v < ball_at ? ComponentRole::kAttachedComponent
                                      : ComponentRole::kRigidComponent)
        << v;
  }
}

// A button follows the skin below it as far as they share joints.
TEST(ConnectedComponents, AttachedComponentsFollowSimilarlyInfluencedSkin) {
  RigSource source = testing::CanonicalCylinderSource();
  MeshSource& mesh = source.mesh;
  const auto first = static_cast<std::uint32_t>(mesh.positions.size());
  const std::vector<float> lower = {1, 0.6F, 0};  // of three buttons above skin of the second joint
  for (const float weight : lower) {
    for (const Vec3f& p :
         {Vec3f{1.05F, 1.05F, 0.05F}, Vec3f{0.95F, 1.05F, 0.05F}, Vec3f{1, 1.05F, -0.05F}}) {
      mesh.positions.push_back(p);
      for (std::uint16_t b = 0; b < 2; ++b) {
        const float share = b == 0 ? 1 - weight : weight;
        if (share <= 0) continue;
        source.influences.bindings.push_back(b);
        source.influences.weights.push_back(share);
      }
      source.influences.offsets.push_back(source.influences.bindings.size());
    }
    const auto last = static_cast<std::uint32_t>(mesh.positions.size());
    mesh.face_vertices.insert(mesh.face_vertices.end(), {last - 3, last - 1, last - 2});
    mesh.face_offsets.push_back(static_cast<std::uint32_t>(mesh.face_vertices.size()));
  }
  mesh.parts[0].vertex_count += 9;
  mesh.parts[0].face_count += 3;
  const testing::RoundedLimb rest(std::array<AffineD, 2>{});
  const testing::LimbProjection limb(testing::MakeRig(source), rest);
  ASSERT_EQ(limb.skin().Count(PointRole::kAttachedComponent), 9u);
  // The skin below moves to the field's level: here outward by 0.1.
  const testing::RoundedLimb wider(
      std::array<AffineD, 2>{AffineD{{1, 0, 0, 0, 0, 1.1, 0, 0, 0, 0, 1.1, 0}},
                             AffineD{{1, 0, 0, 0, 0, 1.1, 0, 0, 0, 0, 1.1, 0}}});
  const auto run = limb.Run<Dqs>(testing::RestPose(limb.rig()), wider, {});
  const std::vector<double> along = {1, 0.104, 0};  // 3 t^2 - 2 t^3 at t = (weight - 0.5) / 0.5
  for (std::size_t k = 0; k < 3; ++k) {
    for (std::uint32_t v = first + 3 * static_cast<std::uint32_t>(k); v < first + 3 * (k + 1);
         ++v) {
      EXPECT_NEAR(run.points[v].y - run.start[v].y, 0.1 * along[k], 0.004) << v;
    }
  }
}

}  // namespace
}  // namespace sinew
