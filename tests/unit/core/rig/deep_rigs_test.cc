// Skeletons of extreme depth and rigs with extreme numbers of bindings, as in hostile uploads. Time
// proportional to a product of depths or counts would make some of these tests run for minutes.
// Binding must also be cancellable at each progress report.
#include <gtest/gtest.h>

#include <algorithm>
#include <stop_token>

#include "core/deform/bulge_free/bulge_free.h"
#include "core/deform/dqs/dqs.h"
#include "core/deform/spherical_blend/spherical_blend.h"
#include "tests/support/run_method.h"
#include "tests/support/small_rigs.h"
#include "tests/support/tube.h"

namespace sinew {
namespace {

using testing::Distance;
using testing::RigidMotion;
using testing::ValueOrDie;

constexpr std::uint32_t kDepth = 4000;  // joints per branch
constexpr std::uint32_t kVertices = 10000;

struct Row {
  std::uint32_t first, second;  // bindings
};

// Vertices with two bindings each, the first slightly stronger. No joints yet.
RigSource TwoJointVertices(const std::vector<Row>& rows) {
  std::vector<Vec3f> positions;
  for (std::size_t v = 0; v < rows.size(); ++v) {
    positions.push_back({0.01f * static_cast<float>(v % 100), 0.01f * static_cast<float>(v / 100),
                         static_cast<float>(v % 7)});
  }
  RigSource source = testing::RigidSource(positions, {});
  source.joints.clear();
  source.rest_local.clear();
  source.bindings.clear();
  source.influences = {.offsets = {0}, .bindings = {}, .weights = {}};
  for (const Row& row : rows) {
    source.influences.bindings.insert(source.influences.bindings.end(), {row.first, row.second});
    source.influences.weights.insert(source.influences.weights.end(), {0.625f, 0.375f});
    source.influences.offsets.push_back(source.influences.bindings.size());
  }
  return source;
}

void AddJoint(RigSource& source, std::uint32_t parent, const Vec3d& local) {
  source.joints.push_back(
      {.name = "joint" + std::to_string(source.joints.size()), .parent = parent});
  source.rest_local.push_back(RigidMotion({0, 0, 1}, 0, local));
}

// Root 0 at (1, 2, 3), a branch 1 ... kDepth along x and one kDepth + 1 ... 2 kDepth along y;
// binding e belongs to joint e.
Rig Branches(const std::vector<Row>& rows) {
  RigSource source = TwoJointVertices(rows);
  AddJoint(source, kNoParent, {1, 2, 3});
  for (std::uint32_t j = 1; j <= 2 * kDepth; ++j) {
    const bool first = j == 1 || j == kDepth + 1;
    AddJoint(source, first ? 0 : j - 1, j <= kDepth ? Vec3d{0.01, 0, 0} : Vec3d{0, 0.01, 0});
  }
  for (std::uint32_t j = 0; j <= 2 * kDepth; ++j) {
    const double out = 0.01 * (j <= kDepth ? j : j - kDepth);
    const Vec3d at = Vec3d{1, 2, 3} + (j <= kDepth ? Vec3d{out, 0, 0} : Vec3d{0, out, 0});
    source.bindings.push_back(
        {static_cast<std::uint16_t>(j), RigidMotion({0, 0, 1}, 0, -1.0 * at)});
  }
  return testing::MakeRig(std::move(source));
}

// Each vertex blends the far ends of both branches, nearly every one with its own set.
std::vector<Row> AcrossBranches() {
  std::vector<Row> rows;
  for (std::uint32_t v = 0; v < kVertices; ++v) {
    rows.push_back({kDepth - v % 1000, 2 * kDepth - v * 3 % 999});
  }
  return rows;
}

// Each vertex blends both ends of one branch.
std::vector<Row> AlongBranches() {
  std::vector<Row> rows;
  for (std::uint32_t v = 0; v < kVertices; ++v) {
    const std::uint32_t branch = v % 2 * kDepth, high = 1 + v % 1000, low = kDepth - v * 3 % 999;
    rows.push_back(v % 3 == 0 ? Row{branch + high, branch + low}
                              : Row{branch + low, branch + high});
  }
  return rows;
}

SphericalBlendParams PerSet() {
  SphericalBlendParams params;
  params.centres = BlendCentres::kPerSet;
  return params;
}

DqsParams ByParent() {
  DqsParams params;
  params.signs = SignRule::kParent;
  return params;
}

template <class M>
M BindTo(const Rig& rig, const BlockLayout& layout, const typename M::Params& params) {
  Task task;
  return ValueOrDie(M::Bind({rig, layout, RigSurface(rig, layout)}, params, task));
}

TEST(DeepRigs, SphericalBlendCommonAncestorFarAbove) {
  const Rig rig = Branches(AcrossBranches());
  const auto layout = ValueOrDie(BlockLayout::Create(rig));
  const auto blend = BindTo<SphericalBlend>(rig, *layout, PerSet());
  ASSERT_GT(blend.set_expected.size(), kVertices * 9 / 10);
  for (const Vec3d& centre : blend.set_expected) {
    ASSERT_LT(Distance(centre + layout->centre, {1, 2, 3}), 1e-9);
  }
}

TEST(DeepRigs, SphericalBlendLowerJointFarBelow) {
  const Rig rig = Branches(AlongBranches());
  const auto layout = ValueOrDie(BlockLayout::Create(rig));
  const auto blend = BindTo<SphericalBlend>(rig, *layout, PerSet());
  for (std::size_t s = 0; s < blend.sets.size(); ++s) {
    const auto set = blend.sets.set(s);
    ASSERT_LT(Distance(blend.set_expected[s], blend.origins[set.back()]), 1e-9);
  }
}

// One vertex with joints all along a branch: each but the root has an ancestor in the set.
TEST(DeepRigs, SphericalBlendLargeSets) {
  constexpr std::uint32_t kStride = 16;
  RigSource source = TwoJointVertices({{0, 1}});
  AddJoint(source, kNoParent, {});
  source.bindings.push_back({0, AffineD{}});
  source.influences = {.offsets = {0}, .bindings = {0}, .weights = {0.25f}};
  for (std::uint16_t j = 1; j <= kDepth; ++j) {
    AddJoint(source, j - 1u, {1, 0, 0});
    source.bindings.push_back({j, RigidMotion({0, 0, 1}, 0, {-static_cast<double>(j), 0, 0})});
    if (j % kStride != 0) continue;
    source.influences.bindings.push_back(j);
    source.influences.weights.push_back(0.75f * kStride / kDepth);
  }
  source.influences.offsets.push_back(source.influences.bindings.size());
  std::reverse(source.bindings.begin(), source.bindings.end());  // ancestors come last
  const Rig rig = testing::MakeRig(std::move(source));
  const auto layout = ValueOrDie(BlockLayout::Create(rig));
  const auto blend = BindTo<SphericalBlend>(rig, *layout, PerSet());
  ASSERT_EQ(blend.set_expected.size(), 1u);
  EXPECT_LT(Distance(blend.set_expected[0] + layout->centre, {(kDepth + kStride) / 2.0, 0, 0}),
            1e-9);
}

TEST(DeepRigs, BisectorIdentifiesAncestors) {
  const BulgeFreeParams params = {.method = BulgeMethod::kBisector};
  const Rig across = Branches(AcrossBranches()), along = Branches(AlongBranches());
  const auto across_layout = ValueOrDie(BlockLayout::Create(across));
  const auto along_layout = ValueOrDie(BlockLayout::Create(along));
  EXPECT_TRUE(BindTo<BulgeFree>(across, *across_layout, params).upper.empty());
  const BulgeFree bound = BindTo<BulgeFree>(along, *along_layout, params);
  ASSERT_GT(bound.upper.size(), 1000u);
  for (std::size_t c = 0; c < bound.upper.size(); ++c) {
    ASSERT_LT(bound.upper[c], bound.lower[c]);
    const Vec3d want = bound.upper[c] <= kDepth ? Vec3d{1, 0, 0} : Vec3d{0, 1, 0};
    ASSERT_LT(Distance(bound.upper_direction[c], want), 1e-9);
  }
}

// A zero-length bone continues its parent's, however many coincide.
TEST(DeepRigs, BisectorSkipsThousandsOfCoincidentJoints) {
  std::vector<Row> rows;
  for (std::uint32_t v = 0; v < kVertices; ++v) rows.push_back({1 + v % 1000, kDepth - v % 999});
  RigSource source = TwoJointVertices(rows);
  AddJoint(source, kNoParent, {});
  AddJoint(source, 0, {0, 2, 0});
  for (std::uint32_t j = 2; j <= kDepth; ++j) AddJoint(source, j - 1, {});
  for (std::uint16_t j = 0; j <= kDepth; ++j) source.bindings.push_back({j, AffineD{}});
  const Rig rig = testing::MakeRig(std::move(source));
  const auto layout = ValueOrDie(BlockLayout::Create(rig));
  const BulgeFree bound = BindTo<BulgeFree>(rig, *layout, {.method = BulgeMethod::kBisector});
  ASSERT_GT(bound.lower.size(), 1000u);
  for (const Vec3d& direction : bound.lower_direction) {
    ASSERT_LT(Distance(direction, {0, 1, 0}), 1e-12);
  }
}

// Only the root and the last joints of each branch are bound.
TEST(DeepRigs, DqsAncestorFarAbove) {
  RigSource source = TwoJointVertices({{0, 1}, {1, 2}});
  AddJoint(source, kNoParent, {});
  for (std::uint32_t j = 1; j <= 2 * kDepth; ++j) {
    AddJoint(source, j == kDepth + 1 ? 0 : j - 1, {0, 0.01, 0});
  }
  for (const std::uint32_t j : {2 * kDepth, kDepth, 0u, kDepth - 7}) {
    source.bindings.push_back({static_cast<std::uint16_t>(j), AffineD{}});
  }
  const Rig rig = testing::MakeRig(std::move(source));
  const auto layout = ValueOrDie(BlockLayout::Create(rig));
  const Dqs dqs = BindTo<Dqs>(rig, *layout, ByParent());
  EXPECT_EQ(dqs.sign_order, (std::vector<std::uint16_t>{2, 3, 1, 0}));
  EXPECT_EQ(dqs.sign_parent, (std::vector<std::uint16_t>{2, 2, 3, 2}));
}

// Two joints with tens of thousands of bindings each, bound in several slightly different poses.
TEST(DeepRigs, DqsManyBindingsOfOneJoint) {
  constexpr std::uint32_t kBindings = 30000, kPoses = 5;
  RigSource source = TwoJointVertices({{0, 1}, {kBindings, kBindings + 1}});
  AddJoint(source, kNoParent, {});
  AddJoint(source, 0, {0, 1, 0});
  const auto pose_of = [](std::uint32_t e) { return e / 100 % kPoses; };
  for (std::uint32_t e = 0; e < 2 * kBindings; ++e) {
    const double degrees = 50.0 * pose_of(e) + 1e-9 * e;
    source.bindings.push_back(
        {static_cast<std::uint16_t>(e / kBindings), RigidMotion({1, 0, 0}, degrees)});
  }
  const Rig rig = testing::MakeRig(std::move(source));
  const auto layout = ValueOrDie(BlockLayout::Create(rig));
  const Dqs dqs = BindTo<Dqs>(rig, *layout, ByParent());
  ASSERT_TRUE(dqs.Check(*layout, rig.bindings().size()).ok());
  for (std::size_t k = kBindings; k < dqs.sign_order.size(); ++k) {
    ASSERT_LT(dqs.sign_parent[k], kBindings);
    ASSERT_EQ(pose_of(dqs.sign_parent[k]), pose_of(dqs.sign_order[k]));
  }
}

// Progress rises to 1, and a bind cancelled at one of its reports makes no further one.
template <class M>
void ExpectStopsAtEveryReport(const Rig& rig, const typename M::Params& params) {
  SCOPED_TRACE(M::Params::kName);
  const auto layout = ValueOrDie(BlockLayout::Create(rig));
  const BindInput input = {rig, *layout, RigSurface(rig, *layout)};
  const double work = ValueOrDie(M::Cost(input, params)).work;
  int reports = 0;
  double last = 0;
  Task whole({.progress = [&](double done) {
    EXPECT_GE(done, last);
    last = done;
    ++reports;
  }});
  whole.SetTotal(work);
  ASSERT_TRUE(M::Bind(input, params, whole).ok());
  EXPECT_NEAR(last, 1, 1e-6);
  EXPECT_GT(reports, 2);
  for (int at = 1; at < reports; ++at) {
    std::stop_source stop;
    int seen = 0;
    Task task({.stop = stop.get_token(), .progress = [&](double) {
                 if (++seen == at) stop.request_stop();
               }});
    task.SetTotal(work);
    EXPECT_EQ(M::Bind(input, params, task).status().code(), absl::StatusCode::kCancelled) << at;
    EXPECT_EQ(seen, at);
  }
}

TEST(DeepRigs, BindCancellableAtEveryReport) {
  const Rig rig = Branches(AlongBranches());
  SphericalBlendParams weighted;
  weighted.centres = BlendCentres::kWeighted;
  ExpectStopsAtEveryReport<SphericalBlend>(rig, weighted);
  ExpectStopsAtEveryReport<SphericalBlend>(rig, PerSet());
  ExpectStopsAtEveryReport<BulgeFree>(rig, {});
  ExpectStopsAtEveryReport<BulgeFree>(rig, {.method = BulgeMethod::kBisector});
  ExpectStopsAtEveryReport<Dqs>(rig, ByParent());
}

}  // namespace
}  // namespace sinew
