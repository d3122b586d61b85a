#include "core/deform/engine/deformer.h"

#include <gtest/gtest.h>

#include <cstring>

#include "core/base/table_io.h"
#include "core/deform/engine/recipe_text.h"
#include "core/deform/engine/registry.h"
#include "tests/support/compare.h"
#include "tests/support/small_rigs.h"
#include "tests/support/tube.h"

namespace sinew {
namespace {

struct Posed {
  std::vector<Vec3f> positions, normals;
};

Posed Evaluated(const Rig& rig, const char* recipe_text, std::span<const Affine> pose) {
  Task task;
  const auto deformer = Deformer::Bind(rig, *ParseRecipe(recipe_text), task);
  EXPECT_TRUE(deformer.ok()) << deformer.status();
  Posed posed{.positions = std::vector<Vec3f>(rig.vertices()),
              .normals = std::vector<Vec3f>(rig.vertices())};
  FrameOut out{.positions = std::as_writable_bytes(std::span(posed.positions)),
               .normals = std::as_writable_bytes(std::span(posed.normals))};
  Workspace workspace;
  const auto status = deformer->Evaluate({.joints = pose}, out, workspace, task);
  EXPECT_TRUE(status.ok()) << status;
  return posed;
}

std::vector<Vec3f> Positions(const Rig& rig, const char* recipe_text,
                             std::span<const Affine> pose) {
  return Evaluated(rig, recipe_text, pose).positions;
}

// A point that the upper arm alone would move to (3, 1), and the forearm alone, bent by 90 degrees,
// to (5, 1), is at (3.4, 1) with weights 0.8 and 0.2.
TEST(Lbs, BlendsTextbookElbow) {
  // Rest: elbow at (4, 0); the point is at (3, 1) in bind pose. The forearm rotates by -90 degrees
  // about the elbow: (3, 1) - (4, 0) = (-1, 1) becomes (1, 1), that is (5, 1).
  RigSource source;
  source.mesh.parts = {{.name = "point", .vertex_offset = 0, .vertex_count = 1}};
  source.mesh.positions = {{3, 1, 0}};
  source.mesh.face_offsets = {0};
  source.joints = {{.name = "upper_arm"}, {.name = "forearm", .parent = 0}};
  const AffineD elbow = {{1, 0, 0, 4, 0, 1, 0, 0, 0, 0, 1, 0}};
  source.rest_local = {AffineD{}, elbow};
  source.bindings = {{.joint = 0, .inverse_bind = {}},
                     {.joint = 1, .inverse_bind = Inverse(elbow)}};
  source.influences = {
      .offsets = {0, 2}, .bindings = {0, 1}, .weights = {0.8f, 0.2f}, .fallback = {}};
  const Rig rig = testing::MakeRig(std::move(source));
  const AffineD bent = Compose(elbow, {{0, 1, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0}});
  const std::vector<Affine> pose = {Affine{}, ToFloat(bent)};
  const Vec3f landed = Positions(rig, "lbs", pose).front();
  EXPECT_NEAR(landed.x, 3.4, 1e-6);
  EXPECT_NEAR(landed.y, 1.0, 1e-6);
  EXPECT_NEAR(landed.z, 0.0, 1e-6);
}

// A vertex does not depend on its block: but for the order of sums over neighbours, bit by bit.
TEST(Deformer, PermutedVerticesPermuteResult) {
  const RigSource source =
      testing::TubeSource({.joints = 5, .weights = testing::TubeWeights::kFour});
  RigSource shuffled = source;
  const std::size_t n = source.mesh.positions.size();
  std::vector<std::uint32_t> place(n);  // of a vertex in the shuffled rig
  for (std::size_t v = 0; v < n; ++v) place[v] = static_cast<std::uint32_t>((v * 401 + 17) % n);
  shuffled.influences.offsets.assign(1, 0);
  shuffled.influences.bindings.clear();
  shuffled.influences.weights.clear();
  std::vector<std::uint32_t> at(n);
  for (std::size_t v = 0; v < n; ++v) at[place[v]] = static_cast<std::uint32_t>(v);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t v = at[i];
    shuffled.mesh.positions[i] = source.mesh.positions[v];
    for (std::uint64_t k = source.influences.offsets[v]; k < source.influences.offsets[v + 1];
         ++k) {
      shuffled.influences.bindings.push_back(source.influences.bindings[k]);
      shuffled.influences.weights.push_back(source.influences.weights[k]);
    }
    shuffled.influences.offsets.push_back(shuffled.influences.bindings.size());
  }
  for (std::uint32_t& corner : shuffled.mesh.face_vertices) corner = place[corner];
  const Rig a = testing::MakeRig(source), b = testing::MakeRig(std::move(shuffled));
  const auto pose = testing::BendPose(a, 80);
  for (const char* recipe_text : {"lbs", "dqs", "spherical_blend", "ddm"}) {
    const auto pa = Positions(a, recipe_text, pose), pb = Positions(b, recipe_text, pose);
    const double most = std::string_view(recipe_text) == "ddm" ? 2e-6 : 0;
    for (std::size_t v = 0; v < n; ++v) {
      ASSERT_LE(testing::Distance(ToDouble(pa[v]), ToDouble(pb[place[v]])), most)
          << recipe_text << " vertex " << v;
    }
  }
  for (const char* recipe_text : {"lbs", "dqs | bulge_free", "cor", "spherical_blend", "ddm"}) {
    const auto na = Evaluated(a, recipe_text, pose).normals;
    const auto nb = Evaluated(b, recipe_text, pose).normals;
    for (std::size_t v = 0; v < n; ++v) {
      ASSERT_LE(testing::Distance(ToDouble(na[v]), ToDouble(nb[place[v]])), 1e-4)
          << recipe_text << " vertex " << v;
    }
  }
}

// Frames with fewer vertices than the one before in the same workspace, no multiple of 16, at odd
// addresses.
TEST(Deformer, EncodedFramesAreThoseOfFloat32) {
  Workspace workspace;
  for (const std::size_t around : {32, 7}) {
    const Rig rig = testing::TubeRig({.rings = 31, .around = around});
    const auto pose = testing::BendPose(rig, 50);
    const Posed exact = Evaluated(rig, "dqs", pose);
    Task task;
    const auto deformer = Deformer::Bind(rig, *ParseRecipe("dqs"), task);
    const std::size_t n = rig.vertices();
    std::vector<std::byte> bytes(1 + n * 8 + 1, std::byte{0x5a});
    FrameOut out{.encoding = Encoding::kQ16,
                 .normal_encoding = Encoding::kOct8,
                 .positions = std::span(bytes).subspan(1, n * 6),
                 .normals = std::span(bytes).subspan(1 + n * 6, n * 2)};
    ASSERT_TRUE(deformer->Evaluate({.joints = pose}, out, workspace, task).ok());
    EXPECT_EQ(bytes.front(), std::byte{0x5a});
    EXPECT_EQ(bytes.back(), std::byte{0x5a});
    for (std::size_t v = 0; v < n; ++v) {
      std::uint16_t q[3];
      std::int8_t oct[2];
      std::memcpy(q, bytes.data() + 1 + v * 6, sizeof q);
      std::memcpy(oct, bytes.data() + 1 + n * 6 + v * 2, sizeof oct);
      const float want[3] = {exact.positions[v].x, exact.positions[v].y, exact.positions[v].z};
      for (std::size_t c = 0; c < 3; ++c) {
        const float step = out.quantisation.step[c];
        ASSERT_NEAR(out.quantisation.origin[c] + step * static_cast<float>(q[c]), want[c],
                    0.51f * step + 1e-6f);
      }
      const double u = oct[0] / 127.0, w = oct[1] / 127.0, z = 1 - std::abs(u) - std::abs(w);
      const double below = std::max(0.0, -z);
      const Vec3d normal = {u < 0 ? u + below : u - below, w < 0 ? w + below : w - below, z};
      ASSERT_GT(Dot(normal, ToDouble(exact.normals[v])) / std::sqrt(Dot(normal, normal)), 0.9998);
    }
  }
}

// A mesh in centimetres on a skeleton in metres deforms like the same mesh in metres, including
// detail.
TEST(Deformer, InvariantToMeshUnits) {
  const RigSource metres = testing::TubeSource({.joints = 3});
  RigSource centimetres = metres;
  for (Vec3f& p : centimetres.mesh.positions) p = {p.x * 100, p.y * 100, p.z * 100};
  for (Binding& binding : centimetres.bindings) {
    for (const std::size_t i : {0, 1, 2, 4, 5, 6, 8, 9, 10}) binding.inverse_bind.m[i] /= 100;
  }
  const Rig a = testing::MakeRig(metres), b = testing::MakeRig(std::move(centimetres));
  const auto pose = testing::BendPose(a, 70);
  for (const char* recipe_text : {"lbs", "dqs", "ddm", "enhanced_ddm"}) {
    const auto pa = Positions(a, recipe_text, pose), pb = Positions(b, recipe_text, pose);
    for (std::size_t v = 0; v < pa.size(); ++v) {
      ASSERT_NEAR(pa[v].x, pb[v].x, 1e-5) << recipe_text << " vertex " << v;
      ASSERT_NEAR(pa[v].y, pb[v].y, 1e-5) << recipe_text << " vertex " << v;
      ASSERT_NEAR(pa[v].z, pb[v].z, 1e-5) << recipe_text << " vertex " << v;
    }
  }
}

// A joint flattened to zero along one axis keeps its rotation.
TEST(Deformer, FlatteningJointDoesNotPop) {
  const Rig rig = testing::TubeRig();
  for (const char* recipe_text : {"lbs", "dqs", "enhanced_ddm"}) {
    std::vector<std::vector<Vec3f>> frames;
    for (const double z : {1e-6, 0.0, -1e-6}) {
      auto pose = testing::BendPose(rig, 90);
      pose.back() = ToFloat(Compose(ToDouble(pose.back()), testing::ScaleMotion({1, 1, z})));
      frames.push_back(Positions(rig, recipe_text, pose));
    }
    for (std::size_t v = 0; v < rig.vertices(); ++v) {
      for (std::size_t k = 1; k < frames.size(); ++k) {
        const Vec3d d = ToDouble(frames[k][v]) - ToDouble(frames[0][v]);
        ASSERT_LT(Dot(d, d), 1e-8) << recipe_text << " vertex " << v;
      }
    }
  }
}

TEST(Deformer, EstimateRejectsWhatBindRejects) {
  const Rig rig = testing::OneTriangle();
  Task task;
  EXPECT_EQ(Deformer::Estimate(rig, {}, task).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Deformer::Estimate(rig, {LbsParams{}, LbsParams{}}, task).status().code(),
            absl::StatusCode::kInvalidArgument);
  DqsParams params;
  params.blend_map = "nowhere";
  EXPECT_EQ(Deformer::Bind(rig, {params}, task).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Deformer::Estimate(rig, {params}, task).status().code(),
            absl::StatusCode::kInvalidArgument);
  for (const char* recipe_text : {"ddm(radius=1)", "ddm(smoothing=explicit, radius=1)"}) {
    // Two small components far apart: the radius is about a million edges.
    RigSource source = testing::TubeSource();
    for (std::size_t v = 0; v < 32; ++v) source.mesh.positions[v].x -= 1e6f;
    const Rig wide = testing::MakeRig(std::move(source));
    const auto estimate = Deformer::Estimate(wide, *ParseRecipe(recipe_text), task);
    const auto bound = Deformer::Bind(wide, *ParseRecipe(recipe_text), task);
    EXPECT_EQ(estimate.status().code(), bound.status().code()) << recipe_text;
    EXPECT_NE(bound.status().code(), absl::StatusCode::kInternal) << bound.status();
  }
}

TEST(Deformer, VertexStatusOnlyFromStagesThatWriteIt) {
  const Rig rig = testing::OneTriangle();
  Task task;
  const auto deformer = Deformer::Bind(rig, *ParseRecipe("lbs"), task);
  ASSERT_TRUE(deformer.ok()) << deformer.status();
  EXPECT_FALSE(deformer->has_vertex_status());
  std::vector<std::byte> positions(rig.vertices() * 12), vertex_status(rig.vertices());
  FrameOut out{.positions = positions, .vertex_status = vertex_status};
  Workspace workspace;
  const auto status = deformer->Evaluate({.joints = testing::RestPose(rig)}, out, workspace, task);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("implicit"), absl::string_view::npos) << status;
  EXPECT_FALSE(WritesVertexStatus(*ParseRecipe("dqs | bulge_free")));
  EXPECT_TRUE(WritesVertexStatus(*ParseRecipe("implicit_skinning")));
}

// Also from saved tables: a deformer keeps no rig.
TEST(Deformer, PosesMuscles) {
  RigSource source = testing::TubeSource({.joints = 2});
  source.controls = {{.name = "tension", .default_value = 1}};
  Muscle muscle;
  muscle.name = "biceps";
  muscle.origin = {0, {0.5, 1, 0}};
  muscle.insertion = {1, {0.5, 1, 0}};
  muscle.width = 0.3;
  muscle.depth = 0.2;
  muscle.activation = 0;
  source.muscles = {muscle, muscle};
  source.muscles[1].name = "triceps";
  source.muscles[1].origin.at.y = -1;
  const Rig rig = testing::MakeRig(std::move(source));
  Task task;
  const auto bound = Deformer::Bind(rig, *ParseRecipe("lbs"), task);
  ASSERT_TRUE(bound.ok()) << bound.status();
  TableWriter writer;
  bound->Save(writer);
  const std::string file = writer.Finish();
  const auto tables = TableReader::Open(file);
  ASSERT_TRUE(tables.ok()) << tables.status();
  const auto loaded = Deformer::Load(*tables);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const auto joints = testing::BendPose(rig, 70);
  const float rest[] = {0};
  for (const Pose& pose : {Pose{.joints = joints}, Pose{.joints = joints, .controls = rest}}) {
    const std::vector<PosedMuscle> want = PoseMuscles(rig, pose);
    ASSERT_EQ(want.size(), 2u);
    for (const Deformer* deformer : {&*bound, &*loaded}) {
      EXPECT_EQ(deformer->muscles(), 2u);
      std::vector<std::byte> positions(rig.vertices() * 12);
      std::vector<PosedMuscle> got(7);
      FrameOut out{.positions = positions, .muscles = &got};
      Workspace workspace;
      ASSERT_TRUE(deformer->Evaluate(pose, out, workspace, task).ok());
      ASSERT_EQ(got.size(), 2u);
      EXPECT_EQ(std::memcmp(got.data(), want.data(), 2 * sizeof(PosedMuscle)), 0);
    }
  }
}

}  // namespace
}  // namespace sinew
