#include "core/deform/cor/cor_centres.h"

#include <gtest/gtest.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cmath>
#include <stop_token>
#include <string>

#include "core/deform/cor/cor.h"
#include "tests/reference/cor_reference.h"
#include "tests/support/compare.h"
#include "tests/support/small_rigs.h"
#include "tests/unit/core/deform/cor/bound_cor.h"

namespace sinew {
namespace {

using testing::BroadWeights;
using testing::Centres;
using testing::Distance;
using testing::MakeRig;
using testing::MaxDistance;
using testing::NamedRig;
using testing::NoisyWeights;
using testing::RestPoints;
using testing::SameBits;
using testing::TubeOptions;
using testing::TubeRig;
using testing::TubeSource;
using testing::TubeWeights;

constexpr TubeOptions kCoarse = {.rings = 9, .around = 7, .joints = 2};

std::vector<NamedRig> SmallRigs() {
  std::vector<NamedRig> rigs;
  rigs.push_back({"coarse", TubeRig(kCoarse)});
  rigs.push_back({"quads", TubeRig({.rings = 9, .around = 7, .quads = true})});
  rigs.push_back({"rigid", TubeRig({.rings = 9, .around = 7, .weights = TubeWeights::kRigid})});
  rigs.push_back(
      {"four", TubeRig({.rings = 21, .around = 8, .joints = 6, .weights = TubeWeights::kFour})});
  rigs.push_back({"far", TubeRig({.rings = 9, .around = 7, .origin = {300, -200, 100}})});
  rigs.push_back({"broad", MakeRig(BroadWeights({.rings = 15, .around = 6, .joints = 12}))});
  rigs.push_back({"noisy", MakeRig(NoisyWeights({.rings = 6, .around = 5, .joints = 4}))});
  return rigs;
}

TEST(CorCentres, MatchBruteForce) {
  for (const NamedRig& named : SmallRigs()) {
    for (const float sigma : {0.02f, 0.1f, 1.0f}) {
      for (const bool refine : {false, true}) {
        for (const std::uint32_t most : {0u, 2u, 3u}) {
          const auto want = reference::CorCentres(
              named.rig, {.sigma = sigma, .refine = refine, .max_influences = most});
          const auto got =
              Centres(named.rig, {.sigma = sigma, .refine = refine, .max_influences = most});
          EXPECT_LT(MaxDistance(got, want), 1e-5 * named.rig.mesh().diagonal())
              << named.name << " sigma " << sigma << " refine " << refine << " of " << most;
        }
      }
    }
  }
}

TEST(CorCentres, RefinementImprovesCoarseMeshes) {
  const Rig rig = TubeRig({.rings = 12, .around = 7});  // no ring at the joint: not symmetric
  EXPECT_GT(MaxDistance(Centres(rig, {.refine = true}), Centres(rig, {.refine = false})), 1e-3);
}

TEST(CorCentres, SplitsUntilSidesAtMostOneTenth) {
  // Weights (1,0,0) (0,1,0) (0,0,1): a piece's weights are its barycentric coordinates.
  std::vector<CorPiece> pieces;
  SplitCorTriangle({2, 2, 2}, pieces);
  double area = 0;
  for (const CorPiece& piece : pieces) {
    area += piece.area;
    EXPECT_NEAR(piece.corner[0] + piece.corner[1] + piece.corner[2], 1, 1e-6);
    // Pieces come from sides of at least 0.05, so they are no slivers.
    EXPECT_LE(piece.area, 0.1 * 0.1 / 2);
  }
  EXPECT_NEAR(area, 1, 1e-6);
  EXPECT_GE(pieces.size(), 200u);
  EXPECT_LE(pieces.size(), 1024u);
  for (const auto& [side2, count] :
       {std::pair<std::array<double, 3>, std::size_t>{{0, 0, 0}, 1},
        {{0.01, 0.01, 0.01}, 1},
        {{0.0101, 0, 0.0101}, 3},  // halves of 0.05, one median as long as a side
        {{0.0101, 0.0025, 0.0025}, 2}}) {
    pieces.clear();
    SplitCorTriangle(side2, pieces);
    EXPECT_EQ(pieces.size(), count) << side2[0] << " " << side2[1];
  }
}

TEST(CorCentres, PieceCountWithinBound) {
  testing::Random random;
  std::vector<CorPiece> pieces;
  std::size_t all = 0, most = 0;
  for (int i = 0; i < 20000; ++i) {
    // Three corners in the plane of weights; every fourth collinear, every fifth short.
    double at[3][2];
    const double scale = i % 5 == 0 ? 0.3 : 1.0;
    for (auto& p : at) {
      p[0] = scale * random.Next();
      p[1] = i % 4 == 0 ? p[0] : scale * random.Next();
    }
    std::array<double, 3> side2{};
    for (std::size_t c = 0; c < 3; ++c) {
      const double x = at[(c + 1) % 3][0] - at[c][0], y = at[(c + 1) % 3][1] - at[c][1];
      side2[c] = x * x + y * y;
    }
    pieces.clear();
    SplitCorTriangle(side2, pieces);
    ASSERT_LE(pieces.size(), MostCorPieces(side2))
        << side2[0] << " " << side2[1] << " " << side2[2];
    if (pieces.size() <= 5) {
      ASSERT_EQ(pieces.size(), MostCorPieces(side2));
    }
    all += pieces.size();
    most += MostCorPieces(side2);
  }
  EXPECT_LT(most, 4 * all);
}

TEST(CorCentres, RejectsTooManyPairsEarly) {
  constexpr std::size_t kJoints = 6000, kEach = 255;
  RigSource source = TubeSource({.rings = 60, .around = 10, .joints = 1});
  source.bindings.resize(kJoints, source.bindings[0]);
  auto& rows = source.influences;
  rows = {.offsets = {0}, .bindings = {}, .weights = {}};
  for (std::size_t v = 0; v < source.mesh.positions.size(); ++v) {
    for (std::size_t k = 0; k < kEach; ++k) {
      rows.bindings.push_back(static_cast<std::uint32_t>((v * 7 + k) % kJoints));
      rows.weights.push_back(1.0f / kEach);
    }
    rows.offsets.push_back(rows.bindings.size());
  }
  const auto rig = Rig::Create(std::move(source));
  ASSERT_TRUE(rig.ok()) << rig.status();
  EXPECT_EQ(CorPlan::CheckPairs(*rig, {}).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(CorPlan::CheckPairs(*rig, {.max_influences = 8}).ok());
}

TEST(CorCentres, OneInfluenceOrNoSurfaceGivesVertex) {
  for (const NamedRig& named : testing::AllRigs()) {
    const auto centres = Centres(named.rig);
    const auto rest = RestPoints(named.rig);
    for (std::size_t v = 0; v < rest.size(); ++v) {
      if (named.rig.influences().bindings(v).size() > 1) continue;
      EXPECT_EQ(ToFloat(centres[v]), ToFloat(rest[v])) << named.name << " vertex " << v;
    }
  }
  RigSource points = TubeSource(kCoarse);
  points.mesh.face_offsets = {0};
  points.mesh.face_vertices.clear();
  points.mesh.parts[0].face_count = 0;
  RigSource flat = TubeSource(kCoarse);  // every triangle has two equal corners
  for (std::size_t i = 0; i < flat.mesh.face_vertices.size(); i += 3) {
    flat.mesh.face_vertices[i + 1] = flat.mesh.face_vertices[i];
  }
  for (RigSource* source : {&points, &flat}) {
    const Rig rig = MakeRig(*source);
    EXPECT_LT(MaxDistance(Centres(rig), RestPoints(rig)), 1e-12);
  }
}

TEST(CorCentres, FiniteForNearlyOneInfluence) {
  const Rig rig = MakeRig(testing::Weighted(kCoarse, [](double x, std::size_t, std::size_t j) {
    return j == 0 ? 1.0 : 2e-6 + (x > 0 ? 1e-5 : 0.0);
  }));
  const auto want = reference::CorCentres(rig, {});
  EXPECT_LT(MaxDistance(Centres(rig), want), 1e-4 * rig.mesh().diagonal());
}

// In no direction is a centre beyond the farthest vertex.
TEST(CorCentres, WithinConvexHull) {
  for (const NamedRig& named : SmallRigs()) {
    const auto centres = Centres(named.rig), rest = RestPoints(named.rig);
    testing::Random random;
    for (int i = 0; i < 500; ++i) {
      const Vec3d axis = {random.Next() - 0.5, random.Next() - 0.5, random.Next() - 0.5};
      double farthest = -HUGE_VAL;
      for (const Vec3d& u : rest) farthest = std::max(farthest, Dot(axis, u));
      for (const Vec3d& p : centres) {
        ASSERT_LE(Dot(axis, p), farthest + 1e-6 * named.rig.mesh().diagonal()) << named.name;
      }
    }
  }
}

// Vertices of a ring share weights, and seam vertices are duplicated.
TEST(CorCentres, EqualWeightsGiveEqualCentres) {
  const TubeOptions options = {.rings = 31, .around = 9};
  RigSource source = TubeSource(options);
  const std::size_t vertices = source.mesh.positions.size();
  std::vector<std::uint32_t> twin(vertices);  // cut along one line
  for (std::size_t i = 0; i < options.rings; ++i) {
    const std::size_t v = i * options.around;
    twin[v] = static_cast<std::uint32_t>(source.mesh.positions.size());
    source.mesh.positions.push_back(source.mesh.positions[v]);
    auto& rows = source.influences;
    for (std::uint64_t k = rows.offsets[v]; k < rows.offsets[v + 1]; ++k) {
      rows.bindings.push_back(rows.bindings[k]);
      rows.weights.push_back(rows.weights[k]);
    }
    rows.offsets.push_back(rows.bindings.size());
  }
  for (std::size_t c = 0; c < source.mesh.face_vertices.size(); ++c) {
    std::uint32_t& v = source.mesh.face_vertices[c];
    const std::size_t column = c / 6 % options.around;  // two triangles per column
    if (v % options.around == 0 && v < vertices && column == options.around - 1) v = twin[v];
  }
  source.mesh.parts[0].vertex_count = static_cast<std::uint32_t>(source.mesh.positions.size());
  const Rig cut = MakeRig(std::move(source)), whole = TubeRig(options);
  const auto centres = Centres(cut), uncut = Centres(whole);
  EXPECT_LT(MaxDistance(std::span(centres).first(vertices), uncut), 1e-12);
  for (std::size_t v = 0; v < vertices; ++v) {
    if (cut.influences().bindings(v).size() < 2) continue;
    EXPECT_LT(Distance(centres[v], centres[v / options.around * options.around]), 1e-8);
    if (v % options.around == 0) {
      EXPECT_LT(Distance(centres[v], centres[twin[v]]), 1e-15);
    }
  }
}

TEST(CorCentres, EquivariantUnderSimilarities) {
  const TubeOptions options = {
      .rings = 21, .around = 8, .joints = 6, .weights = TubeWeights::kFour};
  const auto still = Centres(TubeRig(options));
  for (const double scale : {1.0, 1e-6, 1e6}) {
    const AffineD motion = Compose(testing::RigidMotion({1, 2, 3}, 77, scale * Vec3d{3, -1, 2}),
                                   testing::ScaleMotion({scale, scale, scale}));
    RigSource source = TubeSource(options);
    for (Vec3f& p : source.mesh.positions) p = ToFloat(Apply(motion, ToDouble(p)));
    const auto moved = Centres(MakeRig(std::move(source)));
    for (std::size_t v = 0; v < still.size(); ++v) {
      EXPECT_LT(Distance(Apply(motion, still[v]), moved[v]), 3e-6 * scale) << v;
    }
  }
}

// sigma -> infinity and two joints: one common centre, the mean of the surface weighted by b_j b_k.
TEST(CorCentres, LargeSigmaGivesOneMean) {
  const Rig rig = TubeRig(kCoarse);
  const auto centres = Centres(rig, {.sigma = 10, .refine = false});
  const auto rest = RestPoints(rig);
  double mass = 0;
  Vec3d moment;
  const auto corners = rig.mesh().face_vertices();
  for (std::size_t c = 0; c < corners.size(); c += 3) {
    const Vec3d a = rest[corners[c]], b = rest[corners[c + 1]], d = rest[corners[c + 2]];
    const Vec3d normal = Cross(b - a, d - a);
    double w = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto row = rig.influences().bindings(corners[c + i]);
      for (std::size_t k = 0; k < row.size(); ++k) {
        w += row[k] == 0 ? rig.influences().weights(corners[c + i])[k] / 3 : 0;
      }
    }
    const double m = w * (1 - w) * std::sqrt(Dot(normal, normal));
    mass += m;
    moment = moment + (m / 3) * (a + b + d);
  }
  for (std::size_t v = 0; v < rest.size(); ++v) {
    if (rig.influences().bindings(v).size() < 2) continue;
    EXPECT_LT(Distance(centres[v], (1 / mass) * moment), 1e-3);
  }
}

TEST(CorCentres, GroupingHardlyChangesCentres) {
  for (const NamedRig& named : SmallRigs()) {
    for (const float sigma : {0.1f, 1.0f}) {
      const auto exact = Centres(named.rig, {.sigma = sigma});
      const auto grouped = Centres(named.rig, {.sigma = sigma}, true);
      EXPECT_LT(MaxDistance(exact, grouped), 2e-3 * named.rig.mesh().diagonal()) << named.name;
    }
  }
  // Many pieces to a cell.
  const Rig dense = TubeRig({.rings = 801, .around = 4, .length = 4});
  const auto exact = Centres(dense), grouped = Centres(dense, {}, true);
  EXPECT_GT(MaxDistance(exact, grouped), 0);
  EXPECT_LT(MaxDistance(exact, grouped), 3e-4 * dense.mesh().diagonal());
}

TEST(CorCentres, GroupingBoundsWork) {
  // Every vertex and triangle is influenced by all 32 joints: 2.8e11 terms without grouping.
  const Rig rig = MakeRig(BroadWeights({.rings = 601, .around = 20, .joints = 32}));
  const CorParams params;
  const CorSurface surface = testing::ValueOrDie(CorSurface::Create(rig, params, Task()));
  const CorPlan plan = testing::ValueOrDie(CorPlan::Create(surface, rig, params, Task()));
  EXPECT_EQ(plan.pairs.size(), 32u * 31 / 2);
  EXPECT_TRUE(plan.grouped);
  EXPECT_LT(plan.blur, 1e-3);
  EXPECT_LT(plan.work(params.sigma), 2e10);
}

TEST(CorCentres, SameBitsForAnyThreadCount) {
  const Rig rig = TubeRig({.rings = 401, .around = 30, .joints = 6, .weights = TubeWeights::kFour});
  for (const bool grouped : {false, true}) {
    std::vector<Vec3d> first;
    for (const int threads : {1, 2, 5}) {
      tbb::task_arena arena(threads);
      arena.execute([&] {
        const auto centres = Centres(rig, {}, grouped);
        if (first.empty()) first = centres;
        EXPECT_TRUE(SameBits(first, centres)) << threads << " threads";
      });
    }
  }
}

TEST(CorBind, ProgressRisesAndBindIsCancellable) {
  const Rig rig = TubeRig({.rings = 201, .around = 30, .joints = 6, .weights = TubeWeights::kFour});
  const auto layout = testing::ValueOrDie(BlockLayout::Create(rig));
  const BindInput input = {rig, *layout, RigSurface(rig, *layout)};
  const auto cost = testing::ValueOrDie(Cor::Cost(input, {}));
  double last = 0;
  int calls = 0;
  Task task({.progress =
                 [&](double done) {
                   EXPECT_GE(done, last);
                   last = done;
                   ++calls;
                 },
             .parallel = false});
  task.SetTotal(cost.work);
  ASSERT_TRUE(Cor::Bind(input, {}, task).ok());
  EXPECT_NEAR(last, 1, 1e-6);
  EXPECT_GT(calls, 20);

  for (const int after : {1, 3, 10}) {
    std::stop_source stop;
    int left = after;
    Task stopped({.stop = stop.get_token(),
                  .progress =
                      [&](double) {
                        if (--left == 0) stop.request_stop();
                      },
                  .parallel = false});
    stopped.SetTotal(cost.work);
    EXPECT_EQ(Cor::Bind(input, {}, stopped).status().code(), absl::StatusCode::kCancelled);
    EXPECT_GE(left, -2);
  }
}

}  // namespace
}  // namespace sinew
