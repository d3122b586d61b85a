// Properties of all three methods: sums, limits, motions, threads, cancellation, bad input.
#include "core/weights/weights.h"

#include <gtest/gtest.h>
#include <tbb/task_arena.h>

#include <cmath>
#include <limits>
#include <mutex>
#include <numbers>
#include <random>
#include <set>
#include <stop_token>
#include <string>

#include "tests/support/bodies.h"
#include "tests/support/small_rigs.h"
#include "tests/support/tube.h"

namespace sinew {
namespace {

using ::sinew::testing::Append;
using ::sinew::testing::Body;
using ::sinew::testing::Canonical;
using ::sinew::testing::Legs;
using ::sinew::testing::Mapped;
using ::sinew::testing::MaxDifference;
using ::sinew::testing::MeshOf;
using ::sinew::testing::WeightsOf;

class EveryMethod : public ::testing::TestWithParam<WeightMethod> {
 protected:
  WeightOptions Options() const {
    WeightOptions options;
    options.method = GetParam();
    options.resolution = 64;
    return options;
  }
};
INSTANTIATE_TEST_SUITE_P(Methods, EveryMethod,
                         ::testing::Values(WeightMethod::kCapsule, WeightMethod::kHeat,
                                           WeightMethod::kGeodesic),
                         [](const auto& p) { return testing::NameOf(p.param); });

// Five bones in a cylinder, two of them form a fork.
Body Fork() {
  Body body = Canonical();
  body.bones = {{0, {-5, 0, 0}, {-2, 0, 0}},
                {1, {-2, 0, 0}, {0, 0.2, 0}},
                {2, {0, 0.2, 0}, {5, 0.4, 0}},
                {3, {0, 0.2, 0}, {4, -0.5, 0.1}},
                {1, {-2, 0, 0}, {-1, 0, 0.5}}};
  return body;
}

void ExpectProper(const ComputedWeights& computed, std::size_t vertices,
                  const WeightOptions& options) {
  const InfluenceSource& source = computed.influences;
  ASSERT_EQ(source.offsets.size(), vertices + 1);
  for (std::size_t v = 0; v < vertices; ++v) {
    const std::uint64_t begin = source.offsets[v], end = source.offsets[v + 1];
    ASSERT_GT(end, begin);
    EXPECT_LE(end - begin, options.max_influences);
    double sum = 0;
    for (std::uint64_t k = begin; k < end; ++k) {
      EXPECT_GT(source.weights[k], 0);
      if (k > begin) {
        EXPECT_GE(source.weights[k], options.prune);
        EXPECT_LE(source.weights[k], source.weights[k - 1]);
      }
      sum += static_cast<double>(source.weights[k]);
    }
    EXPECT_NEAR(sum, 1, 1e-6);
  }
}

TEST_P(EveryMethod, RowsSumToOneWithinLimits) {
  const Body body = Fork();
  for (const std::uint32_t most : {1u, 2u, 4u}) {
    WeightOptions options = Options();
    options.max_influences = most;
    options.prune = most == 2 ? 0.2f : 0.01f;
    Task task;
    const auto computed = ComputeWeights(MeshOf(body), body.bones, options, task);
    ASSERT_TRUE(computed.ok()) << computed.status();
    ExpectProper(*computed, body.points.size(), options);
    // The result is valid input for a rig.
    EXPECT_TRUE(Influences::Create(computed->influences, 4).ok());
  }
}

TEST_P(EveryMethod, NearlyInvariantToRigidMotion) {
  const AffineD motion = testing::RigidMotion({1, 2, 3}, 40, {10, -20, 5});
  const auto at_rest = WeightsOf(Fork(), Options());
  const auto moved =
      WeightsOf(Mapped(Fork(), [&](const Vec3d& p) { return Apply(motion, p); }), Options());
  // A rotated body is voxelised differently: 0.08 is the difference that a changed resolution
  // makes.
  EXPECT_LT(MaxDifference(at_rest, moved), GetParam() == WeightMethod::kGeodesic ? 0.08 : 2e-4);
}

TEST_P(EveryMethod, InvariantToUnits) {
  const auto metres = WeightsOf(Fork(), Options());
  for (const double scale : {1.0 / 1024, 1024.0}) {
    const Body scaled = Mapped(Fork(), [&](const Vec3d& p) { return scale * p; });
    EXPECT_EQ(MaxDifference(metres, WeightsOf(scaled, Options())), 0) << scale;
  }
  const Body odd = Mapped(Fork(), [](const Vec3d& p) { return 1e-3 * p; });
  // Rounding moves the surface across single voxel centres.
  EXPECT_LT(MaxDifference(metres, WeightsOf(odd, Options())),
            GetParam() == WeightMethod::kGeodesic ? 0.05 : 1e-3);
}

TEST_P(EveryMethod, MirroredBodyHasMirroredWeights) {
  Body mirrored = Mapped(Fork(), [](const Vec3d& p) { return Vec3d{p.x, -p.y, p.z}; });
  for (auto& face : mirrored.faces) std::ranges::reverse(face);
  EXPECT_LT(MaxDifference(WeightsOf(Fork(), Options()), WeightsOf(mirrored, Options())),
            GetParam() == WeightMethod::kGeodesic ? 0.05 : 1e-5);
}

TEST_P(EveryMethod, IndependentOfVertexAndBoneOrder) {
  const Body body = Fork();
  Body shuffled = body;
  std::vector<std::uint32_t> to(body.points.size());
  for (std::uint32_t v = 0; v < to.size(); ++v) to[v] = v;
  std::shuffle(to.begin(), to.end(), std::mt19937(7));
  for (std::uint32_t v = 0; v < to.size(); ++v) shuffled.points[to[v]] = body.points[v];
  for (auto& face : shuffled.faces) {
    for (std::uint32_t& corner : face) corner = to[corner];
  }
  std::ranges::reverse(shuffled.bones);
  const auto before = WeightsOf(body, Options()), after = WeightsOf(shuffled, Options());
  double most = 0;
  for (std::uint32_t v = 0; v < to.size(); ++v) {
    for (std::size_t j = 0; j < before[v].size(); ++j) {
      most = std::max(most, std::abs(before[v][j] - after[to[v]][j]));
    }
  }
  EXPECT_LT(most, 1e-5);
}

TEST_P(EveryMethod, SeamsStayClosed) {
  Body body = Fork();
  const auto first = static_cast<std::uint32_t>(body.points.size());
  for (std::uint32_t i = 0; i < 81; ++i) body.points.push_back(body.points[i * 32]);
  for (auto& face : body.faces) {
    bool last = false;
    for (const std::uint32_t corner : face) last = last || corner % 32 == 31;
    for (std::uint32_t& corner : face) {
      if (last && corner < 81 * 32 && corner % 32 == 0) corner = first + corner / 32;
    }
  }
  const auto cut = WeightsOf(body, Options()), whole = WeightsOf(Fork(), Options());
  for (std::uint32_t i = 0; i < 81; ++i) EXPECT_EQ(cut[first + i], cut[i * 32]);
  EXPECT_LT(MaxDifference({cut.begin(), cut.begin() + first}, whole), 1e-5);
}

TEST_P(EveryMethod, SameBitsForAnyThreadCount) {
  const Body body = Legs();
  WeightOptions options = Options();
  options.smooth = 3;
  const auto run = [&](int threads, bool parallel) {
    InfluenceSource influences;
    tbb::task_arena(threads).execute([&] {
      Task task({.parallel = parallel});
      influences =
          testing::ValueOrDie(ComputeWeights(MeshOf(body), body.bones, options, task)).influences;
    });
    return influences;
  };
  const InfluenceSource one = run(1, false);
  for (const int threads : {1, 2, 4}) {
    const InfluenceSource other = run(threads, true);
    EXPECT_EQ(one.offsets, other.offsets);
    EXPECT_EQ(one.bindings, other.bindings);
    EXPECT_EQ(one.weights, other.weights);
  }
}

TEST_P(EveryMethod, ProgressRisesToEnd) {
  const Body body = Fork();
  std::vector<double> seen;
  std::mutex mutex;
  Task task({.progress = [&](double done) {
    const std::scoped_lock lock(mutex);
    seen.push_back(done);
  }});
  ASSERT_TRUE(ComputeWeights(MeshOf(body), body.bones, Options(), task).ok());
  EXPECT_GT(seen.size(), 4u);
  EXPECT_NEAR(*std::ranges::max_element(seen), 1, 1e-9);
}

TEST_P(EveryMethod, CancellableAtAnyMoment) {
  const Body body = Fork();
  for (const double moment : {0.01, 0.1, 0.3, 0.6, 0.85}) {
    std::stop_source stop;
    Task task({.stop = stop.get_token(), .progress = [&](double done) {
                 if (done >= moment) stop.request_stop();
               }});
    const auto computed = ComputeWeights(MeshOf(body), body.bones, Options(), task);
    EXPECT_TRUE(absl::IsCancelled(computed.status())) << moment << computed.status();
  }
}

TEST_P(EveryMethod, SmoothingFlattensAndKeepsSums) {
  const Body body = Fork();
  const auto steepest = [&](std::uint32_t passes) {
    WeightOptions options = Options();
    options.smooth = passes;
    const auto weights = WeightsOf(body, options);
    double most = 0;
    for (const auto& face : body.faces) {
      for (std::size_t j = 0; j < 4; ++j) {
        most = std::max(most, std::abs(weights[face[0]][j] - weights[face[1]][j]));
      }
    }
    return most;
  };
  EXPECT_LT(steepest(20), steepest(0));
}

TEST_P(EveryMethod, DegenerateInputGivesValidWeights) {
  const std::set<std::string> kWithoutArea = {"one_vertex"};   // heat and geodesic need faces
  const std::vector<Bone> bones = {{0, {0, 0, 0}, {0, 0, 0}},  // root = tip
                                   {1, {0, 0, 0}, {0, 0, 0}},  // coincident
                                   {2, {0, 0, 0}, {0.3, 0.2, 0.1}},
                                   {7, {1e6, 0, 0}, {2e6, 0, 1}}};  // far outside the mesh
  for (const auto& [name, rig] : testing::AllRigs()) {
    SCOPED_TRACE(name);
    WeightOptions options = Options();
    options.resolution = 16;
    options.smooth = 1;
    Task task;
    const auto computed = ComputeWeights(rig.mesh(), bones, options, task);
    if (GetParam() != WeightMethod::kCapsule && kWithoutArea.contains(name)) {
      EXPECT_TRUE(absl::IsInvalidArgument(computed.status())) << computed.status();
      continue;
    }
    ASSERT_TRUE(computed.ok()) << computed.status();
    ExpectProper(*computed, rig.vertices(), options);
  }
}

TEST_P(EveryMethod, RejectsMeshWithoutFacesIfNeeded) {
  Body body;
  body.points = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}};
  body.bones = {{0, {0, 0, 0}, {0.4, 0, 0}}, {1, {1.6, 0, 0}, {2, 0, 0}}};
  Task task;
  const auto computed = ComputeWeights(MeshOf(body), body.bones, Options(), task);
  if (GetParam() == WeightMethod::kCapsule) {
    ASSERT_TRUE(computed.ok()) << computed.status();
    ExpectProper(*computed, 3, Options());
    return;
  }
  EXPECT_TRUE(absl::IsInvalidArgument(computed.status()));
  EXPECT_NE(computed.status().message().find("mesh: no face"), absl::string_view::npos);
}

TEST_P(EveryMethod, RespectsMemoryLimit) {
  const Body body = Fork();
  Task task({.memory_limit = 100'000});
  EXPECT_TRUE(absl::IsResourceExhausted(
      ComputeWeights(MeshOf(body), body.bones, Options(), task).status()));
}

TEST_P(EveryMethod, ReportsIdleJoints) {
  Body body = Canonical();
  body.bones.push_back({9, {-900, 0, 0}, {-800, 0, 0}});
  WeightOptions options = Options();
  options.prune = 0.05f;
  Task task;
  const auto computed = ComputeWeights(MeshOf(body), body.bones, options, task);
  ASSERT_TRUE(computed.ok()) << computed.status();
  EXPECT_EQ(computed->report.idle_joints, std::vector<std::uint32_t>{9});
  EXPECT_NE(computed->report.notes.at(0).message.find("far outside the mesh, the first of joint 9"),
            std::string::npos);
}

TEST_P(EveryMethod, ReversesInvertedMesh) {
  Body body = Fork();
  for (auto& face : body.faces) std::ranges::reverse(face);
  EXPECT_LT(MaxDifference(WeightsOf(Fork(), Options()), WeightsOf(body, Options())), 1e-5);
}

// A floor that faces up: below the middle of the mesh, so that its volume about that is negative.
Body Floor() {
  Body floor;
  for (const double z : {-9.0, 9.0}) {
    for (const double x : {-9.0, 9.0}) floor.points.push_back({x, -1.5, z});
  }
  floor.faces = {{0, 2, 3, 1}};
  return floor;
}

bool IsTurned(const Body& body) {
  return weights::MakeSkin(MeshOf(body), body.bones)->side < 0;
}

TEST_P(EveryMethod, FloorTurnsNothing) {
  Body body = Fork();
  const std::size_t points = body.points.size();
  const std::vector<std::vector<double>> alone = WeightsOf(body, Options());
  Append(body, Floor());
  EXPECT_FALSE(IsTurned(body));
  if (GetParam() == WeightMethod::kHeat) {  // others depend on the size of the mesh
    std::vector<std::vector<double>> beside = WeightsOf(body, Options());
    beside.resize(points);
    EXPECT_LT(MaxDifference(alone, beside), 1e-5);
  }
}

TEST(Weights, OpenSheetsHaveNoInside) {
  Body floor = Floor();
  floor.bones = Fork().bones;
  // A hill, and a bowl.
  for (const double height : {0.0, 3.0, -3.0}) {
    Body sheet = floor;
    sheet.points.push_back({0, -1.5 + height, 0});
    sheet.faces = {{0, 2, 4}, {2, 3, 4}, {3, 1, 4}, {1, 0, 4}};
    for (const bool turned : {false, true}) {
      for (auto& face : sheet.faces) {
        if (turned) std::ranges::reverse(face);
      }
      EXPECT_FALSE(IsTurned(sheet)) << height << turned;
    }
  }
}

TEST(Weights, HolesLeaveAnInside) {
  Body body = Fork();
  std::erase_if(body.faces, [](const auto& face) { return face[0] >= 81 * 32; });  // both caps
  EXPECT_FALSE(IsTurned(body));
  for (auto& face : body.faces) std::ranges::reverse(face);
  EXPECT_TRUE(IsTurned(body));
  body.faces = Fork().faces;
  body.faces.resize(body.faces.size() / 2);  // half of the tube: the caps are with their sides
  std::erase_if(body.faces, [](const auto& face) { return face[0] == 81 * 32; });
  for (auto& face : body.faces) std::ranges::reverse(face);
  Append(body, Floor());
  EXPECT_FALSE(IsTurned(body)) << "half a tube";
}

TEST(Weights, HillBesideBodyThatIsInsideOutDoesNotCount) {
  Body body = Fork();
  for (auto& face : body.faces) std::ranges::reverse(face);
  Body hill = Floor();
  hill.points.push_back({0, 30, 0});
  hill.faces = {{0, 2, 4}, {2, 3, 4}, {3, 1, 4}, {1, 0, 4}};
  for (Vec3d& point : hill.points) point = {10 * point.x, point.y, 10 * point.z};
  Append(body, hill);
  EXPECT_TRUE(IsTurned(body));
}

// A robe: wide and open at the hem, closed at the top.
TEST(Weights, RobeHasAnInside) {
  constexpr std::uint32_t kAround = 24;
  Body robe;
  for (const auto& [y, radius] : {std::pair{0.0, 0.9}, {1.0, 0.5}, {2.0, 0.25}}) {
    for (std::uint32_t k = 0; k < kAround; ++k) {
      const double angle = 2 * std::numbers::pi * k / kAround;
      robe.points.push_back({radius * std::cos(angle), y, radius * std::sin(angle)});
    }
  }
  std::vector<std::uint32_t> top;
  for (std::uint32_t k = 0; k < kAround; ++k) {
    const std::uint32_t next = (k + 1) % kAround;
    for (const std::uint32_t ring : {0u, kAround}) {
      robe.faces.push_back({ring + k, ring + kAround + k, ring + kAround + next, ring + next});
    }
    top.push_back(3 * kAround - 1 - k);
  }
  robe.faces.push_back(top);
  robe.bones = Fork().bones;
  EXPECT_FALSE(IsTurned(robe));
  for (auto& face : robe.faces) std::ranges::reverse(face);
  EXPECT_TRUE(IsTurned(robe));
}

struct BadOption {
  const char* start;  // prefix of the message
  std::function<void(WeightOptions&)> spoil;
};

TEST(Weights, RejectsOptionsOutOfRange) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<BadOption> table = {
      {"max_influences: got 0,", [](auto& o) { o.max_influences = 0; }},
      {"max_influences: got 256,", [](auto& o) { o.max_influences = 256; }},
      {"prune: got -0.1,", [](auto& o) { o.prune = -0.1f; }},
      {"prune: got 0.6,", [](auto& o) { o.prune = 0.6f; }},
      {"prune: got nan,", [&](auto& o) { o.prune = nan; }},
      {"smooth: got 101,", [](auto& o) { o.smooth = 101; }},
      {"inner: got 0,", [](auto& o) { o.inner = 0; }},
      {"outer: got 21,", [](auto& o) { o.outer = 21; }},
      {"outer: got 1,", [](auto& o) { o.outer = 1; }},
      {"falloff: got 0,", [](auto& o) { o.falloff = 0; }},
      {"falloff: got nan,", [&](auto& o) { o.falloff = nan; }},
      {"heat: got 0,", [](auto& o) { o.heat = 0; }},
      {"heat: got 101,", [](auto& o) { o.heat = 101; }},
      {"resolution: got 15,", [](auto& o) { o.resolution = 15; }},
      {"resolution: got 513,", [](auto& o) { o.resolution = 513; }},
      {"smoothness: got 1.5,", [](auto& o) { o.smoothness = 1.5f; }},
      {"method: got 7,", [](auto& o) { o.method = static_cast<WeightMethod>(7); }},
  };
  const Body body = Canonical();
  for (const BadOption& bad : table) {
    WeightOptions options;
    bad.spoil(options);
    Task task;
    const auto computed = ComputeWeights(MeshOf(body), body.bones, options, task);
    EXPECT_TRUE(absl::IsInvalidArgument(computed.status())) << bad.start;
    EXPECT_EQ(computed.status().message().find(bad.start), 0u) << computed.status();
  }
}

TEST(Weights, RejectsBadBones) {
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<std::pair<const char*, std::vector<Bone>>> table = {
      {"bones: none", {}},
      {"bones: got 16385", std::vector<Bone>(16385)},
      {"bones: bone 1 has joint 70000", {{0, {}, {}}, {70000, {}, {}}}},
      {"bones: bone 0 of joint 3", {{3, {0, inf, 0}, {}}}},
      {"bones: bone 1 of joint 4", {{3, {}, {}}, {4, {}, {0, 0, std::nan("")}}}},
      {"bones: bone 0 of joint 3", {{3, {1e31, 0, 0}, {}}}},
  };
  for (const auto& [start, bones] : table) {
    Task task;
    const auto computed = ComputeWeights(MeshOf(Canonical()), bones, {}, task);
    EXPECT_TRUE(absl::IsInvalidArgument(computed.status())) << start;
    EXPECT_EQ(computed.status().message().find(start), 0u) << computed.status();
  }
}

}  // namespace
}  // namespace sinew
