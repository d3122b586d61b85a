// Projection weights and feature preservation weights.
#include "core/deform/implicit/surface/skin_surface.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "tests/unit/core/deform/implicit/limb_projection.h"

namespace sinew {
namespace {

using testing::LimbProjection;
using testing::Projected;

constexpr double kEnd = 5;

// A limb along x, radius 1 from -5 to 5, as part 0. Another part 1 that fills the space beyond x =
// `wall`. From x = `lifted` on the first is larger by 0.3 and does not fit its skin.
class Block : public PosedField {
 public:
  explicit Block(float wall, float lifted) : wall_(wall), lifted_(lifted) {}
  void Evaluate(const PointBlock& points, Contact, FieldBlock& out) const override {
    out = {};
    for (const PartBlock& part : EvaluateParts(points)) {
      for (std::size_t i = 0; i < kLanes; ++i) {
        if (!(part.value[i] > out.value[i])) continue;
        out.value[i] = part.value[i];
        out.x[i] = part.x[i];
        out.y[i] = part.y[i];
        out.z[i] = part.z[i];
      }
    }
  }
  PartBlocks EvaluateParts(const PointBlock& points) const override {
    PartBlocks parts(2);
    for (std::uint32_t p = 0; p < 2; ++p) parts[p].part = p;
    for (std::size_t i = 0; i < kLanes; ++i) {
      const float x = points.x[i], y = points.y[i], z = points.z[i], r = std::hypot(y, z);
      const float side = 1 - r, end = static_cast<float>(kEnd) - std::abs(x);
      parts[0].value[i] = 0.5f + kSlope * std::min(side, end) + (x > lifted_ ? 0.3f : 0);
      parts[0].x[i] = side < end ? 0 : std::copysign(kSlope, -x);
      parts[0].y[i] = side < end ? -kSlope * y / r : 0;
      parts[0].z[i] = side < end ? -kSlope * z / r : 0;
      parts[1].value[i] = 0.5f + kSlope * (x - wall_);
      parts[1].x[i] = kSlope;
      parts[1].y[i] = parts[1].z[i] = 0;
    }
    return parts;
  }
  std::span<const Affine> PartFrames() const override { return {}; }

 private:
  static constexpr float kSlope = 0.45f;
  float wall_, lifted_;
};

constexpr float kNowhere = 100;
Block Fitting(float wall = kNowhere) {
  return Block(wall, kNowhere);
}

// That limb with flat ends.
Rig Limb(std::size_t rings, std::size_t around) {
  RigSource source =
      testing::TubeSource({.rings = rings, .around = around, .length = 2 * kEnd, .radius = 1});
  MeshSource& mesh = source.mesh;
  const auto count = static_cast<std::uint32_t>(around);
  for (const bool last : {false, true}) {
    const auto centre = static_cast<std::uint32_t>(mesh.positions.size());
    const std::uint32_t first = last ? centre - 1 - count : 0;
    mesh.positions.push_back({static_cast<float>(last ? kEnd : -kEnd), 0, 0});
    source.influences.bindings.push_back(last ? 1 : 0);
    source.influences.weights.push_back(1);
    source.influences.offsets.push_back(source.influences.bindings.size());
    for (std::uint32_t k = 0; k < count; ++k) {
      const std::uint32_t a = first + k, b = first + (k + 1) % count;
      mesh.face_vertices.insert(mesh.face_vertices.end(), {centre, last ? a : b, last ? b : a});
      mesh.face_offsets.push_back(static_cast<std::uint32_t>(mesh.face_vertices.size()));
    }
  }
  mesh.parts[0].vertex_count += 2;
  mesh.parts[0].face_count += 2 * count;
  return testing::MakeRig(source);
}

AlignedVector<PointBlock> RestBlocks(const LimbProjection& limb) {
  return testing::RunMethod<Lbs>(limb.rig(), {}, testing::RestPose(limb.rig())).blocks;
}

// Smallest distance from the axis of the rim at x = 5, where the limb is pressed on.
double RimOf(const LimbProjection& limb) {
  const Projected pressed = limb.RunOn(RestBlocks(limb), Fitting(4.9f), {});
  EXPECT_GT(pressed.Last(VertexStatus::kGradientDivergence), 0u);
  double least = HUGE_VAL;
  for (std::size_t v = 0; v < limb.rig().vertices(); ++v) {
    const Vec3f& rest = limb.rig().mesh().positions()[v];
    if (double{rest.x} < kEnd - 0.01 || double{std::hypot(rest.y, rest.z)} < 0.5) continue;
    least = std::min(least, std::hypot(pressed.points[v].y, pressed.points[v].z));
  }
  return least;
}

TEST(SkinSurface, PreservesCoarseEdgeUnderContact) {
  const LimbProjection limb(Limb(11, 8), Fitting());
  const double rim = RimOf(limb);
  EXPECT_GT(rim, 0.97);
  EXPECT_LT(rim, 1.01);
}

// Only sharp skin with influences like its neighbours is preserved.
TEST(SkinSurface, SmoothOrSharedSkinIsNotPreserved) {
  const auto firmest = [](const LimbProjection& limb, double from, double to) {
    float most = 0;
    for (std::uint32_t p = 0; p < limb.skin().points(); ++p) {
      const Vec3f& rest =
          limb.rig().mesh().positions()[limb.layout().Vertex(limb.skin().point_lane[p])];
      if (double{rest.x} < from || double{rest.x} > to) continue;
      most = std::max(most, limb.skin().FirmnessOf(p));
    }
    return most;
  };
  const LimbProjection coarse(Limb(11, 8), Fitting());
  EXPECT_GT(firmest(coarse, kEnd - 0.1, kEnd), 0.7f);
  EXPECT_EQ(firmest(coarse, -kEnd + 2.5, kEnd - 2.5), 0);
  RigSource shared = testing::CanonicalCylinderSource();
  Rig rig = Limb(11, 8);
  shared.mesh.positions.assign(rig.mesh().positions().begin(), rig.mesh().positions().end());
  shared.mesh.face_offsets.assign(rig.mesh().face_offsets().begin(),
                                  rig.mesh().face_offsets().end());
  shared.mesh.face_vertices.assign(rig.mesh().face_vertices().begin(),
                                   rig.mesh().face_vertices().end());
  shared.mesh.parts[0].vertex_count = static_cast<std::uint32_t>(rig.vertices());
  shared.mesh.parts[0].face_count = static_cast<std::uint32_t>(rig.mesh().faces());
  shared.influences = {.offsets = {0}, .bindings = {}, .weights = {}};
  for (std::size_t v = 0; v < rig.vertices(); ++v) {  // neighbours follow different joints
    shared.influences.bindings.push_back(v % 2 == 0 ? 0 : 1);
    shared.influences.weights.push_back(1);
    shared.influences.offsets.push_back(v + 1);
  }
  EXPECT_LT(firmest(LimbProjection(testing::MakeRig(shared), Fitting()), kEnd - 0.1, kEnd), 0.3f);
}

// An ear inside the head's field at rest: that field is meaningless once it has left it.
TEST(SkinSurface, SkinOffFieldIsNotProjected) {
  const LimbProjection limb(Limb(81, 16), Block(kNowhere, 2));
  const AlignedVector<PointBlock> rest = RestBlocks(limb);
  const Projected run = limb.RunOn(rest, Fitting(), {});
  std::size_t beyond = 0;
  for (std::size_t v = 0; v < limb.rig().vertices(); ++v) {
    const float x = limb.rig().mesh().positions()[v].x;
    if (x > 1.7f && x < 2.3f) continue;  // projection weights are smooth over two rings
    EXPECT_EQ(run.points[v], run.start[v]) << x;
    beyond += x > 2 ? 1 : 0;
  }
  EXPECT_GT(beyond, 300u);
}

TEST(SkinSurface, ProjectionWeightsAreSmooth) {
  const LimbProjection limb(Limb(81, 16), Block(kNowhere, 2));
  const SkinSurface& skin = limb.skin();
  float least = 1, most = 0, step = 0;
  for (std::uint32_t p = 0; p < skin.points(); ++p) {
    if (!skin.IsSkin(p)) continue;
    least = std::min(least, skin.WayOf(p));
    most = std::max(most, skin.WayOf(p));
    for (std::size_t k = skin.rows.begin(p); k < skin.rows.end(p); ++k) {
      const std::uint32_t q = skin.rows.At(p, k);
      if (skin.IsSkin(q)) step = std::max(step, std::abs(skin.WayOf(p) - skin.WayOf(q)));
    }
  }
  EXPECT_EQ(least, 0);
  EXPECT_EQ(most, 1);
  EXPECT_LT(step, 0.6f);
}

}  // namespace
}  // namespace sinew
