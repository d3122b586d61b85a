// Skin that a field does not fit.
#include "core/deform/implicit/skin.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
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
  Block(float wall, float lifted) : wall_(wall), lifted_(lifted) {}
  PartBlocks Distances(const PointBlock& points, const DistanceNeed&) const override {
    PartBlocks parts(2);
    for (std::uint32_t p = 0; p < 2; ++p) parts[p].part = p;
    for (std::size_t i = 0; i < kLanes; ++i) {
      const float x = points.x[i], y = points.y[i], z = points.z[i], r = std::hypot(y, z);
      const float side = r - 1, end = std::abs(x) - static_cast<float>(kEnd);
      parts[0].value[i] = std::max(side, end) - (x > lifted_ ? 0.65f : 0);
      parts[0].x[i] = side > end ? 0 : std::copysign(1.0f, x);
      parts[0].y[i] = side > end ? y / r : 0;
      parts[0].z[i] = side > end ? z / r : 0;
      parts[1].value[i] = wall_ - x;
      parts[1].x[i] = -1;
      parts[1].y[i] = parts[1].z[i] = 0;
    }
    return parts;
  }
  float Reach(std::uint32_t) const override { return 1; }
  float Size(std::uint32_t) const override { return 1; }
  float unit() const override { return 1; }
  float Trust(std::uint32_t, const Vec3f&) const override { return 1; }
  Vec3f FromBone(std::uint32_t, const Vec3f& p) const override { return {0, p.y, p.z}; }
  std::span<const Affine> PartFrames() const override { return frames_; }

 private:
  std::array<Affine, 2> frames_;
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

// An ear inside the head's field at rest: that field is meaningless once it has left it.
TEST(SkinSurface, SkinOffFieldIsNotProjected) {
  const Block lifted(kNowhere, 2);
  const LimbProjection limb(Limb(81, 16), lifted);
  const AlignedVector<PointBlock> rest = RestBlocks(limb);
  const Projected run = limb.RunOn(rest, Fitting());
  std::size_t beyond = 0;
  for (std::size_t v = 0; v < limb.rig().vertices(); ++v) {
    const float x = limb.rig().mesh().positions()[v].x;
    if (x > 1.7f && x < 2.3f) continue;  // holds are smooth over a few rings
    EXPECT_EQ(run.points[v], run.start[v]) << x;
    beyond += x > 2 ? 1 : 0;
  }
  EXPECT_GT(beyond, 300u);
}

TEST(SkinSurface, HoldFallsSmoothly) {
  const Block lifted(kNowhere, 2);
  const LimbProjection limb(Limb(81, 16), lifted);
  float least = 1, most = 0;
  std::vector<float> along(81, 1);  // the smallest of each ring
  for (std::uint32_t p = 0; p < limb.skin().points(); ++p) {
    const float hold = limb.level().move_share[p];
    least = std::min(least, hold);
    most = std::max(most, hold);
    const float x = limb.skin().PointOf(limb.layout().rest, p).x;
    const auto ring = static_cast<std::size_t>(std::lround((x + kEnd) * 8));
    along[ring] = std::min(along[ring], hold);
  }
  EXPECT_EQ(least, 0);
  EXPECT_EQ(most, 1);
  for (std::size_t ring = 1; ring + 1 < along.size(); ++ring) {
    EXPECT_LT(std::abs(along[ring] - along[ring - 1]), 0.6f) << ring;
  }
}

}  // namespace
}  // namespace sinew
