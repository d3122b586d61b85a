#include "core/surface/tangents.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numbers>
#include <type_traits>

#include "core/base/vectors.h"
#include "core/deform/lbs/lbs.h"
#include "core/surface/normals.h"
#include "tests/support/run_method.h"
#include "tests/support/small_rigs.h"
#include "tests/support/tube.h"

namespace sinew {
namespace {

using testing::BendPose;
using testing::Distance;
using testing::Moved;
using testing::PosedMesh;
using testing::RestPose;
using testing::RigidMotion;
using testing::RunMethod;
using testing::ScaleMotion;
using testing::TexturedTube;
using testing::TwistPose;

struct Surface {
  std::vector<Vec3f> normals;
  std::vector<Vec4f> tangents;

  Vec3d normal(std::size_t v) const { return ToDouble(normals[v]); }
  Vec3d tangent(std::size_t v) const { return {tangents[v].x, tangents[v].y, tangents[v].z}; }
  Vec3d bitangent(std::size_t v) const {
    return double{tangents[v].w} * Cross(normal(v), tangent(v));
  }
};

Surface Finish(const NormalFinisher& finisher, const PosedMesh& posed, const Task& task = Task()) {
  Surface out;
  out.normals.resize(posed.layout->vertices);
  out.tangents.resize(posed.layout->vertices);
  AlignedVector<float> scratch(finisher.scratch_floats(), std::nanf(""));
  const DenormalGuard guard;
  finisher.Run(*posed.layout, posed.rig(), posed.blocks, scratch,
               {.normals = std::as_writable_bytes(std::span(out.normals)),
                .tangents = std::as_writable_bytes(std::span(out.tangents))},
               task);
  return out;
}

Surface Finish(const Rig& rig, std::span<const Affine> pose) {
  const PosedMesh posed = RunMethod<Lbs>(rig, {}, pose);
  const auto finisher =
      testing::ValueOrDie(NormalFinisher::Bind(RigSurface(rig, *posed.layout), Task()));
  EXPECT_TRUE(finisher.has_tangents());
  EXPECT_TRUE(finisher.Check(*posed.layout).ok());
  return Finish(finisher, posed);
}

double Degrees(const Vec3d& a, const Vec3d& b) {
  const Vec3d c = Cross(a, b);
  return std::atan2(std::sqrt(Dot(c, c)), Dot(a, b)) * 180 / std::numbers::pi;
}

// Linear blend position of the point (x, angle) of the reference tube, in double.
Vec3d Blended(std::span<const AffineD> skin, double x, double angle) {
  const double t = std::clamp(x + 0.5, 0.0, 1.0), w = t * t * (3 - 2 * t);
  const Vec3d p = {x, 0.5 * std::cos(angle), 0.5 * std::sin(angle)};
  return (1 - w) * Apply(skin[0], p) + w * Apply(skin[1], p);
}

TEST(Tangents, FollowTextureOnTwistedAndBentTube) {
  const testing::TubeOptions options = {.quads = true};
  const Rig tube = TexturedTube(options);
  for (const bool twist : {true, false}) {
    const auto pose = twist ? TwistPose(tube, 90) : BendPose(tube, 45);
    const Surface surface = Finish(tube, pose);
    const auto skin = testing::SkinMatrices(tube, pose);
    double worst = 0, worst_turned = 0;
    for (std::size_t i = 1; i + 1 < options.rings; ++i) {
      for (std::size_t k = 0; k < options.around; ++k) {
        constexpr double h = 1e-5;
        const double x = options.length * (static_cast<double>(i) / 60 - 0.5);
        const double angle = 2 * std::numbers::pi * static_cast<double>(k) / 32;
        const auto along = [&](double s) {
          return Blended(skin, x + 0.6 * s, angle + 0.8 / 0.5 * s);
        };
        const std::size_t v = i * options.around + k;
        const Vec3d moved = along(h) - along(-h);
        const Vec3d n = surface.normal(v);
        worst = std::max(worst, Degrees(surface.tangent(v), Unit(moved - Dot(moved, n) * n)));
        // Transformed by the blended matrix alone.
        const Vec4f& authored = tube.mesh().tangents()[v];
        const double t = std::clamp(x + 0.5, 0.0, 1.0), w = t * t * (3 - 2 * t);
        const Vec3d rest = {authored.x, authored.y, authored.z};
        const Vec3d turned =
            (1 - w) * Multiply(Linear(skin[0]), rest) + w * Multiply(Linear(skin[1]), rest);
        worst_turned = std::max(worst_turned, Degrees(turned, moved));
      }
    }
    EXPECT_LT(worst, twist ? 0.5 : 0.5);
    EXPECT_GT(worst_turned, 10);
  }
}

TEST(Tangents, ExactUnderUniformScaleAndMirror) {
  const AffineD motions[] = {AffineD{}, RigidMotion({1, 2, 3}, 77, {4, 5, 6}),
                             ScaleMotion({3, 3, 3}), ScaleMotion({-1, 1, 1}),
                             Compose(RigidMotion({0, 1, 1}, 130), ScaleMotion({2, 2, -2}))};
  for (const Rig& rig : {testing::HardCube(), TexturedTube()}) {
    const Surface rest = Finish(rig, RestPose(rig));
    for (const AffineD& motion : motions) {
      const Surface moved = Finish(rig, Moved(motion, RestPose(rig)));
      for (std::size_t v = 0; v < rig.vertices(); ++v) {
        const Mat3d m = Linear(motion);
        EXPECT_LT(Distance(moved.tangent(v), Unit(Multiply(m, rest.tangent(v)))), 2e-5) << v;
        // Also when mirrored: the handedness stays, because the normal flips with the winding.
        EXPECT_LT(Distance(moved.bitangent(v), Unit(Multiply(m, rest.bitangent(v)))), 2e-5) << v;
        EXPECT_EQ(moved.tangents[v].w, rig.mesh().tangents()[v].w) << v;
      }
    }
  }
}

// A slanted scale shears the texture of a flat sheet; tangents follow, normals stay.
TEST(Tangents, FollowInPlaneShear) {
  std::vector<Vec3f> positions;
  std::vector<std::vector<std::uint32_t>> faces;
  for (std::uint32_t i = 0; i < 9; ++i) {
    positions.push_back({static_cast<float>(i % 3), static_cast<float>(i / 3), 0});
  }
  for (const std::uint32_t i : {0u, 1u, 3u, 4u}) faces.push_back({i, i + 1, i + 4, i + 3});
  RigSource source = testing::RigidSource(positions, faces);
  source.mesh.tangents.assign(9, {0.6f, 0.8f, 0, 1});
  const Rig rig = testing::MakeRig(std::move(source));
  AffineD shear;
  shear.m[1] = 2;
  const Surface surface = Finish(rig, Moved(shear, RestPose(rig)));
  for (std::size_t v = 0; v < 9; ++v) {
    EXPECT_LT(Distance(surface.tangent(v), Unit({0.6 + 2 * 0.8, 0.8, 0})), 1e-6) << v;
    EXPECT_EQ(surface.normals[v], (Vec3f{0, 0, 1})) << v;
  }
}

TEST(Tangents, ZeroTangentStaysZero) {
  RigSource source = testing::TubeSource({.rings = 5, .around = 6});
  source.mesh.tangents.assign(source.mesh.positions.size(), {1, 0, 0, 1});
  source.mesh.tangents[7] = {0, 0, 0, 1};
  source.mesh.tangents[8] = {};
  const Rig rig = testing::MakeRig(std::move(source));
  const Surface surface = Finish(rig, BendPose(rig, 30));
  for (std::size_t v = 0; v < rig.vertices(); ++v) {
    const bool none = v == 7 || v == 8;
    EXPECT_NEAR(Dot(surface.tangent(v), surface.tangent(v)), none ? 0 : 1, 1e-5) << v;
    EXPECT_EQ(surface.tangents[v].w, none ? 0 : 1) << v;
  }
}

TEST(Tangents, SeamVerticesKeepOwnTangents) {
  RigSource source = testing::RigidSource(
      {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {1, 0, 0}, {2, 0, 0}, {2, 1, 0}, {1, 1, 0}},
      {{0, 1, 2, 3}, {4, 5, 6, 7}});
  source.mesh.tangents.assign(4, {1, 0, 0, 1});
  source.mesh.tangents.resize(8, {0, 2, 0, -1});
  const Rig rig = testing::MakeRig(std::move(source));
  const Surface surface = Finish(rig, Moved(RigidMotion({0, 0, 1}, 90), RestPose(rig)));
  for (std::size_t v = 0; v < 8; ++v) {
    EXPECT_LT(Distance(surface.tangent(v), v < 4 ? Vec3d{0, 1, 0} : Vec3d{-1, 0, 0}), 1e-6) << v;
    EXPECT_EQ(surface.tangents[v].w, v < 4 ? 1 : -1) << v;
  }
}

TEST(Tangents, IsolatedVerticesRotateWithJoint) {
  RigSource source =
      testing::RigidSource({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {5, 5, 5}}, {{0, 1, 2}});
  source.mesh.tangents = {{1, 0, 0, 1}, {1, 0, 0, 1}, {1, 0, 0, 1}, {0, 0, 7, 1}};
  source.mesh.normals = {{}, {}, {}, {0, 2, 0}};
  const Rig rig = testing::MakeRig(std::move(source));
  const Surface surface = Finish(rig, Moved(RigidMotion({1, 0, 0}, 90), RestPose(rig)));
  EXPECT_LT(Distance(surface.tangent(3), {0, -1, 0}), 1e-6);
  EXPECT_LT(Distance(surface.normal(3), {0, 0, 1}), 1e-6);
}

TEST(Tangents, TangentAlongNormalGivesValidTangent) {
  RigSource source = testing::RigidSource({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 2}});
  source.mesh.tangents.assign(3, {0, 0, -1, 1});
  const Rig rig = testing::MakeRig(std::move(source));
  const Surface surface = Finish(rig, Moved(RigidMotion({1, 1, 0}, 50), RestPose(rig)));
  for (std::size_t v = 0; v < 3; ++v) {
    EXPECT_NEAR(Dot(surface.tangent(v), surface.tangent(v)), 1, 1e-6);
    EXPECT_NEAR(Dot(surface.tangent(v), surface.normal(v)), 0, 1e-6);
  }
}

// Every rig, random tangents, degenerate poses.
TEST(Tangents, UnitAndPerpendicularForAnyPose) {
  for (const testing::NamedRig& named : testing::AllRigs()) {
    for (const Vec4f& tangent : {Vec4f{1, 0, 0, 1}, Vec4f{0, 1e-20f, 0, -1}, Vec4f{3, -1, 2, 1}}) {
      const Mesh& mesh = named.rig.mesh();
      RigSource rig_source =
          testing::RigidSource({mesh.positions().begin(), mesh.positions().end()}, {});
      rig_source.mesh.face_offsets.assign(mesh.face_offsets().begin(), mesh.face_offsets().end());
      rig_source.mesh.face_vertices.assign(mesh.face_vertices().begin(),
                                           mesh.face_vertices().end());
      rig_source.mesh.parts.front().face_count = static_cast<std::uint32_t>(mesh.faces());
      rig_source.mesh.normals.assign(mesh.normals().begin(), mesh.normals().end());
      rig_source.mesh.tangents.assign(mesh.vertices(), tangent);
      const Rig rig = testing::MakeRig(std::move(rig_source));
      for (const Vec3d& scale :
           {Vec3d{0, 0, 0}, Vec3d{1, 0, 1}, Vec3d{0, 0, 1}, Vec3d{1e-12, 1e-12, 1e-12},
            Vec3d{1e12, 1e12, 1e12}, Vec3d{1e-30, 1, 1e3}, Vec3d{-1, -1, -1}}) {
        const Surface surface = Finish(rig, Moved(ScaleMotion(scale), RestPose(rig)));
        for (std::size_t v = 0; v < rig.vertices(); ++v) {
          ASSERT_NEAR(Dot(surface.tangent(v), surface.tangent(v)), 1, 1e-5) << named.name << v;
          ASSERT_NEAR(Dot(surface.tangent(v), surface.normal(v)), 0, 1e-5) << named.name << v;
        }
      }
    }
  }
}

TEST(Tangents, SameBitsWithoutNormalsAndOnAnyThreads) {
  const Rig tube = TexturedTube({.rings = 201, .around = 64});
  const PosedMesh posed = RunMethod<Lbs>(tube, {}, BendPose(tube, 90));
  const auto finisher =
      testing::ValueOrDie(NormalFinisher::Bind(RigSurface(tube, *posed.layout), Task()));
  const Surface both = Finish(finisher, posed);
  Task::Options options;
  options.parallel = false;
  const Surface serial = Finish(finisher, posed, Task(options));
  EXPECT_EQ(both.tangents, serial.tangents);
  EXPECT_EQ(both.normals, serial.normals);
  std::vector<Vec4f> alone(tube.vertices());
  AlignedVector<float> scratch(finisher.scratch_floats());
  const DenormalGuard guard;
  finisher.Run(*posed.layout, posed.rig(), posed.blocks, scratch,
               {.tangents = std::as_writable_bytes(std::span(alone))}, Task());
  EXPECT_EQ(alone, both.tangents);
}

TEST(Tangents, CheckRejectsDamagedTables) {
  const Rig rig = TexturedTube({.rings = 5, .around = 6});
  const auto layout = testing::ValueOrDie(BlockLayout::Create(rig));
  const auto bound = testing::ValueOrDie(NormalFinisher::Bind(RigSurface(rig, *layout), Task()));
  int tables = 0;
  NormalTables names;
  const auto damage = [&](std::string_view name, auto&, const auto&...) {
    for (const bool cut : {true, false}) {
      NormalFinisher damaged = bound;
      NormalFinisher::Fields(
          damaged, [&]<class T>(std::string_view other, T& field, const auto&...) {
            if constexpr (!std::is_arithmetic_v<T>) {
              if (other != name) return;
              ++tables;
              cut ? field.pop_back()
                  : static_cast<void>(
                        std::memset(static_cast<void*>(&field[field.size() / 2]), 0x7f, 4));
            }
          });
      EXPECT_EQ(damaged.Check(*layout).code(), absl::StatusCode::kDataLoss) << name << cut;
    }
  };
  TangentTables::Fields(names.tangents, damage, 0, 0, 0);
  EXPECT_EQ(tables, 10);
}

}  // namespace
}  // namespace sinew
