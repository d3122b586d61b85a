// Tangential relaxation: rest and rigid motions are exact, slid vertices slide back.
#include "core/deform/relax/relax.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

#include "core/deform/relax/relax_kernel.h"
#include "tests/reference/relax_reference.h"
#include "tests/support/random.h"
#include "tests/support/rounded_limb.h"
#include "tests/support/run_method.h"
#include "tests/support/tube.h"

namespace sinew {
namespace {

using testing::Distance;
using testing::MaxDistance;
using testing::ValueOrDie;

using Points = std::vector<Vec3d>;

class Relaxing {
 public:
  Relaxing(const Rig& rig, const RelaxParams& params)
      : rig_(rig), layout_(ValueOrDie(BlockLayout::Create(rig))) {
    Task task;
    relax_ = ValueOrDie(Relax::Bind({rig, *layout_, RigSurface(rig, *layout_)}, params, task));
    EXPECT_TRUE(relax_.Check(*layout_, rig.bindings().size()).ok());
  }
  // Points in file order; all joints' skin matrices are `skin`.
  Points Run(std::span<const Vec3d> posed, const Affine& skin = {}) const {
    AlignedVector<PointBlock> in(layout_->blocks());
    for (std::size_t i = 0; i < layout_->order.size(); ++i) {
      const Vec3f p = ToFloat(posed[layout_->Vertex(i)]);
      in[i / kLanes].x[i % kLanes] = p.x;
      in[i / kLanes].y[i % kLanes] = p.y;
      in[i / kLanes].z[i % kLanes] = p.z;
    }
    const std::vector<Affine> matrices(rig_.bindings().size(), skin);
    PosedRig posed_rig;
    posed_rig.skin = matrices;
    const std::vector<float> signs(matrices.size(),
                                   static_cast<float>(SignOf(Linear(ToDouble(skin)))));
    posed_rig.signs = signs;
    return testing::FileOrder(*layout_, testing::RunBound(relax_, *layout_, posed_rig, in));
  }
  const Relax& relax() const { return relax_; }
  Relax& relax() { return relax_; }

 private:
  const Rig& rig_;
  std::shared_ptr<const BlockLayout> layout_;
  Relax relax_;
};

// Slides every vertex along the cylinder by a wave.
Points Slid(const Rig& rig) {
  Points points = testing::RestPoints(rig);
  for (std::size_t v = 0; v + 2 < points.size(); ++v) {
    Vec3d& p = points[v];
    p.x += 0.03 * std::sin(3.7 * static_cast<double>(v));
  }
  return points;
}

// Also where squared areas would overflow or vanish in float.
TEST(Relax, FollowsScale) {
  const Rig rig = testing::CanonicalCylinder();
  const Relaxing relaxing(rig, {});
  const Points want = relaxing.Run(Slid(rig));
  EXPECT_GT(MaxDistance(want, Slid(rig)), 0.01);
  for (const int power : {-30, -20, 20, 50}) {
    const double scale = std::ldexp(1, power);  // exact in float
    Points scaled = Slid(rig);
    for (Vec3d& p : scaled) p = scale * p;
    Points got = relaxing.Run(scaled);
    for (Vec3d& p : got) p = (1 / scale) * p;
    EXPECT_EQ(MaxDistance(got, want), 0) << power;
  }
}

// Squares vanish or are infinite; differences are infinite.
TEST(Relax, KeepsCoordinatesOutOfRange) {
  const Rig rig = testing::CanonicalCylinder();
  for (const double scale : {1e-30, 1e25, 1e37, 6.5e37}) {
    Points scaled = Slid(rig);
    for (Vec3d& p : scaled) p = ToDouble(ToFloat(scale * p));
    EXPECT_EQ(MaxDistance(Relaxing(rig, {}).Run(scaled), scaled), 0) << scale;
  }
}

TEST(Relax, MatchesReference) {
  const Rig rig = testing::CanonicalCylinder();
  for (const RelaxParams& params :
       {RelaxParams{}, RelaxParams{.iterations = 1, .strength = 1}, RelaxParams{.iterations = 7}}) {
    const Points slid = Slid(rig);
    EXPECT_LT(MaxDistance(Relaxing(rig, params).Run(slid), reference::Relaxed(rig, params, slid)),
              1e-5);
  }
}

// A flat fan of triangles around vertex 0, and as many vertices without faces.
RigSource Fan(std::uint32_t spokes) {
  RigSource source = testing::TubeSource({.rings = 2, .around = spokes});
  MeshSource& mesh = source.mesh;
  mesh.face_vertices.clear();
  mesh.face_offsets = {0};
  for (std::uint32_t k = 0; k < 2 * spokes; ++k) {
    const double angle = 2 * std::numbers::pi * k / spokes, far = k <= spokes ? 1 : 2;
    mesh.positions[k] = ToFloat(far * Vec3d{std::cos(angle), std::sin(angle), 0});
  }
  mesh.positions[0] = {};
  for (std::uint32_t k = 1; k <= spokes; ++k) {
    mesh.face_vertices.insert(mesh.face_vertices.end(), {0, k, k % spokes + 1});
    mesh.face_offsets.push_back(3 * k);
  }
  mesh.parts[0].face_count = spokes;
  return source;
}

// Whose spokes are turned and lifted by random amounts, so that most fans fold.
Points Crumpled(const Rig& rig, testing::Random& random) {
  Points points = testing::RestPoints(rig);
  for (std::size_t v = 1; v <= rig.vertices() / 2; ++v) {
    points[v] = Apply(testing::RigidMotion({0, 0, 1}, 120 * (random.Next() - 0.5)), points[v]);
    points[v] = (0.5 + random.Next()) * points[v];
    points[v].z = random.Next() - 0.5;
  }
  return points;
}

TEST(Relax, FoldedFansMatchReference) {
  testing::Random random(3);
  const RelaxParams params = {.iterations = 1, .strength = 0.3F};
  for (const std::uint32_t spokes : {4, 6, 9, 14, 16}) {
    const Rig rig = testing::MakeRig(Fan(spokes));
    const Relaxing relaxing(rig, params);
    for (int k = 0; k < 50; ++k) {
      const Points posed = Crumpled(rig, random);
      EXPECT_LT(Distance(relaxing.Run(posed)[0], reference::Relaxed(rig, params, posed)[0]), 1e-4)
          << spokes << " spokes, fan " << k;
    }
  }
}

TEST(Relax, PolesStay) {
  for (const std::uint32_t spokes : {16, 17}) {
    const Rig rig = testing::MakeRig(Fan(spokes));
    Points posed = testing::RestPoints(rig);
    posed[0].x += 0.1;
    const double moved = Distance(Relaxing(rig, {}).Run(posed)[0], ToDouble(ToFloat(posed[0])));
    EXPECT_NEAR(moved, spokes == 16 ? 0.05 : 0, 0.01) << spokes;
    EXPECT_EQ(moved == 0, spokes == 17);
  }
}

// Point 0 has six neighbours. Longer rings in its group do not change its bits.
TEST(Relax, PointsAreIndependent) {
  constexpr std::size_t kRing = 6;
  testing::Random random(9);
  for (int fan = 0; fan < 50; ++fan) {
    AlignedVector<float> points(32 * 4);
    for (float& x : points) x = random.Next() - 0.5F;
    const auto run = [&](std::size_t steps) {
      const bool closed = steps > kRing;
      std::vector<std::uint32_t> ring(steps * kLanes);
      AlignedVector<float> weights(steps * kLanes), outside(kLanes, 1.0F), out(kLanes * 4);
      for (std::size_t s = 0; s < steps; ++s) {
        for (std::uint32_t i = 0; i < kLanes; ++i) {
          const std::size_t size = i == 0 || !closed ? kRing : steps - 1;
          ring[s * kLanes + i] = s < size ? 16 + static_cast<std::uint32_t>(s) : s == size ? 16 : i;
          weights[s * kLanes + i] = s < size ? 1.0F / static_cast<float>(size) : 0;
        }
      }
      RelaxKernel(ring.data(), weights.data(), steps, closed, outside.data(), 0.5F, points.data(),
                  nullptr, 0, out.data());
      return std::vector(out.begin(), out.begin() + 3);
    };
    const std::vector<float> want = run(kRing);
    for (const std::size_t steps : {kRing + 1, kRing + 2, kMostSteps}) {
      EXPECT_EQ(run(steps), want) << fan << ", " << steps << " steps";
    }
  }
}

// A tube of radius 1 whose points are shifted around the axis by individual angles.
const testing::TubeOptions kRound = {.rings = 21, .around = 16, .radius = 1};
Points WentAround(const Rig& rig) {
  Points turned = testing::RestPoints(rig);
  for (std::size_t v = 0; v < turned.size(); ++v) {
    const AffineD by = testing::RigidMotion({1, 0, 0}, 8 * std::sin(3.7 * static_cast<double>(v)));
    turned[v] = Apply(by, turned[v]);
  }
  return turned;
}
void ExpectItDidNotGrow(const Points& out, const Points& turned) {
  for (std::size_t v = 0; v < out.size(); ++v) {
    EXPECT_LT(std::hypot(out[v].y, out[v].z), 1 + 1e-6) << v;
  }
  EXPECT_GT(MaxDistance(out, turned), 0.1);
}

// Seen along the limb, a point that slides around it stays inside the polygon of its ring.
TEST(Relax, ConvexSkinDoesNotGrow) {
  const Rig rig = testing::TubeRig(kRound);
  const Points turned = WentAround(rig);
  ExpectItDidNotGrow(Relaxing(rig, {.iterations = 1, .strength = 1}).Run(turned), turned);
}

// Face normals point inward.
TEST(Relax, InvertedSkinDoesNotGrow) {
  RigSource source = testing::TubeSource(kRound);
  for (std::size_t f = 0; f + 1 < source.mesh.face_offsets.size(); ++f) {
    std::reverse(source.mesh.face_vertices.begin() + source.mesh.face_offsets[f],
                 source.mesh.face_vertices.begin() + source.mesh.face_offsets[f + 1]);
  }
  const Rig rig = testing::MakeRig(std::move(source));
  const Points turned = WentAround(rig);
  ExpectItDidNotGrow(Relaxing(rig, {.iterations = 1, .strength = 1}).Run(turned), turned);
}

// A brick pattern: corners in the middle of sides, where the face's angle is about 180 degrees.
TEST(Relax, FlatSkinSlidesForAnyFaces) {
  constexpr std::uint32_t kSide = 14;
  for (const double off : {-0.1, 0.0, 0.1}) {  // distance of such a corner from its side
    RigSource source = testing::TubeSource({.rings = 2, .around = kSide * kSide / 2});
    MeshSource& mesh = source.mesh;
    const auto at = [](std::uint32_t row, std::uint32_t k) { return row * kSide + k; };
    mesh.face_vertices.clear();
    mesh.face_offsets = {0};
    for (std::uint32_t row = 0; row < kSide; ++row) {
      for (std::uint32_t k = 0; k < kSide; ++k) {
        const double y = row + (k + row) % 2 * off;
        mesh.positions[at(row, k)] = ToFloat(Vec3d{0.1 * k, 0.1 * y, 0});
        if (row + 1 == kSide || k + 2 >= kSide || (k + row) % 2 != 0) continue;
        for (const std::uint32_t corner : {at(row, k + 1), at(row, k + 2), at(row + 1, k + 2),
                                           at(row + 1, k + 1), at(row + 1, k), at(row, k)}) {
          mesh.face_vertices.push_back(corner);
        }
        mesh.face_offsets.push_back(static_cast<std::uint32_t>(mesh.face_vertices.size()));
      }
    }
    mesh.parts[0].face_count = static_cast<std::uint32_t>(mesh.face_offsets.size() - 1);
    const Rig rig = testing::MakeRig(std::move(source));
    const Points rest = testing::RestPoints(rig);
    const Relaxing relaxing(rig, {.iterations = 1, .strength = 1});
    for (const std::uint32_t v : {at(6, 6), at(6, 7), at(7, 6), at(7, 7)}) {
      Points posed = rest;
      posed[v].x += 0.01;
      EXPECT_LT(Distance(relaxing.Run(posed)[v], rest[v]), 1e-6) << off << " " << v;
    }
  }
}

// Four sides: right-angled ridges slide a fifth of the way; with twelve sides all of it.
TEST(Relax, RidgesSlideLess) {
  const auto share = [](std::size_t around) {
    const Rig rig = testing::TubeRig({.rings = 9, .around = around});
    Points posed = testing::RestPoints(rig);
    const std::size_t v = 4 * around;
    const double from = posed[v].x;
    posed[v].x += 0.01;
    return (from + 0.01 - Relaxing(rig, {.iterations = 1, .strength = 1}).Run(posed)[v].x) / 0.01;
  };
  EXPECT_NEAR(share(12), 1, 1e-3);
  EXPECT_NEAR(share(4), 0.2, 0.05);
}

// However few sides one face has: a cap of one polygon, and the wall of a cylinder.
TEST(Relax, CapRimIsRidge) {
  constexpr std::uint32_t kAround = 32;
  RigSource source = testing::TubeSource({.rings = 9, .around = kAround});
  MeshSource& mesh = source.mesh;
  for (std::uint32_t k = 0; k < kAround; ++k) mesh.face_vertices.push_back(8 * kAround + k);
  mesh.face_offsets.push_back(static_cast<std::uint32_t>(mesh.face_vertices.size()));
  ++mesh.parts[0].face_count;
  const Rig rig = testing::MakeRig(std::move(source));
  const Points rest = testing::RestPoints(rig);
  Points posed = rest;
  posed[8 * kAround].y += 0.02;
  const Points out = Relaxing(rig, {.iterations = 1, .strength = 1}).Run(posed);
  EXPECT_LT(Distance(out[8 * kAround], posed[8 * kAround]), 0.3 * 0.02);
}

TEST(Relax, SlidesBackAlongSurface) {
  const Rig rig = testing::CanonicalCylinder();
  const Points rest = testing::RestPoints(rig), slid = Slid(rig);
  const Points back = Relaxing(rig, {.iterations = 10}).Run(slid);
  double before = 0, after = 0;
  for (std::size_t v = 32 * 5; v < 32 * 76; ++v) {
    before += Distance(slid[v], rest[v]);
    after += Distance(back[v], rest[v]);
    EXPECT_NEAR(std::hypot(back[v].y, back[v].z), 1, 5e-3) << v;
  }
  EXPECT_LT(after, 0.2 * before);
}

TEST(Relax, KeepsBorders) {
  const Rig rig = testing::TubeRig({.rings = 9, .around = 8});
  Points posed = testing::RestPoints(rig);
  for (Vec3d& p : posed) p.x += 0.1 * p.y;
  const Relaxing relaxing(rig, {.iterations = 5, .strength = 1});
  const Points out = relaxing.Run(posed);
  for (const std::size_t v : {0, 7, 64, 71}) {
    EXPECT_EQ(static_cast<float>(out[v].x), static_cast<float>(posed[v].x)) << v;
    EXPECT_EQ(static_cast<float>(out[v].y), static_cast<float>(posed[v].y)) << v;
    EXPECT_EQ(static_cast<float>(out[v].z), static_cast<float>(posed[v].z)) << v;
  }
  EXPECT_EQ(relaxing.relax().Statistics().front().value, 16);
}

// Tables that keep all rules, but are not those of a ring.
TEST(Relax, FiniteForDamagedTables) {
  const Rig rig = testing::CanonicalCylinder();
  const Points slid = Slid(rig);
  testing::Random random(4);
  for (int k = 0; k < 20; ++k) {
    Relaxing relaxing(rig, {});
    Relax& relax = relaxing.relax();
    for (float& w : relax.weights) w = random.Below(3) == 0 ? 0 : random.Next();
    for (std::uint32_t& p : relax.ring) {
      if (random.Below(4) == 0) p = random.Below(static_cast<std::uint32_t>(relax.points()));
    }
    for (std::uint8_t& closed : relax.group_closed) closed = random.Below(2) != 0 ? 1 : 0;
    for (const Vec3d& p : relaxing.Run(slid)) {
      EXPECT_TRUE(std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z));
    }
  }
}

}  // namespace
}  // namespace sinew
