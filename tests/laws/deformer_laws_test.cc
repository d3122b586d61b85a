// Laws of every method on every asset: a new method must pass these first.
#include <gtest/gtest.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/table_io.h"
#include "core/deform/engine/deformer.h"
#include "core/deform/engine/recipe_text.h"
#include "core/deform/engine/rig_parts.h"
#include "core/deform/method/vertex_status.h"
#include "core/simd/target.h"
#include "tests/laws/law_cases.h"
#include "tests/laws/law_frame.h"
#include "tests/laws/law_recipes.h"

namespace sinew {
namespace {

using testing::Direction;
using testing::Distance;
using testing::Evaluate;
using testing::Frame;
using testing::LawPoses;
using testing::LawRecipes;
using testing::LawRigs;
using testing::NamedPose;
using testing::OnOneThread;
using testing::RoundingSpread;

class DeformerLaws : public ::testing::TestWithParam<std::tuple<std::string, std::size_t>> {
 protected:
  void SetUp() override {
    const auto recipe = ParseRecipe(std::get<0>(GetParam()));
    ASSERT_TRUE(recipe.ok()) << recipe.status();
    recipe_ = *recipe;
    // Each law runs on all pairs before the next law does; bound once, they serve all laws.
    static auto* const bound = new std::map<ParamType, Deformer>;
    auto found = bound->find(GetParam());
    if (found == bound->end()) {
      Task task;
      auto deformer = Deformer::Bind(rig(), recipe_, task);
      ASSERT_TRUE(deformer.ok()) << deformer.status();
      found = bound->emplace(GetParam(), *std::move(deformer)).first;
    }
    deformer_ = &found->second;
  }
  const Rig& rig() const { return LawRigs()[std::get<1>(GetParam())].rig; }
  Frame Must(std::span<const Affine> joints, const Task& task = OnOneThread(),
             Workspace* workspace = nullptr) const {
    return testing::Must(*deformer_, {.joints = joints}, task, workspace);
  }
  double diagonal() const { return std::max(rig().mesh().diagonal(), 1e-3); }
  // Float precision at the mesh's distance from the origin.
  double Tolerance(double reach) const { return 1e-5 * diagonal() + 4e-7 * reach; }
  double Reach() const {
    const Vec3d lo = rig().mesh().minimum(), hi = rig().mesh().maximum();
    double reach = 0;
    for (const double v : {lo.x, lo.y, lo.z, hi.x, hi.y, hi.z})
      reach = std::max(reach, std::abs(v));
    return reach;
  }

  // Implicit skinning chooses a side for vertices between limbs, and fields near their axes and
  // directions of posed surfaces amplify rounding. The amplification is measured: a vertex may move
  // twice as far as it does when the joints are shifted by rounding.
  bool CarriesRounding() const {
    return std::ranges::any_of(recipe_, [](const StageParams& params) {
      const auto name = StageName(params);
      return name == "implicit" || name == "relax" || name == "muscle";
    });
  }
  RoundingSpread SpreadOf(const Frame& still, std::span<const Affine> pose, double size) const {
    return testing::SpreadOf(still, pose, size,
                             [&](std::span<const Affine> joints) { return Must(joints); });
  }
  std::size_t MostCarrying(double far) const;
  // Applies a common motion up to `far` diagonals from the origin to a pose.
  void ExpectFollows(const std::vector<Affine>& pose, const Frame& still, const AffineD& motion,
                     double far, const std::string& what) const;

  Recipe recipe_;
  const Deformer* deformer_ = nullptr;
};

constexpr double kCarried = 2;      // times the spread, of which the tries find a lower limit
constexpr double kFarthest = 0.15;  // diagonals
constexpr double kAcross = 0.24;    // diagonals: from one side of a tube to the other
constexpr double kTurned = 0.2;     // radians of a tangent

// Limit for the number of vertices that need the allowance; more would mean an unstable method. Far
// from the origin a limb scaled to zero is lost to rounding.
std::size_t DeformerLaws::MostCarrying(double far) const {
  return std::max<std::size_t>(10, rig().vertices() / (far >= 10 ? 7 : 20));
}

void DeformerLaws::ExpectFollows(const std::vector<Affine>& pose, const Frame& still,
                                 const AffineD& motion, double far, const std::string& what) const {
  const double rounding = Tolerance(2 * Reach() + far * diagonal()), tolerance = 5 * rounding;
  // Far from the origin, rounding may move a vertex between two sides of a limb.
  const double farthest = (far >= 10 ? kAcross : kFarthest) * diagonal();
  const Frame moved = Must(testing::Moved(motion, pose));
  std::vector<double> distance;
  for (std::size_t v = 0; v < rig().vertices(); ++v) {
    distance.push_back(
        Distance(Apply(motion, ToDouble(still.positions[v])), ToDouble(moved.positions[v])));
  }
  if (std::ranges::all_of(distance, [&](double d) { return d <= tolerance; })) return;
  RoundingSpread spread;
  if (CarriesRounding()) spread = SpreadOf(still, pose, rounding);
  spread.positions.resize(rig().vertices());
  std::size_t beyond = 0, carrying = 0;
  for (std::size_t v = 0; v < rig().vertices(); ++v) {
    if (distance[v] > tolerance) ++carrying;
    const double carried = std::min(kCarried * spread.positions[v], farthest);
    if (distance[v] <= tolerance + carried) continue;
    ++beyond;
    // Tries shift all points of a joint alike and miss some that individual rounding would flip.
    ASSERT_TRUE(CarriesRounding() && far >= 10 && distance[v] <= farthest)
        << what << " vertex " << v << ": " << distance[v] << ", tolerance " << tolerance
        << ", spread " << spread.positions[v];
  }
  // A vertex that changes sides drags its neighbours along.
  ASSERT_LE(beyond, 1 + rig().vertices() / (far >= 10 ? 80 : 250)) << what;
  ASSERT_LE(carrying, MostCarrying(far)) << what;
}

TEST_P(DeformerLaws, RestPoseGivesRestMesh) {
  const Frame frame = Must(testing::RestPose(rig()));
  for (std::size_t v = 0; v < rig().vertices(); ++v) {
    ASSERT_LE(Distance(ToDouble(rig().mesh().positions()[v]), ToDouble(frame.positions[v])),
              Tolerance(Reach()))
        << "vertex " << v;
  }
}

TEST_P(DeformerLaws, RestPoseGivesAuthoredNormals) {
  if (rig().mesh().normals().empty()) GTEST_SKIP() << "no authored normals";
  const Frame frame = Must(testing::RestPose(rig()));
  for (std::size_t v = 0; v < rig().vertices(); ++v) {
    ASSERT_LE(Distance(ToDouble(rig().mesh().normals()[v]), ToDouble(frame.normals[v])), 1e-4);
  }
}

// Rounding of a coordinate relative to the edge length tilts a direction.
double DirectionTolerance(const Rig& rig, double reach) {
  return 1e-4 + 1e-5 * reach / std::max(rig.mesh().diagonal(), 1e-3);
}

TEST_P(DeformerLaws, RestPoseGivesAuthoredTangents) {
  if (rig().mesh().tangents().empty()) GTEST_SKIP() << "no authored tangents";
  const Frame frame = Must(testing::RestPose(rig()));
  for (std::size_t v = 0; v < rig().vertices(); ++v) {
    const Vec4f& authored = rig().mesh().tangents()[v];
    const Vec3d t = Direction(authored);
    const Vec3d difference = (1 / std::sqrt(Dot(t, t))) * t - Direction(frame.tangents[v]);
    ASSERT_LE(std::sqrt(Dot(difference, difference)), DirectionTolerance(rig(), Reach())) << v;
    ASSERT_EQ(frame.tangents[v].w, authored.w) << v;
  }
}

TEST_P(DeformerLaws, TangentsFollowRigidMotion) {
  if (rig().mesh().tangents().empty()) GTEST_SKIP() << "no authored tangents";
  const AffineD motion = testing::RigidMotion({0.36, 0.48, 0.8}, 137);
  const double tolerance = 5 * DirectionTolerance(rig(), Reach());
  for (const auto& pose : {testing::BendPose(rig(), 80), testing::TwistPose(rig(), 120)}) {
    const Frame still = Must(pose);
    const Frame moved = Must(testing::Moved(motion, pose));
    RoundingSpread spread{.positions = {}, .tangents = std::vector<double>(rig().vertices())};
    if (CarriesRounding()) spread = SpreadOf(still, pose, Tolerance(2 * Reach()));
    std::size_t carrying = 0;
    for (std::size_t v = 0; v < rig().vertices(); ++v) {
      const Vec3d expected = Multiply(Linear(motion), Direction(still.tangents[v]));
      const double distance = Distance(expected, Direction(moved.tangents[v]));
      if (distance > tolerance) ++carrying;
      ASSERT_LE(distance, tolerance + std::min(kCarried * spread.tangents[v], kTurned)) << v;
    }
    ASSERT_LE(carrying, MostCarrying(0));
  }
}

TEST_P(DeformerLaws, FollowsRigidMotion) {
  for (const NamedPose& pose : LawPoses(rig())) {
    // The rotation of a root scaled to zero is undefined.
    if (rig().joints() == 1 && pose.name == "shrunk") continue;
    const Frame still = Must(pose.joints);
    for (const double far : {0.0, 100.0}) {
      const Vec3d t = far * diagonal() * Vec3d{0.6, -0.48, 0.64};
      ExpectFollows(pose.joints, still, testing::RigidMotion({0.36, 0.48, 0.8}, 137, t), far,
                    pose.name + ", far " + std::to_string(far));
    }
  }
}

TEST_P(DeformerLaws, FollowsMirror) {
  for (const NamedPose& pose : LawPoses(rig())) {
    if (rig().joints() == 1 && pose.name == "shrunk") continue;
    const Frame still = Must(pose.joints);
    for (const testing::NamedMirror& mirror : testing::Mirrors()) {
      ExpectFollows(pose.joints, still, mirror.motion, 0, pose.name + ", " + mirror.name);
    }
  }
}

TEST_P(DeformerLaws, FollowsRootThroughFullTurn) {
  const auto pose = testing::BendPose(rig(), 50);
  const Frame still = Must(pose);
  for (int degrees = 0; degrees <= 720; degrees += 45) {
    ExpectFollows(pose, still, testing::RigidMotion({0, 0.6, 0.8}, degrees), 0,
                  std::to_string(degrees) + " degrees");
  }
}

TEST_P(DeformerLaws, FiniteVerticesUnitNormalsTrueBounds) {
  auto poses = LawPoses(rig());
  poses.push_back(testing::HalfMirrored(rig()));
  for (const NamedPose& pose : poses) {
    const Frame frame = Must(pose.joints);
    std::array<float, 6> bounds = {INFINITY, INFINITY, INFINITY, -INFINITY, -INFINITY, -INFINITY};
    for (std::size_t v = 0; v < rig().vertices(); ++v) {
      const float p[3] = {frame.positions[v].x, frame.positions[v].y, frame.positions[v].z};
      for (std::size_t c = 0; c < 3; ++c) {
        ASSERT_TRUE(std::isfinite(p[c])) << pose.name << " vertex " << v;
        bounds[c] = std::min(bounds[c], p[c]);
        bounds[c + 3] = std::max(bounds[c + 3], p[c]);
      }
      const Vec3d n = ToDouble(frame.normals[v]);
      ASSERT_NEAR(Dot(n, n), 1, 1e-4) << pose.name << " vertex " << v;
      if (frame.tangents.empty()) continue;
      const Vec3d t = Direction(frame.tangents[v]);
      ASSERT_NEAR(Dot(t, t), 1, 1e-4) << pose.name << " vertex " << v;
      ASSERT_NEAR(Dot(t, n), 0, 1e-5) << pose.name << " vertex " << v;
      ASSERT_EQ(frame.tangents[v].w, rig().mesh().tangents()[v].w) << pose.name << " vertex " << v;
    }
    EXPECT_EQ(bounds, frame.bounds) << pose.name;
    for (const std::uint8_t status : frame.vertex_status) {  // none is unwritten
      ASSERT_LE(status, static_cast<std::uint8_t>(VertexStatus::kMoveLimit)) << pose.name;
    }
  }
}

TEST_P(DeformerLaws, NormalsChangeNoPosition) {
  for (const NamedPose& pose : LawPoses(rig())) {
    std::vector<Vec3f> alone(rig().vertices());
    FrameOut out{.positions = std::as_writable_bytes(std::span(alone))};
    Workspace workspace;
    ASSERT_TRUE(
        deformer_->Evaluate({.joints = pose.joints}, out, workspace, testing::OnOneThread()).ok());
    for (const NormalRule rule :
         {NormalRule::kAuto, NormalRule::kRecomputed, NormalRule::kCarried}) {
      const auto frame = testing::Evaluate(*deformer_, {.joints = pose.joints},
                                           testing::OnOneThread(), &workspace, rule);
      if (rule == NormalRule::kCarried && !deformer_->carries_normals()) {
        EXPECT_EQ(frame.status().code(), absl::StatusCode::kInvalidArgument);
        continue;
      }
      ASSERT_TRUE(frame.ok()) << frame.status();
      EXPECT_TRUE(testing::SameBits(alone, frame->positions)) << pose.name;
    }
  }
}

TEST_P(DeformerLaws, ThreadsAndFrameOrderDoNotChangeBits) {
  const auto poses = LawPoses(rig());
  std::vector<Frame> serial;
  for (const NamedPose& pose : poses) serial.push_back(Must(pose.joints, OnOneThread()));
  for (const int threads : {1, 2, 5}) {
    tbb::task_arena arena(threads);
    arena.execute([&] {
      Workspace reused;
      for (std::size_t k = poses.size(); k-- > 0;) {
        EXPECT_TRUE(serial[k].SameBits(Must(poses[k].joints, Task(), &reused)))
            << poses[k].name << " with " << threads << " threads";
      }
    });
  }
}

TEST_P(DeformerLaws, EveryInstructionSetGivesSameBits) {
  // Without FMA instructions, scalar code calls the C library for each: the longest law by far.
  auto poses = LawPoses(rig());
  std::erase_if(poses, [](const NamedPose& pose) {
    return pose.name == "rest" || pose.name == "bend80" || pose.name == "shrunk";
  });
  std::vector<Frame> scalar;
  for (const Isa isa : SupportedIsas()) {
    ASSERT_TRUE(ForceIsa(isa).ok());
    Task task = OnOneThread();
    const auto deformer = Deformer::Bind(rig(), recipe_, task);
    ASSERT_TRUE(deformer.ok());
    for (std::size_t k = 0; k < poses.size(); ++k) {
      const auto frame = Evaluate(*deformer, {.joints = poses[k].joints});
      ASSERT_TRUE(frame.ok()) << frame.status();
      if (isa == Isa::kScalar) {
        scalar.push_back(*frame);
      } else {
        EXPECT_TRUE(scalar[k].SameBits(*frame)) << poses[k].name << " on " << IsaName(isa);
      }
    }
  }
  ASSERT_TRUE(ForceIsa(Isa::kAuto).ok());
}

TEST_P(DeformerLaws, SaveAndLoadKeepBits) {
  TableWriter writer;
  deformer_->Save(writer);
  const std::string file = writer.Finish();
  const auto reader = TableReader::Open(file);
  ASSERT_TRUE(reader.ok()) << reader.status();
  const auto loaded = Deformer::Load(*reader);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  for (const NamedPose& pose : LawPoses(rig())) {
    const auto frame = Evaluate(*loaded, {.joints = pose.joints});
    ASSERT_TRUE(frame.ok());
    EXPECT_TRUE(Must(pose.joints).SameBits(*frame)) << pose.name;
  }
}

// Rebuilds a file from `tables` with one of them changed and valid checksums.
std::string Rebuilt(const std::vector<TableReader::Table>& tables, std::size_t changed,
                    std::span<const std::byte> bytes) {
  TableWriter writer;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    writer.AddBytes(tables[i].name, tables[i].element_bytes,
                    i == changed ? bytes : tables[i].bytes);
  }
  return writer.Finish();
}

TEST_P(DeformerLaws, LoadRejectsShortLongOrMissingTables) {
  TableWriter writer;
  deformer_->Save(writer);
  const std::string file = writer.Finish();
  const auto reader = TableReader::Open(file);
  ASSERT_TRUE(reader.ok());
  const auto tables = reader->Tables();
  for (std::size_t i = 0; i < tables.size(); ++i) {
    // Over all rigs, every table.
    if (i % 3 != std::get<1>(GetParam()) % 3 || tables[i].bytes.empty()) continue;
    for (const std::size_t keep :
         {std::size_t{0}, tables[i].bytes.size() - tables[i].element_bytes}) {
      const std::string bad = Rebuilt(tables, i, tables[i].bytes.first(keep));
      const auto opened = TableReader::Open(bad);
      ASSERT_TRUE(opened.ok());
      const auto loaded = Deformer::Load(*opened);
      EXPECT_EQ(loaded.status().code(), absl::StatusCode::kDataLoss)
          << tables[i].name << " cut to " << keep << " bytes: " << loaded.status();
    }
    // One value too many: a copy of the last.
    std::vector<std::byte> longer(tables[i].bytes.begin(), tables[i].bytes.end());
    const auto last = tables[i].bytes.last(tables[i].element_bytes);
    longer.insert(longer.end(), last.begin(), last.end());
    const std::string extended = Rebuilt(tables, i, longer);
    const auto of_longer = TableReader::Open(extended);
    ASSERT_TRUE(of_longer.ok());
    EXPECT_EQ(Deformer::Load(*of_longer).status().code(), absl::StatusCode::kDataLoss)
        << tables[i].name << " with a value too many";
    TableWriter without;
    for (std::size_t k = 0; k < tables.size(); ++k) {
      if (k != i) without.AddBytes(tables[k].name, tables[k].element_bytes, tables[k].bytes);
    }
    const std::string missing = without.Finish();
    const auto opened = TableReader::Open(missing);
    ASSERT_TRUE(opened.ok());
    EXPECT_EQ(Deformer::Load(*opened).status().code(), absl::StatusCode::kDataLoss)
        << "without " << tables[i].name;
  }
}

// Invalid indices with valid checksums are rejected, or harmless (a table of plain numbers) and
// every vertex is written.
TEST_P(DeformerLaws, LoadRejectsOrToleratesWildIndices) {
  TableWriter writer;
  deformer_->Save(writer);
  const std::string file = writer.Finish();
  const auto reader = TableReader::Open(file);
  ASSERT_TRUE(reader.ok());
  const auto tables = reader->Tables();
  const auto pose = testing::RestPose(rig());
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const std::size_t size = tables[i].element_bytes;
    if (tables[i].bytes.empty()) continue;
    const std::size_t last = tables[i].bytes.size() / size - 1;
    // Over all rigs, each of the three places in each table.
    const std::array<std::size_t, 3> places = {0, last / 2, last};
    for (const std::size_t at : {places[std::get<1>(GetParam()) % places.size()]}) {
      for (const std::byte wild : {std::byte{0xfe}, std::byte{0xff}, std::byte{0}}) {
        std::vector<std::byte> bytes(tables[i].bytes.begin(), tables[i].bytes.end());
        std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at * size), size, wild);
        const std::string bad = Rebuilt(tables, i, bytes);
        const auto opened = TableReader::Open(bad);
        ASSERT_TRUE(opened.ok());
        const auto loaded = Deformer::Load(*opened);
        if (!loaded.ok()) {
          EXPECT_EQ(loaded.status().code(), absl::StatusCode::kDataLoss) << loaded.status();
          continue;
        }
        if (loaded->joints() != pose.size()) continue;
        constexpr float kUnwritten = -12345.678f;
        const std::size_t vertices = loaded->vertices();
        std::vector<float> values(vertices * (loaded->has_tangents() ? 10 : 6), kUnwritten);
        std::vector<std::byte> vertex_status(loaded->has_vertex_status() ? vertices : 0);
        const auto bytes_of = std::as_writable_bytes(std::span(values));
        FrameOut out{.positions = bytes_of.first(vertices * 12),
                     .normals = bytes_of.subspan(vertices * 12, vertices * 12),
                     .tangents = bytes_of.subspan(vertices * 24),
                     .vertex_status = vertex_status};
        Workspace workspace;
        if (!loaded->Evaluate({.joints = pose}, out, workspace, OnOneThread()).ok()) continue;
        EXPECT_EQ(std::count(values.begin(), values.end(), kUnwritten), 0)
            << tables[i].name << " element " << at;
      }
    }
  }
}

TEST_P(DeformerLaws, CancelledBindStops) {
  std::stop_source stop;
  stop.request_stop();
  Task task({.stop = stop.get_token()});
  EXPECT_EQ(Deformer::Bind(rig(), recipe_, task).status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(Deformer::Estimate(rig(), recipe_, task).status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(Evaluate(*deformer_, {.joints = testing::RestPose(rig())}, task).status().code(),
            absl::StatusCode::kCancelled);
}

TEST_P(DeformerLaws, CancelMidwayStopsOrFinishes) {
  std::stop_source stop;
  Task task({.stop = stop.get_token(), .progress = [&](double) { stop.request_stop(); }});
  const auto bound = Deformer::Bind(rig(), recipe_, task);
  EXPECT_TRUE(stop.stop_requested());  // every bind reports progress
  if (bound.ok()) {
    EXPECT_TRUE(Must(testing::BendPose(rig(), 40))
                    .SameBits(Evaluate(*bound, {.joints = testing::BendPose(rig(), 40)}).value()));
  } else {
    EXPECT_EQ(bound.status().code(), absl::StatusCode::kCancelled) << bound.status();
  }
}

TEST_P(DeformerLaws, PartsOfEarlierBindsKeepBits) {
  const auto bytes_of = [](const Deformer& deformer) {
    TableWriter tables;
    deformer.Save(tables);
    return tables.Finish();
  };
  std::shared_ptr<const RigParts> parts;
  // Each starts with what the one before has left; the recipe itself also with all of its own.
  for (const Recipe& recipe : {*ParseRecipe("lbs"), *ParseRecipe("ddm"), recipe_, recipe_}) {
    Task task;
    absl::StatusOr<BindPlan> plan = Deformer::Plan(rig(), recipe, task, parts);
    ASSERT_TRUE(plan.ok()) << plan.status();
    const auto again = Deformer::Bind(*std::move(plan), task, &parts);
    ASSERT_TRUE(again.ok()) << again.status();
    if (FormatRecipe(recipe) == FormatRecipe(recipe_)) {
      EXPECT_TRUE(bytes_of(*again) == bytes_of(*deformer_));
    }
  }
  EXPECT_GT(parts->Bytes(rig()), 0u);
}

TEST_P(DeformerLaws, BoundDataIsWithinEstimate) {
  const auto estimate = Deformer::Estimate(rig(), recipe_, Task());
  ASSERT_TRUE(estimate.ok());
  EXPECT_LE(deformer_->bytes(), estimate->bound_bytes + 4096);
  EXPECT_GE(estimate->peak_bytes, estimate->bound_bytes);
  Task poor({.memory_limit = 1});
  EXPECT_EQ(Deformer::Bind(rig(), recipe_, poor).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Deformer::Estimate(rig(), recipe_, poor).status().code(),
            absl::StatusCode::kResourceExhausted);
  Task known({.memory_limit = estimate->peak_bytes});
  absl::StatusOr<BindPlan> plan = Deformer::Plan(rig(), recipe_, Task());
  ASSERT_TRUE(plan.ok());
  EXPECT_TRUE(Deformer::Bind(*std::move(plan), known).ok());
}

TEST_P(DeformerLaws, RejectsBadPosesAndBuffers) {
  auto pose = testing::RestPose(rig());
  EXPECT_EQ(
      Evaluate(*deformer_, {.joints = std::span(pose).first(pose.size() - 1)}).status().code(),
      absl::StatusCode::kInvalidArgument);
  for (const float bad : {NAN, INFINITY, -INFINITY}) {
    auto broken = pose;
    broken.back().m[7] = bad;
    EXPECT_EQ(Evaluate(*deformer_, {.joints = broken}).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
  auto huge = pose;
  for (Affine& joint : huge) joint.m[0] = joint.m[5] = joint.m[10] = joint.m[3] = 3e38f;
  const auto overflow = Evaluate(*deformer_, {.joints = huge});
  if (!overflow.ok()) {
    EXPECT_EQ(overflow.status().code(), absl::StatusCode::kInvalidArgument) << overflow.status();
  }
  for (std::size_t v = 0; overflow.ok() && v < rig().vertices(); ++v) {
    const Vec3f p = overflow->positions[v];
    ASSERT_TRUE(std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z)) << "vertex " << v;
  }
  std::vector<std::byte> room(deformer_->vertices() * 12), tangents(deformer_->vertices() * 16);
  Workspace spare;
  FrameOut asked{.positions = room, .tangents = tangents};
  EXPECT_EQ(deformer_->Evaluate({.joints = pose}, asked, spare, Task()).ok(),
            deformer_->has_tangents());
  asked.tangents = std::span(tangents).first(tangents.size() - 1);
  EXPECT_EQ(deformer_->Evaluate({.joints = pose}, asked, spare, Task()).code(),
            absl::StatusCode::kInvalidArgument);
  asked.tangents = {};
  std::vector<std::byte> vertex_status(deformer_->vertices());
  asked.vertex_status = vertex_status;
  EXPECT_EQ(deformer_->Evaluate({.joints = pose}, asked, spare, Task()).ok(),
            deformer_->has_vertex_status());
  EXPECT_EQ(deformer_->has_vertex_status(), WritesVertexStatus(recipe_));
  vertex_status.push_back({});
  asked.vertex_status = vertex_status;
  EXPECT_EQ(deformer_->Evaluate({.joints = pose}, asked, spare, Task()).code(),
            absl::StatusCode::kInvalidArgument);
  std::vector<std::byte> small(deformer_->vertices() * 12 - 1);
  FrameOut out{.positions = small};
  Workspace workspace;
  EXPECT_EQ(deformer_->Evaluate({.joints = pose}, out, workspace, Task()).code(),
            absl::StatusCode::kInvalidArgument);
}

std::string Readable(const ::testing::TestParamInfo<DeformerLaws::ParamType>& info) {
  std::string name = std::get<0>(info.param) + "_" + LawRigs()[std::get<1>(info.param)].name;
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, DeformerLaws,
                         ::testing::Combine(::testing::ValuesIn(LawRecipes()),
                                            ::testing::Range<std::size_t>(0, LawRigs().size())),
                         Readable);

}  // namespace
}  // namespace sinew
