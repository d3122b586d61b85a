#include "server/convert/rig.h"

#include <gtest/gtest.h>

#include <cstring>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "server/base/status.h"
#include "tests/support/test_rig.h"

namespace sinew::server {
namespace {

using testing::FloatArray;
using testing::IntArray;
using testing::Lift;
using testing::TubeMesh;
using testing::TubeRig;

absl::StatusOr<ConvertedRig> Convert(const v1::Rig& rig, const RigConfig& limits = {}) {
  return ConvertRig(rig.SerializeAsString(), limits);
}

TEST(ConvertRig, SummaryDescribesRig) {
  const auto converted = Convert(TubeRig());
  ASSERT_TRUE(converted.ok()) << converted.status();
  EXPECT_EQ(converted->rig->vertices(), 72u);
  EXPECT_EQ(converted->summary.vertices(), 72u);
  EXPECT_EQ(converted->summary.faces(), 64u);
  EXPECT_EQ(converted->summary.joints_size(), 3);
  EXPECT_EQ(converted->summary.bounds().minimum(1), 0.0f);
  EXPECT_EQ(converted->summary.bounds().maximum(1), 2.0f);
}

TEST(ConvertRig, MeshesShareOneVertexNumbering) {
  v1::Rig rig = TubeRig();
  v1::Mesh second = TubeMesh({.rings = 3, .segments = 4});
  second.set_name("small");
  *rig.add_meshes() = second;
  const auto converted = Convert(rig);
  ASSERT_TRUE(converted.ok()) << converted.status();
  ASSERT_EQ(converted->summary.meshes_size(), 2);
  EXPECT_EQ(converted->summary.meshes(1).name(), "small");
  EXPECT_EQ(converted->summary.meshes(1).vertex_offset(), 72u);
  EXPECT_EQ(converted->summary.meshes(1).vertex_count(), 12u);
  const Mesh& mesh = converted->rig->mesh();
  EXPECT_GE(mesh.face_vertices().back(), 72u);
  EXPECT_LT(mesh.face_vertices().back(), 84u);
}

TEST(ConvertRig, MergesEqualBindings) {
  v1::Rig rig = TubeRig();
  *rig.add_meshes() = TubeMesh({});
  const auto same = Convert(rig);
  ASSERT_TRUE(same.ok());
  EXPECT_EQ(same->rig->bindings().size(), 3u);
  *rig.mutable_meshes(1)->mutable_skin()->mutable_geometry_bind() = FloatArray(Lift(1), 12);
  const auto other = Convert(rig);
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(other->rig->bindings().size(), 6u);
}

TEST(ConvertRig, AppliesGeometryBindBeforeInverseBind) {
  v1::Rig rig = TubeRig({.joints = 1});
  v1::Skin& skin = *rig.mutable_meshes(0)->mutable_skin();
  // Scaling by 2, then moving down by 1: the order shows in the translation.
  *skin.mutable_geometry_bind() = FloatArray({2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0}, 12);
  *skin.mutable_inverse_bind() = FloatArray(Lift(-1), 12);
  const auto converted = Convert(rig);
  ASSERT_TRUE(converted.ok()) << converted.status();
  // What a vertex becomes in joint space; the core may keep the scale in the mesh or in the matrix.
  const Rig& result = *converted->rig;
  const Vec3d in_joint =
      Apply(result.bindings()[0].inverse_bind, ToDouble(result.mesh().positions()[0]));
  float given[3];
  std::memcpy(given, rig.meshes(0).positions().data().data(), sizeof given);
  EXPECT_NEAR(in_joint.x, 2.0 * given[0], 1e-6);
  EXPECT_NEAR(in_joint.y, 2.0 * given[1] - 1, 1e-6);
  EXPECT_NEAR(in_joint.z, 2.0 * given[2], 1e-6);
}

// Coefficients that move each vertex with its first joint alone.
v1::Coefficients WholeJoints(std::uint32_t columns, std::size_t vertices) {
  std::vector<float> values;
  for (std::size_t v = 0; v < vertices; ++v) {
    for (std::uint32_t c = 0; c < columns; ++c) values.push_back(c % 4 == 3 ? 1.0f : 0.0f);
  }
  v1::Coefficients coefficients;
  *coefficients.mutable_counts() = IntArray(std::vector<std::uint32_t>(vertices, 1));
  *coefficients.mutable_joints() = IntArray(std::vector<std::uint32_t>(vertices, 2));
  *coefficients.mutable_values() = FloatArray(values, columns);
  return coefficients;
}

TEST(ConvertRig, CoefficientsOfOneMeshLeaveOthersTheirWeights) {
  v1::Rig rig = TubeRig({.rings = 2, .segments = 3});
  for (int m = 0; m < 2; ++m) *rig.add_meshes() = rig.meshes(0);
  *rig.mutable_meshes(1)->mutable_skin()->mutable_coefficients() = WholeJoints(4, 6);
  const auto converted = Convert(rig);
  ASSERT_TRUE(converted.ok()) << converted.status();
  const JointCoefficients& coefficients = converted->rig->coefficients();
  EXPECT_EQ(coefficients.columns, 4u);
  ASSERT_EQ(coefficients.offsets.size(), 19u);
  EXPECT_TRUE(coefficients.row(5).empty());
  ASSERT_EQ(coefficients.row(6).size(), 1u);
  EXPECT_EQ(coefficients.row(6)[0], 2u);
  EXPECT_EQ(coefficients.row_values(11)[3], 1.0f);
  EXPECT_TRUE(coefficients.row(17).empty());
}

TEST(ConvertRig, BadCoefficientsAreRefusedByField) {
  using Harm = std::function<void(v1::Rig&, v1::Coefficients&)>;
  const std::pair<const char*, Harm> cases[] = {
      {"rig.meshes[0].skin.coefficients.values.columns: got 5, need 4 or 12",
       [](v1::Rig&, v1::Coefficients& c) { c.mutable_values()->set_columns(5); }},
      {"rig.meshes[1].skin.coefficients.values.columns: got 12, need 4 as in the meshes before",
       [](v1::Rig& rig, v1::Coefficients&) {
         *rig.add_meshes() = rig.meshes(0);
         *rig.mutable_meshes(1)->mutable_skin()->mutable_coefficients() = WholeJoints(12, 6);
       }},
      {"rig.meshes[0].skin.coefficients.joints: row 0 got 3, need less than 3",
       [](v1::Rig&, v1::Coefficients& c) {
         *c.mutable_joints() = IntArray(std::vector<std::uint32_t>(6, 3));
       }},
      {"rig.meshes.skin.coefficients.values: the weights of vertex 0 sum to 2",
       [](v1::Rig&, v1::Coefficients& c) {
         *c.mutable_values() = FloatArray(std::vector<float>(24, 2), 4);
       }},
  };
  for (const auto& [message, harm] : cases) {
    v1::Rig rig = TubeRig({.rings = 2, .segments = 3});
    v1::Coefficients& c = *rig.mutable_meshes(0)->mutable_skin()->mutable_coefficients();
    c = WholeJoints(4, 6);
    ASSERT_TRUE(Convert(rig).ok());
    harm(rig, c);
    const absl::Status status = Convert(rig).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(status.message().substr(0, std::strlen(message)), message);
  }
  v1::Rig rig = TubeRig({.rings = 2, .segments = 3});
  v1::Coefficients& c = *rig.mutable_meshes(0)->mutable_skin()->mutable_coefficients();
  c = WholeJoints(4, 6);
  c.mutable_counts()->CopyFrom(IntArray({300, 0, 0, 0, 0, 0}));
  RigConfig few;
  few.influences = 8;
  EXPECT_EQ(Convert(rig, few).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(ConvertRig, MissingMapsAreFilledWithOne) {
  v1::Rig rig = TubeRig({.rings = 2, .segments = 3});
  for (int m = 0; m < 2; ++m) {
    v1::Mesh mesh = TubeMesh({.rings = 2, .segments = 3});
    mesh.set_name("copy" + std::to_string(m));
    *rig.add_meshes() = mesh;
  }
  v1::VertexMap& map = *rig.mutable_meshes(1)->add_maps();
  map.set_name("mask");
  *map.mutable_values() = FloatArray(std::vector<float>(6, 0.5f), 1);
  const auto converted = Convert(rig);
  ASSERT_TRUE(converted.ok()) << converted.status();
  const VertexMap* found = converted->rig->FindMap("mask");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->values[0], 1.0f);
  EXPECT_EQ(found->values[6], 0.5f);
  EXPECT_EQ(found->values[17], 1.0f);
}

TEST(ConvertRig, WeldNumbersBelongToTheirMesh) {
  v1::Rig rig = TubeRig({.rings = 2, .segments = 3});
  *rig.add_meshes() = rig.meshes(0);
  for (int m = 0; m < 2; ++m) {
    *rig.mutable_meshes(m)->mutable_weld() = IntArray({7, 8, 7, 9, 10, 11});
  }
  const auto converted = Convert(rig);
  ASSERT_TRUE(converted.ok()) << converted.status();
  const auto weld = converted->rig->mesh().weld();
  EXPECT_EQ(weld[0], weld[2]);
  EXPECT_EQ(weld[6], weld[8]);
  EXPECT_NE(weld[0], weld[6]);
}

TEST(ConvertRig, ShapesKeepTheirControlAndVertices) {
  v1::Rig rig = TubeRig({.rings = 2, .segments = 3});
  *rig.add_meshes() = rig.meshes(0);
  rig.add_controls()->set_name("smile");
  v1::Shape& shape = *rig.mutable_meshes(1)->add_shapes();
  shape.set_control("smile");
  v1::ShapeTarget& target = *shape.add_targets();
  target.set_weight(1);
  *target.mutable_vertices() = IntArray({1, 4});
  *target.mutable_offsets() = FloatArray({0, 1, 0, 0, 2, 0}, 3);
  const auto converted = Convert(rig);
  ASSERT_TRUE(converted.ok()) << converted.status();
  ASSERT_EQ(converted->rig->shapes().size(), 1u);
  EXPECT_EQ(converted->rig->shapes()[0].targets[0].vertices, (std::vector<std::uint32_t>{7, 10}));
}

struct BadRig {
  const char* field;
  std::function<void(v1::Rig&)> spoil;
};

v1::Mesh& Mesh0(v1::Rig& rig) {
  return *rig.mutable_meshes(0);
}
v1::Skin& Skin0(v1::Rig& rig) {
  return *Mesh0(rig).mutable_skin();
}

TEST(ConvertRig, WrongValueErrorsNameField) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<BadRig> table = {
      {"rig.muscles[0].origin.at", [](v1::Rig& r) { r.add_muscles(); }},
      {"rig.meters_per_unit", [](v1::Rig& r) { r.set_meters_per_unit(-1); }},
      {"rig.meters_per_unit", [](v1::Rig& r) { r.set_meters_per_unit(1.0 / 0.0); }},
      {"rig.up_axis", [](v1::Rig& r) { r.set_up_axis(static_cast<v1::UpAxis>(7)); }},
      {"rig.meshes", [](v1::Rig& r) { r.clear_meshes(); }},
      {"rig.joints[1].parent", [](v1::Rig& r) { r.mutable_joints(1)->set_parent(1); }},
      {"rig.joints[1].parent", [](v1::Rig& r) { r.mutable_joints(1)->set_parent(0xffffffffu); }},
      {"rig.joints[1].name", [](v1::Rig& r) { r.mutable_joints(1)->set_name("joint0"); }},
      {"rig.joints[0].scale_inheritance",
       [](v1::Rig& r) {
         r.mutable_joints(0)->set_scale_inheritance(static_cast<v1::ScaleInheritance>(9));
       }},
      {"rig.rest_local", [](v1::Rig& r) { r.mutable_rest_local()->set_rows(2); }},
      {"rig.rest_local.type", [](v1::Rig& r) { r.clear_rest_local(); }},
      {"rig.meshes[0].positions",
       [](v1::Rig& r) {
         Mesh0(r).mutable_positions()->set_columns(2);
         Mesh0(r).mutable_positions()->set_rows(7);
       }},
      {"rig.meshes[0].positions.data",
       [](v1::Rig& r) { Mesh0(r).mutable_positions()->mutable_data()->pop_back(); }},
      {"rig.meshes[0].positions.data",
       [](v1::Rig& r) { Mesh0(r).mutable_positions()->set_rows(73); }},
      {"rig.meshes[0].positions.type",
       [](v1::Rig& r) { Mesh0(r).mutable_positions()->set_type(v1::ARRAY_TYPE_UINT32); }},
      {"rig.meshes[0].face_vertices",
       [](v1::Rig& r) {
         *Mesh0(r).mutable_face_vertices() = IntArray({0, 1, 72, 3});
       }},
      {"rig.meshes[0].face_vertices", [](v1::Rig& r) { Mesh0(r).clear_face_vertices(); }},
      {"rig.meshes[0].face_sizes",
       [](v1::Rig& r) { *Mesh0(r).mutable_face_sizes() = IntArray({2}); }},
      {"rig.meshes[0].face_vertices",
       [](v1::Rig& r) {
         *Mesh0(r).mutable_face_sizes() = IntArray({4, 4});
       }},
      {"rig.meshes[0].face_vertices",
       [](v1::Rig& r) {
         Mesh0(r).clear_face_sizes();
         *Mesh0(r).mutable_face_vertices() = IntArray({0, 1, 2, 3});
       }},
      {"rig.meshes[0].normals",
       [](v1::Rig& r) {
         *Mesh0(r).mutable_normals() = FloatArray({0, 1, 0}, 3);
       }},
      {"rig.meshes[0].tangents",
       [](v1::Rig& r) {
         *Mesh0(r).mutable_tangents() = FloatArray({0, 1, 0, 1}, 4);
       }},
      {"rig.meshes[0].weld",
       [](v1::Rig& r) {
         *Mesh0(r).mutable_weld() = IntArray({0, 1, 2});
       }},
      {"rig.joints",
       [](v1::Rig& r) {
         Mesh0(r).clear_skin();
         r.clear_joints();
         r.clear_rest_local();
       }},
      {"rig.meshes[0].skin.joints", [](v1::Rig& r) { Skin0(r).clear_joints(); }},
      {"rig.meshes[0].skin.joints[0]", [](v1::Rig& r) { Skin0(r).set_joints(0, 3); }},
      {"rig.meshes[0].skin.inverse_bind", [](v1::Rig& r) { Skin0(r).add_joints(0); }},
      {"rig.meshes[0].skin.inverse_bind",
       [nan](v1::Rig& r) {
         *Skin0(r).mutable_inverse_bind() = FloatArray(std::vector<float>(36, nan), 12);
       }},
      {"rig.meshes[0].skin.influence_counts",
       [](v1::Rig& r) { *Skin0(r).mutable_influence_counts() = IntArray({1}); }},
      {"rig.meshes[0].skin.influence_joints",
       [](v1::Rig& r) {
         *Skin0(r).mutable_influence_joints() = IntArray(std::vector<std::uint32_t>(144, 3));
       }},
      {"rig.meshes[0].skin.influence_weights",
       [](v1::Rig& r) { *Skin0(r).mutable_influence_weights() = FloatArray({1}, 1); }},
      {"rig.meshes.skin.influence_weights",
       [](v1::Rig& r) {
         *Skin0(r).mutable_influence_weights() = FloatArray(std::vector<float>(144, 0.6f), 1);
       }},
      {"rig.meshes[0].skin.fallback_joint", [](v1::Rig& r) { Skin0(r).set_fallback_joint(3); }},
      {"rig.meshes[0].shapes[0].control",
       [](v1::Rig& r) { Mesh0(r).add_shapes()->set_control("unknown"); }},
      {"rig.meshes[0].maps[0].name", [](v1::Rig& r) { Mesh0(r).add_maps(); }},
  };
  for (const BadRig& bad : table) {
    v1::Rig rig = TubeRig();
    bad.spoil(rig);
    const auto converted = Convert(rig);
    ASSERT_FALSE(converted.ok()) << bad.field;
    EXPECT_EQ(converted.status().code(), absl::StatusCode::kInvalidArgument) << bad.field;
    EXPECT_EQ(FieldOf(converted.status()), bad.field) << converted.status();
  }
}

TEST(ConvertRig, KeepsMeshWithoutSkin) {
  v1::Rig rig = TubeRig();
  *rig.add_meshes() = rig.meshes(0);
  rig.mutable_meshes(1)->clear_skin();
  const auto converted = Convert(rig);
  ASSERT_TRUE(converted.ok()) << converted.status();
  EXPECT_TRUE(converted->summary.without_weights());
  EXPECT_EQ(converted->summary.vertices(), 144u);
  EXPECT_FLOAT_EQ(converted->summary.bounds().maximum(1), 2) << "as uploaded";
  EXPECT_FALSE(Convert(TubeRig())->summary.without_weights());
}

TEST(ConvertRig, ErrorStatesFoundAndAllowedValue) {
  v1::Rig rig = TubeRig();
  rig.mutable_meshes(0)->mutable_positions()->set_columns(2);
  rig.mutable_meshes(0)->mutable_positions()->set_rows(7);
  EXPECT_EQ(Convert(rig).status().message(),
            "rig.meshes[0].positions: got 7 rows of 2 columns, need rows of 3");
}

TEST(ConvertRig, RejectsNonFinitePosition) {
  v1::Rig rig = TubeRig();
  std::vector<float> positions = testing::FloatsOf(rig.meshes(0).positions().data());
  positions[5] = std::numeric_limits<float>::infinity();
  *rig.mutable_meshes(0)->mutable_positions() = FloatArray(positions, 3);
  EXPECT_EQ(Convert(rig).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(ConvertRig, TangentsAreKept) {
  const auto plain = Convert(TubeRig());
  v1::Rig rig = TubeRig({.tangents = true});
  const auto with = Convert(rig);
  ASSERT_TRUE(with.ok()) << with.status();
  EXPECT_TRUE(plain->rig->mesh().tangents().empty());
  ASSERT_EQ(with->rig->mesh().tangents().size(), 72u);
  EXPECT_EQ(with->rig->mesh().tangents()[71], (Vec4f{0, 1, 0, -1}));
  EXPECT_NE(with->rig->digest(), plain->rig->digest());
  // A mesh without tangents beside one with them.
  *rig.add_meshes() = TubeRig().meshes(0);
  const auto half = Convert(rig);
  ASSERT_TRUE(half.ok()) << half.status();
  ASSERT_EQ(half->rig->mesh().tangents().size(), 144u);
  EXPECT_EQ(half->rig->mesh().tangents()[71], (Vec4f{0, 1, 0, -1}));
  EXPECT_EQ(half->rig->mesh().tangents()[72], Vec4f{});
  *rig.mutable_meshes(0)->mutable_tangents() = FloatArray(std::vector<float>(72 * 4, 0.5f), 4);
  const absl::Status refused = Convert(rig).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(refused.message().find("tangents: vertex 0"), std::string::npos) << refused;
}

TEST(ConvertRig, WeldIsOnAllMeshesOrNone) {
  v1::Rig rig = TubeRig({.rings = 2, .segments = 3});
  *rig.add_meshes() = rig.meshes(0);
  *rig.mutable_meshes(0)->mutable_weld() = IntArray({0, 1, 2, 3, 4, 5});
  EXPECT_EQ(FieldOf(Convert(rig).status()), "rig.meshes.weld");
}

TEST(ConvertRig, LimitsAreExact) {
  const v1::Rig rig = TubeRig();
  RigConfig limits;
  limits.vertices = 72;
  limits.joints = 3;
  limits.meshes = 1;
  limits.controls = 1;
  EXPECT_TRUE(Convert(rig, limits).ok());
  const auto refused = [&](RigConfig changed, v1::Rig changed_rig) {
    return Convert(changed_rig, changed).status().code() == absl::StatusCode::kResourceExhausted;
  };
  RigConfig fewer = limits;
  fewer.vertices = 71;
  EXPECT_TRUE(refused(fewer, rig));
  fewer = limits;
  fewer.joints = 2;
  EXPECT_TRUE(refused(fewer, rig));
  v1::Rig more = rig;
  *more.add_meshes() = rig.meshes(0);
  fewer = limits;
  fewer.vertices = 1000;
  EXPECT_TRUE(refused(fewer, more));
  more = rig;
  more.add_controls()->set_name("a");
  EXPECT_TRUE(Convert(more, limits).ok());
  more.add_controls()->set_name("b");
  EXPECT_TRUE(refused(limits, more));
  fewer = limits;
  fewer.summary_bytes = Convert(rig, limits)->summary.ByteSizeLong();
  EXPECT_TRUE(Convert(rig, fewer).ok());
  --fewer.summary_bytes;
  EXPECT_TRUE(refused(fewer, rig));
}

TEST(ConvertRig, PerElementLimitsAreExact) {
  v1::Rig rig = TubeRig();
  rig.add_controls()->set_name("smile");
  for (const float weight : {0.5f, 1.0f}) {
    v1::Shape& shape = *rig.mutable_meshes(0)->add_shapes();
    shape.set_control("smile");
    v1::ShapeTarget& target = *shape.add_targets();
    target.set_weight(weight);
    *target.mutable_vertices() = IntArray({0});
    *target.mutable_offsets() = FloatArray({0, 1, 0}, 3);
  }
  struct Case {
    const char *field, *limit;
    std::uint64_t RigConfig::*member;
    std::uint64_t has;
  };
  for (const Case& c :
       {Case{"rig.meshes[0].skin.influence_counts", "max-vertex-influences", &RigConfig::influences,
             2},
        Case{"rig.meshes[0].face_sizes", "max-face-corners", &RigConfig::face_corners, 4},
        Case{"rig.joints[2].parent", "max-joint-depth", &RigConfig::joint_depth, 3},
        Case{"rig.meshes.shapes.targets", "max-rig-targets", &RigConfig::targets, 2}}) {
    RigConfig limits;
    limits.*c.member = c.has;
    EXPECT_TRUE(Convert(rig, limits).ok()) << c.limit;
    --(limits.*c.member);
    const absl::Status status = Convert(rig, limits).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << c.limit;
    EXPECT_EQ(ReasonOf(status), v1::REASON_LIMIT) << status;
    const std::string message(status.message());
    EXPECT_TRUE(message.starts_with(std::string(c.field) + ": got ")) << status;
    EXPECT_TRUE(message.ends_with("(" + std::string(c.limit) + ")")) << status;
  }
}

TEST(ConvertRig, LimitsMapsBeforeTheyGetValues) {
  v1::Rig rig = TubeRig();  // 72 vertices
  *rig.add_meshes() = rig.meshes(0);
  for (int m = 0; m < 2; ++m) {
    for (const char* name : {"a", "b"}) {
      v1::VertexMap& map = *rig.mutable_meshes(m)->add_maps();
      map.set_name(name);
      *map.mutable_values() = FloatArray(std::vector<float>(72, 0.5f), 1);
    }
  }
  RigConfig limits;
  limits.maps = 2;  // names, each on two meshes
  limits.map_values = 2 * 2 * 72;
  EXPECT_TRUE(Convert(rig, limits).ok());
  for (const auto& [limit, name] : {std::pair{&RigConfig::maps, "max-rig-maps"},
                                    {&RigConfig::map_values, "max-rig-map-values"}}) {
    RigConfig fewer = limits;
    --(fewer.*limit);
    const absl::Status status = Convert(rig, fewer).status();
    EXPECT_EQ(FieldOf(status), "rig.meshes.maps") << status;
    EXPECT_NE(status.message().find(name), std::string::npos) << status;
  }
}

TEST(ConvertRig, LimitsFieldsBeforeTheyAreParsed) {
  const v1::Rig rig = TubeRig();
  RigConfig limits;
  limits.fields = 0;
  while (!Convert(rig, limits).ok()) ++limits.fields;
  EXPECT_GT(limits.fields, 30u);  // three joints of two fields, seven arrays of four
  EXPECT_LT(limits.fields, 60u);
  --limits.fields;
  const absl::Status status = Convert(rig, limits).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(status.message().find("max-rig-fields"), std::string::npos) << status;
}

// What a hostile rig may demand of every frame; limits are the defaults unless the row changes
// them.
TEST(ConvertRig, DefaultsLimitVertexFaceAndChain) {
  const auto code = [](const v1::Rig& rig) { return Convert(rig).status().code(); };
  const auto ring = [](std::uint32_t corners) {
    v1::Rig rig = TubeRig();
    std::vector<std::uint32_t> face(corners);
    for (std::uint32_t c = 0; c < corners; ++c) face[c] = c % 72;
    *rig.mutable_meshes(0)->mutable_face_vertices() = IntArray(face);
    *rig.mutable_meshes(0)->mutable_face_sizes() = IntArray({corners});
    return rig;
  };
  EXPECT_EQ(code(ring(1024)), absl::StatusCode::kOk);
  EXPECT_EQ(code(ring(1025)), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(code(TubeRig({.joints = 1024})), absl::StatusCode::kOk);
  EXPECT_EQ(code(TubeRig({.joints = 1025})), absl::StatusCode::kResourceExhausted);
  const auto spread = [](std::uint32_t influences) {
    v1::Rig rig = TubeRig({.rings = 2, .segments = 3, .joints = 300});
    std::vector<std::uint32_t> counts(6, influences), joints;
    for (std::uint32_t k = 0; k < 6 * influences; ++k) joints.push_back(k % influences);
    v1::Skin& skin = *rig.mutable_meshes(0)->mutable_skin();
    *skin.mutable_influence_counts() = IntArray(counts);
    *skin.mutable_influence_joints() = IntArray(joints);
    *skin.mutable_influence_weights() =
        FloatArray(std::vector<float>(joints.size(), 1 / static_cast<float>(influences)), 1);
    return rig;
  };
  EXPECT_EQ(code(spread(255)), absl::StatusCode::kOk);
  EXPECT_EQ(code(spread(256)), absl::StatusCode::kResourceExhausted);
}

TEST(ConvertRig, RejectsOverflowingRowCount) {
  v1::Rig rig = TubeRig();
  rig.mutable_meshes(0)->mutable_positions()->set_rows(std::uint64_t{1} << 62);
  EXPECT_EQ(Convert(rig).status().code(), absl::StatusCode::kResourceExhausted);
  v1::Rig weights = TubeRig();
  weights.mutable_rest_local()->set_rows((std::uint64_t{1} << 62) + 3);
  EXPECT_EQ(Convert(weights).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(ConvertRig, RejectsTruncatedBytes) {
  const std::string bytes = TubeRig().SerializeAsString();
  for (std::size_t cut = 1; cut < bytes.size(); cut += 37) {
    EXPECT_FALSE(ConvertRig(bytes.substr(0, cut), {}).ok()) << cut;
  }
  EXPECT_FALSE(ConvertRig("", {}).ok());
  EXPECT_FALSE(ConvertRig("not a rig at all", {}).ok());
}

}  // namespace
}  // namespace sinew::server
