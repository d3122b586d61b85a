#include "core/surface/normals.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numbers>
#include <stop_token>
#include <type_traits>

#include "core/deform/lbs/lbs.h"
#include "core/surface/adjacency.h"
#include "tests/reference/normals_reference.h"
#include "tests/support/run_method.h"
#include "tests/support/small_rigs.h"
#include "tests/support/tube.h"

namespace sinew {
namespace {

using testing::BendPose;
using testing::Distance;
using testing::MaxDistance;
using testing::Moved;
using testing::PosedMesh;
using testing::RestPose;
using testing::RigidMotion;
using testing::RunMethod;
using testing::ScaleMotion;
using testing::TubeRig;

std::vector<float> RunFinisher(const NormalFinisher& finisher, const PosedMesh& posed,
                               const Task& task) {
  std::vector<float> out(posed.layout->vertices * 3, std::nanf(""));
  AlignedVector<float> scratch(finisher.scratch_floats(), std::nanf(""));
  const DenormalGuard guard;
  finisher.Run(*posed.layout, posed.rig(), posed.blocks, scratch,
               {.normals = std::as_writable_bytes(std::span(out))}, task);
  return out;
}

std::vector<Vec3d> Normals(const Rig& rig, const PosedMesh& posed) {
  const auto finisher =
      testing::ValueOrDie(NormalFinisher::Bind(RigSurface(rig, *posed.layout), Task()));
  EXPECT_TRUE(finisher.Check(*posed.layout).ok());
  const std::vector<float> out = RunFinisher(finisher, posed, Task());
  std::vector<Vec3d> normals;
  for (std::size_t i = 0; i < out.size(); i += 3)
    normals.push_back({out[i], out[i + 1], out[i + 2]});
  return normals;
}

std::vector<Vec3d> Normals(const Rig& rig, std::span<const Affine> pose) {
  return Normals(rig, RunMethod<Lbs>(rig, {}, pose));
}

void ExpectUnit(const std::vector<Vec3d>& normals, const std::string& name) {
  for (std::size_t v = 0; v < normals.size(); ++v) {
    ASSERT_NEAR(std::sqrt(Dot(normals[v], normals[v])), 1, 1e-5) << name << " vertex " << v;
  }
}

// cof(A) n, normalised: a normal transformed by the linear part of a motion.
Vec3d MovedNormal(const AffineD& motion, const Vec3d& n) {
  const Mat3d inverse = Linear(Inverse(motion));
  const double side = Determinant(Linear(motion)) < 0 ? -1 : 1;
  const Vec3d moved = side * Multiply(Transpose(inverse), n);
  return (1 / std::sqrt(Dot(moved, moved))) * moved;
}

// A closed ball of quads and triangles; faces point outward.
Rig Ball(const Vec3d& radii) {
  constexpr std::uint32_t kRings = 15, kAround = 24;
  std::vector<Vec3f> positions = {ToFloat(Vec3d{0, 0, radii.z}), ToFloat(Vec3d{0, 0, -radii.z})};
  std::vector<std::vector<std::uint32_t>> faces;
  const auto at = [](std::uint32_t i, std::uint32_t k) { return 2 + i * kAround + k % kAround; };
  for (std::uint32_t i = 0; i < kRings; ++i) {
    const double polar = std::numbers::pi * (i + 1) / (kRings + 1);
    for (std::uint32_t k = 0; k < kAround; ++k) {
      const double angle = 2 * std::numbers::pi * k / kAround;
      positions.push_back(
          ToFloat(Vec3d{radii.x * std::sin(polar) * std::cos(angle),
                        radii.y * std::sin(polar) * std::sin(angle), radii.z * std::cos(polar)}));
      if (i == 0) faces.push_back({0, at(0, k), at(0, k + 1)});
      if (i + 1 < kRings) faces.push_back({at(i, k), at(i + 1, k), at(i + 1, k + 1), at(i, k + 1)});
      if (i + 1 == kRings) faces.push_back({1, at(i, k + 1), at(i, k)});
    }
  }
  return testing::MakeRig(testing::RigidSource(std::move(positions), faces));
}

TEST(Normals, BallNormalsPointOutward) {
  const Rig ball = Ball({2, 2, 2});
  const auto normals = Normals(ball, RestPose(ball));
  for (std::size_t v = 0; v < normals.size(); ++v) {
    const Vec3d away = 0.5 * ToDouble(ball.mesh().positions()[v]);
    // Quad areas grow away from the poles and tilt normals there by up to 2.8 degrees.
    EXPECT_GT(Dot(normals[v], away), std::cos(3 * std::numbers::pi / 180)) << v;
  }
}

TEST(Normals, EllipsoidNormalsMatchGradient) {
  const Rig ellipsoid = Ball({1, 2, 0.5});
  const auto normals = Normals(ellipsoid, RestPose(ellipsoid));
  for (std::size_t v = 0; v < normals.size(); ++v) {
    const Vec3d p = ToDouble(ellipsoid.mesh().positions()[v]);
    Vec3d gradient = {p.x, p.y / 4, p.z * 4};
    gradient = (1 / std::sqrt(Dot(gradient, gradient))) * gradient;
    EXPECT_GT(Dot(normals[v], gradient), std::cos(4 * std::numbers::pi / 180)) << v;
  }
}

TEST(Normals, PolygonNormalIsVectorArea) {
  const Rig pentagon = testing::MakeRig(testing::RigidSource(
      {{0, 0, 1}, {2, 0, 1}, {3, 1, 1}, {1, 0.5f, 1}, {0, 2, 1}}, {{0, 1, 2, 3, 4}}));
  for (const Vec3d& n : Normals(pentagon, RestPose(pentagon))) EXPECT_EQ(n, (Vec3d{0, 0, 1}));
}

TEST(Normals, TubeNormalsPointAwayFromAxis) {
  for (const bool quads : {false, true}) {
    const Rig tube = TubeRig({.quads = quads});
    const auto normals = Normals(tube, RestPose(tube));
    for (std::size_t v = 0; v < normals.size(); ++v) {
      const Vec3d p = ToDouble(tube.mesh().positions()[v]);
      // Diagonals in one direction tilt the end rings, which have neighbours on one side only.
      const bool end = std::abs(p.x) > 1.99;
      EXPECT_GT(Dot(normals[v], Vec3d{0, 2 * p.y, 2 * p.z}), end && !quads ? 0.995 : 0.99999) << v;
    }
  }
}

TEST(Normals, MatchReferenceOnAnyPose) {
  for (const testing::NamedRig& named : testing::AllRigs()) {
    if (!named.rig.mesh().normals().empty()) continue;
    for (const auto& pose :
         {RestPose(named.rig), BendPose(named.rig, 70), testing::TwistPose(named.rig, 150),
          Moved(ScaleMotion({2, 0.5, 1}), BendPose(named.rig, 30))}) {
      const PosedMesh posed = RunMethod<Lbs>(named.rig, {}, pose);
      const auto want = reference::Normals(named.rig.mesh(), Weld(named.rig).point, posed.points);
      const auto got = Normals(named.rig, posed);
      ExpectUnit(got, named.name);
      for (std::size_t v = 0; v < want.size(); ++v) {
        // Where the reference is undefined or noise of collinear points, any unit normal is fine.
        if (want[v] == Vec3d{} || named.name == "degenerate_fan") continue;
        EXPECT_LT(Distance(got[v], want[v]), 1e-5) << named.name << " vertex " << v;
      }
    }
  }
}

TEST(Normals, FaceWithRepeatedCornerCountsOnce) {
  const Rig rig = testing::MakeRig(testing::RigidSource(
      {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 0, 1}}, {{0, 1, 1, 2}, {0, 3, 1}}));
  const auto want = reference::Normals(rig.mesh(), Weld(rig).point, testing::RestPoints(rig));
  EXPECT_LT(MaxDistance(Normals(rig, RestPose(rig)), want), 1e-6);
  EXPECT_NEAR(want[1].z, std::sqrt(0.5), 1e-12);
}

TEST(Normals, SeamsStayClosedAndLipsSeparate) {
  const Rig seam = testing::SeamDuplicateVertices();
  const auto closed = Normals(seam, RestPose(seam));
  EXPECT_EQ(closed[1], closed[4]);
  EXPECT_EQ(closed[2], closed[7]);
  EXPECT_NEAR(closed[1].x, 0, 1e-6);

  const Rig lips = testing::TouchingLips();
  const auto apart = Normals(lips, RestPose(lips));
  EXPECT_EQ(apart[0], (Vec3d{0, 0, 1}));
  EXPECT_NEAR(apart[7].y, std::sqrt(0.5), 1e-6);
}

TEST(Normals, UsesGivenWeldNumbers) {
  RigSource source = testing::RigidSource({{0, 0, 0},
                                           {1, 0, 0},
                                           {1, 1, 0},  //
                                           {0, 0, 0},
                                           {0, 1, 0},
                                           {0, 1, 1}},
                                          {{0, 1, 2}, {3, 4, 5}});
  source.mesh.weld = {0, 1, 2, 3, 4, 5};
  const Rig apart = testing::MakeRig(source);
  EXPECT_EQ(Normals(apart, RestPose(apart))[0], (Vec3d{0, 0, 1}));
  source.mesh.weld[3] = 0;
  const Rig joined = testing::MakeRig(source);
  EXPECT_NEAR(Normals(joined, RestPose(joined))[0].x, std::sqrt(0.5), 1e-6);
}

TEST(Normals, HardEdgesExactAtRestAndUnderMotion) {
  const Rig cube = testing::HardCube();
  const AffineD motions[] = {AffineD{}, RigidMotion({1, 2, 3}, 77, {4, 5, 6}),
                             ScaleMotion({3, 3, 3}), ScaleMotion({-1, 1, 1}),
                             Compose(RigidMotion({0, 1, 1}, 130), ScaleMotion({2, 2, -2}))};
  for (std::size_t i = 0; i < std::size(motions); ++i) {
    const auto normals = Normals(cube, Moved(motions[i], RestPose(cube)));
    for (std::size_t v = 0; v < normals.size(); ++v) {
      const Vec3d want = MovedNormal(motions[i], ToDouble(cube.mesh().normals()[v]));
      EXPECT_LT(Distance(normals[v], want), 1e-6) << i << " vertex " << v;
    }
  }
}

// A tube whose authored normals lean along the axis, unlike its surface normals.
Rig LeaningTube() {
  RigSource source = testing::TubeSource();
  for (const Vec3f& p : source.mesh.positions) {
    source.mesh.normals.push_back(ToFloat(Vec3d{3, 5 * p.y, 8 * p.z}));  // need not be unit length
  }
  return testing::MakeRig(std::move(source));
}

TEST(Normals, AuthoredNormalsExactAtRest) {
  const Rig tube = LeaningTube();
  const auto normals = Normals(tube, RestPose(tube));
  for (std::size_t v = 0; v < normals.size(); ++v) {
    const Vec3d authored = ToDouble(tube.mesh().normals()[v]);
    const Vec3d want = (1 / std::sqrt(Dot(authored, authored))) * authored;
    EXPECT_LT(Distance(normals[v], want), 1e-5) << v;
  }
}

TEST(Normals, ZeroAuthoredNormalUsesSurface) {
  RigSource source = testing::TubeSource({.quads = true});
  const Rig plain = testing::MakeRig(source);
  source.mesh.normals.resize(source.mesh.positions.size());
  const Rig zeros = testing::MakeRig(source);
  const auto pose = BendPose(plain, 90);
  EXPECT_LT(MaxDistance(Normals(plain, pose), Normals(zeros, pose)), 1e-6);
}

TEST(Normals, RotateWithCharacter) {
  for (const Rig& rig : {TubeRig(), LeaningTube(), testing::NonmanifoldEdge(),
                         testing::IsolatedVertex(), testing::DegenerateFan()}) {
    const auto pose = BendPose(rig, 100);
    const auto still = Normals(rig, pose);
    const AffineD motion = RigidMotion({2, -1, 1}, 123, {1, 2, 3});
    const auto turned = Normals(rig, Moved(motion, pose));
    for (std::size_t v = 0; v < still.size(); ++v) {
      EXPECT_LT(Distance(turned[v], MovedNormal(motion, still[v])), 1e-4) << v;
    }
  }
}

TEST(Normals, MirroredNormalsFollowWinding) {
  for (const Rig& rig : {TubeRig(), LeaningTube(), testing::IsolatedVertex()}) {
    const auto pose = BendPose(rig, 60);
    const auto still = Normals(rig, pose);
    const AffineD mirror = ScaleMotion({1, -1, 1});
    const auto mirrored = Normals(rig, Moved(mirror, pose));
    for (std::size_t v = 0; v < still.size(); ++v) {
      EXPECT_LT(Distance(mirrored[v], MovedNormal(mirror, still[v])), 1e-4) << v;
    }
  }
}

TEST(Normals, IsolatedVerticesKeepAuthoredNormals) {
  RigSource source =
      testing::RigidSource({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {5, 5, 5}, {6, 6, 6}}, {{0, 1, 2}});
  source.mesh.normals = {{}, {}, {}, {0, 2, 0}, {}};
  const Rig rig = testing::MakeRig(std::move(source));
  const auto rest = Normals(rig, RestPose(rig));
  EXPECT_EQ(rest[3], (Vec3d{0, 1, 0}));
  EXPECT_EQ(rest[4], (Vec3d{0, 0, 1}));
  const auto turned = Normals(rig, Moved(RigidMotion({1, 0, 0}, 90), RestPose(rig)));
  EXPECT_LT(Distance(turned[3], {0, 0, 1}), 1e-6);
  EXPECT_LT(Distance(turned[4], {0, -1, 0}), 1e-6);
}

TEST(Normals, TwoSidedSheetUsesAuthoredNormals) {
  RigSource source =
      testing::RigidSource({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 2}, {0, 2, 1}});
  source.mesh.normals = {{0, 0, -1}, {0, 1, 0}, {}};
  const Rig rig = testing::MakeRig(std::move(source));
  const auto normals = Normals(rig, RestPose(rig));
  EXPECT_EQ(normals[0], (Vec3d{0, 0, -1}));
  EXPECT_EQ(normals[1], (Vec3d{0, 1, 0}));
  EXPECT_EQ(normals[2], (Vec3d{0, 0, 1}));
}

TEST(Normals, FiniteAndUnitForAnyPose) {
  for (const testing::NamedRig& named : testing::AllRigs()) {
    for (const Vec3d& scale : {Vec3d{0, 0, 0}, Vec3d{1, 0, 1}, Vec3d{1e-12, 1e-12, 1e-12},
                               Vec3d{1e12, 1e12, 1e12}, Vec3d{1e-30, 1, 1e3}, Vec3d{-1, -1, -1}}) {
      const auto pose = Moved(ScaleMotion(scale), BendPose(named.rig, 90));
      ExpectUnit(Normals(named.rig, pose), named.name);
    }
  }
}

TEST(Normals, InvariantToUniformScale) {
  const Rig tube = TubeRig();
  const auto want = Normals(tube, BendPose(tube, 90));
  for (const double scale : {1e-15, 1e-9, 1e9, 1e15}) {
    const auto pose = Moved(ScaleMotion({scale, scale, scale}), BendPose(tube, 90));
    EXPECT_LT(MaxDistance(Normals(tube, pose), want), 1e-4) << scale;
  }
}

// A regular polygon in the xy plane, and copies with the same corners, every other one inverted.
Rig Polygons(std::uint32_t corners, std::size_t faces) {
  std::vector<Vec3f> positions;
  std::vector<std::uint32_t> around, back;
  for (std::uint32_t c = 0; c < corners; ++c) {
    const double angle = 2 * std::numbers::pi * c / corners;
    positions.push_back(ToFloat(Vec3d{std::cos(angle), std::sin(angle), 0}));
    around.push_back(c);
    back.push_back(corners - 1 - c);
  }
  std::vector<std::vector<std::uint32_t>> lists;
  for (std::size_t f = 0; f < faces; ++f) lists.push_back(f % 2 == 0 ? around : back);
  return testing::MakeRig(testing::RigidSource(positions, lists));
}

// Would take hours if each corner walked around the whole face.
TEST(Normals, HandlesHugeDegeneratePolygon) {
  const Rig rig = Polygons(400'000, 1);
  for (const Vec3d& n : Normals(rig, Moved(ScaleMotion({1, 0, 0}), RestPose(rig)))) {
    ASSERT_EQ(n, (Vec3d{0, 0, 1}));
  }
}

TEST(Normals, LargePolygonsSumInDouble) {
  for (const std::uint32_t corners : {5u, 8u, 9u, 1000u}) {
    for (const double scale : {1e-15, 1.0, 1e15}) {
      const auto motion = Compose(RigidMotion({1, 0, 0}, 90), ScaleMotion({scale, scale, scale}));
      for (const std::size_t faces : {1, 3}) {
        const Rig rig = Polygons(corners, faces);
        for (const Vec3d& n : Normals(rig, Moved(motion, RestPose(rig)))) {
          ASSERT_LT(Distance(n, {0, -1, 0}), 1e-4) << corners << " " << scale << " " << faces;
        }
      }
    }
  }
}

TEST(Normals, BindCancellable) {
  const Rig rig = TubeRig();
  const auto layout = testing::ValueOrDie(BlockLayout::Create(rig));
  std::stop_source stop;
  stop.request_stop();
  const Task task({.stop = stop.get_token()});
  EXPECT_EQ(NormalFinisher::Bind(RigSurface(rig, *layout), task).status().code(),
            absl::StatusCode::kCancelled);
}

TEST(Normals, SameBitsForAnyThreadCount) {
  const Rig tube = TubeRig({.rings = 401, .around = 64});
  const PosedMesh posed = RunMethod<Lbs>(tube, {}, BendPose(tube, 90));
  const auto finisher =
      testing::ValueOrDie(NormalFinisher::Bind(RigSurface(tube, *posed.layout), Task()));
  Task::Options options;
  options.parallel = false;
  EXPECT_EQ(RunFinisher(finisher, posed, Task()), RunFinisher(finisher, posed, Task(options)));
}

TEST(Normals, CostCoversBoundData) {
  for (const testing::NamedRig& named : testing::AllRigs()) {
    const auto layout = testing::ValueOrDie(BlockLayout::Create(named.rig));
    const auto finisher =
        testing::ValueOrDie(NormalFinisher::Bind(RigSurface(named.rig, *layout), Task()));
    std::size_t kept = 0;
    NormalFinisher::Fields(finisher,
                           [&]<class T>(std::string_view, const T& field, const auto&...) {
                             if constexpr (!std::is_arithmetic_v<T>)
                               kept += field.size() * sizeof(field[0]);
                           });
    EXPECT_LE(kept, NormalFinisher::CostBytes(named.rig)) << named.name;
  }
}

// Truncated tables and out-of-range indices must be rejected after loading.
TEST(Normals, CheckRejectsDamagedTables) {
  const Rig rig = LeaningTube();
  const auto layout = testing::ValueOrDie(BlockLayout::Create(rig));
  const auto bound = testing::ValueOrDie(NormalFinisher::Bind(RigSurface(rig, *layout), Task()));
  ASSERT_TRUE(bound.Check(*layout).ok());
  int tables = 0;
  for (const bool cut : {true, false}) {
    NormalFinisher::Fields(
        bound, [&]<class Field>(std::string_view name, const Field&, const auto&...) {
          NormalFinisher damaged = bound;
          bool changed = false;
          NormalFinisher::Fields(
              damaged, [&]<class T>(std::string_view other, T& field, const auto&...) {
                if (other != name) return;
                if constexpr (std::is_arithmetic_v<T>) {
                  changed = true;
                  field += 16;
                } else if (!field.empty()) {
                  changed = true;
                  cut ? field.pop_back()
                      : static_cast<void>(
                            std::memset(static_cast<void*>(&field[field.size() / 2]), 0x7f, 4));
                }
              });
          if (!changed) return;
          ++tables;
          EXPECT_EQ(damaged.Check(*layout).code(), absl::StatusCode::kDataLoss) << name << cut;
        });
  }
  EXPECT_GE(tables, 18);
}

}  // namespace
}  // namespace sinew
