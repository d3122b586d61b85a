// Limits on what is in a rig: one exactly at the limit is stored, one beyond it is refused.
#include <gtest/gtest.h>

#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "server/convert/field_count.h"
#include "server/convert/rig.h"
#include "tests/integration/server/limit_refusal.h"

namespace sinew::testing {
namespace {

using grpc::StatusCode;
using server::RigConfig;

v1::Rig TubeWithControls(std::uint32_t count) {
  v1::Rig rig = TubeRig();
  for (std::uint32_t k = 0; k < count; ++k) {
    rig.add_controls()->set_name("control" + std::to_string(k));
  }
  return rig;
}

v1::Rig MeshesOfTube(std::uint32_t count) {
  v1::Rig rig = TubeRig();
  while (rig.meshes_size() < static_cast<int>(count)) *rig.add_meshes() = rig.meshes(0);
  return rig;
}

// Points without faces.
v1::Rig Points(std::uint32_t count) {
  v1::Rig rig = TubeRig({.joints = 1});
  v1::Mesh& mesh = *rig.mutable_meshes(0);
  mesh.clear_face_vertices();
  mesh.clear_face_sizes();
  std::vector<float> positions;
  for (std::uint32_t v = 0; v < count; ++v) Append(positions, {static_cast<float>(v), 0, 0});
  *mesh.mutable_positions() = FloatArray(positions, 3);
  v1::Skin& skin = *mesh.mutable_skin();
  *skin.mutable_influence_counts() = IntArray(std::vector<std::uint32_t>(count, 1));
  *skin.mutable_influence_joints() = IntArray(std::vector<std::uint32_t>(count, 0));
  *skin.mutable_influence_weights() = FloatArray(std::vector<float>(count, 1), 1);
  return rig;
}

v1::Rig OneMapOfPoints(std::uint32_t count) {
  v1::Rig rig = Points(count);
  v1::VertexMap& map = *rig.mutable_meshes(0)->add_maps();
  map.set_name("map");
  *map.mutable_values() = FloatArray(std::vector<float>(count, 0.5f), 1);
  return rig;
}

v1::Rig TubeWithMaps(std::uint32_t count) {
  v1::Rig rig = TubeRig();
  for (std::uint32_t k = 0; k < count; ++k) {
    v1::VertexMap& map = *rig.mutable_meshes(0)->add_maps();
    map.set_name("map" + std::to_string(k));
    *map.mutable_values() = FloatArray(std::vector<float>(72, 0.5f), 1);
  }
  return rig;
}

// Every vertex follows this many joints.
v1::Rig SpreadTube(std::uint32_t influences) {
  v1::Rig rig = TubeRig({.rings = 2, .segments = 3, .joints = 20});
  std::vector<std::uint32_t> joints;
  for (std::uint32_t k = 0; k < 6 * influences; ++k) joints.push_back(k % influences);
  v1::Skin& skin = *rig.mutable_meshes(0)->mutable_skin();
  *skin.mutable_influence_counts() = IntArray(std::vector<std::uint32_t>(6, influences));
  *skin.mutable_influence_joints() = IntArray(joints);
  *skin.mutable_influence_weights() =
      FloatArray(std::vector<float>(joints.size(), 1 / static_cast<float>(influences)), 1);
  return rig;
}

v1::Rig TubeWithOneFace(std::uint32_t corners) {
  v1::Rig rig = TubeRig();
  std::vector<std::uint32_t> face(corners);
  for (std::uint32_t c = 0; c < corners; ++c) face[c] = c;
  *rig.mutable_meshes(0)->mutable_face_vertices() = IntArray(face);
  *rig.mutable_meshes(0)->mutable_face_sizes() = IntArray({corners});
  return rig;
}

// Half of the targets in each of two shapes, because the limit is that of all shapes together.
v1::Rig TubeWithTargets(std::uint32_t count) {
  v1::Rig rig = TubeWithControls(2);
  for (std::uint32_t s = 0; s < 2; ++s) {
    v1::Shape& shape = *rig.mutable_meshes(0)->add_shapes();
    shape.set_control(rig.controls(static_cast<int>(s)).name());
    for (std::uint32_t k = s; k < count; k += 2) {
      v1::ShapeTarget& target = *shape.add_targets();
      target.set_weight(static_cast<float>(k + 1));
      *target.mutable_vertices() = IntArray({0});
      *target.mutable_offsets() = FloatArray({0, 1, 0}, 3);
    }
  }
  return rig;
}

template <class Point>
void Place(Point& point, std::uint32_t joint, float y) {
  point.set_joint(joint);
  for (const float value : {0.1f, y, 0.0f}) point.add_at(value);
}

v1::Rig TubeWithMuscles(std::uint32_t count, std::uint32_t vias) {
  v1::Rig rig = TubeRig();
  for (std::uint32_t k = 0; k < count; ++k) {
    v1::Muscle& muscle = *rig.add_muscles();
    muscle.set_name("muscle" + std::to_string(k));
    Place(*muscle.mutable_origin(), 0, 0.1f);
    for (std::uint32_t v = 0; v < vias; ++v) {
      Place(*muscle.add_via(), 0, 0.2f + 0.02f * static_cast<float>(v));
    }
    Place(*muscle.mutable_insertion(), 1, 0.9f);
    muscle.set_width(0.03f);
    muscle.set_depth(0.03f);
  }
  return rig;
}

v1::Rig TubeOfBytes(std::size_t bytes) {
  v1::Rig rig = TubeRig();
  rig.set_label("x");
  rig.set_label(std::string(1 + bytes - rig.ByteSizeLong(), 'x'));
  EXPECT_EQ(rig.ByteSizeLong(), bytes);
  return rig;
}

std::uint64_t FieldsIn(const v1::Rig& rig) {
  const std::string bytes = rig.SerializeAsString();
  google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  return server::CountFields(*v1::Rig::descriptor(), stream, 1'000'000);
}

struct RigLimit {
  std::string name;
  std::uint64_t RigConfig::*member;
  std::uint64_t value;
  v1::Rig at, beyond;  // exactly at the limit, and one more
};

RigLimit Counted(const std::string& name, std::uint64_t RigConfig::*member, std::uint32_t value,
                 const std::function<v1::Rig(std::uint32_t)>& rig_with) {
  return {name, member, value, rig_with(value), rig_with(value + 1)};
}

class RigLimits : public RefusalTest {
 protected:
  void ExpectExact(const RigLimit& limit) {
    SCOPED_TRACE(limit.name);
    config.rigs = {};
    config.rigs.*limit.member = limit.value;
    Start();
    EXPECT_EQ(Listed(limit.name), limit.value);
    EXPECT_CODE(stubs().Upload(limit.at.SerializeAsString()), StatusCode::OK);
    const grpc::Status beyond = stubs().Upload(limit.beyond.SerializeAsString());
    EXPECT_EQ(RefusalOf(beyond), Refused(limit.name)) << beyond.error_message();
    EXPECT_NE(FieldOf(beyond), "");
    EXPECT_EQ(stubs().Stats().rigs(), 1u);
  }
};

TEST_F(RigLimits, CountsOfRigAreExact) {
  const auto tube = [](std::uint32_t joints) { return TubeRig({.joints = joints}); };
  for (const RigLimit& limit :
       {Counted("max-rig-vertices", &RigConfig::vertices, 50, Points),
        Counted("max-rig-joints", &RigConfig::joints, 7, tube),
        Counted("max-joint-depth", &RigConfig::joint_depth, 7, tube),
        Counted("max-rig-meshes", &RigConfig::meshes, 3, MeshesOfTube),
        Counted("max-rig-controls", &RigConfig::controls, 5, TubeWithControls),
        Counted("max-vertex-influences", &RigConfig::influences, 9, SpreadTube),
        Counted("max-face-corners", &RigConfig::face_corners, 6, TubeWithOneFace),
        Counted("max-rig-targets", &RigConfig::targets, 6, TubeWithTargets),
        Counted("max-rig-maps", &RigConfig::maps, 4, TubeWithMaps),
        Counted("max-rig-map-values", &RigConfig::map_values, 40, OneMapOfPoints),
        Counted("max-rig-muscles", &RigConfig::muscles, 3,
                [](std::uint32_t count) { return TubeWithMuscles(count, 1); }),
        Counted("max-muscle-vias", &RigConfig::muscle_vias, 4,
                [](std::uint32_t vias) { return TubeWithMuscles(2, vias); })}) {
    ExpectExact(limit);
  }
}

// The limit is that of all meshes together.
TEST_F(RigLimits, VerticesOfAllMeshesCount) {
  ExpectExact({"max-rig-vertices", &RigConfig::vertices, 144, MeshesOfTube(2), [] {
                 v1::Rig more = MeshesOfTube(2);
                 *more.mutable_meshes(1) = Points(73).meshes(0);
                 return more;
               }()});
}

TEST_F(RigLimits, MapsOrMusclesMayBeForbidden) {
  ExpectExact(Counted("max-rig-maps", &RigConfig::maps, 0, TubeWithMaps));
  ExpectExact(Counted("max-rig-map-values", &RigConfig::map_values, 0, [](std::uint32_t maps) {
    return maps == 0 ? Points(1) : OneMapOfPoints(1);
  }));
  ExpectExact(Counted("max-rig-muscles", &RigConfig::muscles, 0,
                      [](std::uint32_t count) { return TubeWithMuscles(count, 0); }));
  ExpectExact(Counted("max-muscle-vias", &RigConfig::muscle_vias, 0,
                      [](std::uint32_t vias) { return TubeWithMuscles(1, vias); }));
}

TEST_F(RigLimits, BytesOfRigAreExact) {
  const std::uint64_t bytes = TubeRig().ByteSizeLong() + 20;
  ExpectExact(
      {"max-rig-bytes", &RigConfig::bytes, bytes, TubeOfBytes(bytes), TubeOfBytes(bytes + 1)});
}

TEST_F(RigLimits, FieldsOfRigAreExact) {
  v1::Rig rig = TubeWithControls(500), more = rig;
  rig.clear_label();
  const std::uint64_t fields = FieldsIn(rig);
  ASSERT_GE(fields, 1000u) << "the lowest limit";
  ASSERT_EQ(FieldsIn(more), fields + 1);
  ExpectExact({"max-rig-fields", &RigConfig::fields, fields, rig, more});
}

TEST_F(RigLimits, SummaryIsExact) {
  const v1::Rig rig = TubeRig({.joints = 100});
  const auto converted = server::ConvertRig(rig.SerializeAsString(), {});
  ASSERT_TRUE(converted.ok()) << converted.status();
  v1::Rig more = rig;
  more.mutable_joints(0)->mutable_name()->append("x");
  ExpectExact({"max-summary-bytes", &RigConfig::summary_bytes, converted->summary.ByteSizeLong(),
               rig, more});
}

// The only limit on rigs that is not a refusal: what needs all of it, or more, is parsed alone.
TEST_F(RigLimits, RigBeyondParsingMemoryIsParsedAlone) {
  const TubeShape shape{.rings = 300, .segments = 100};
  config.rigs.parsing_bytes = 1 << 20;
  ASSERT_GT(server::ParsingBytes(TubeRig(shape).SerializeAsString(), {}).value(),
            config.rigs.parsing_bytes);
  Start();
  EXPECT_EQ(Listed("max-parsing-bytes"), config.rigs.parsing_bytes);
  EXPECT_NE(stubs().UploadTube(shape), "");
  EXPECT_NE(stubs().UploadTube(), "");
}

TEST_F(RigLimits, RequestForWeightsKeepsToLimitsOfRigs) {
  config.rigs.joints = 3;
  config.rigs.influences = 2;
  Start();
  v1::Rig bare = TubeRig();
  bare.mutable_meshes(0)->clear_skin();
  v1::ComputeWeightsRequest request;
  std::string name;
  ASSERT_CODE(stubs().Upload(bare.SerializeAsString(), &name), StatusCode::OK);
  request.set_rig(name);
  request.set_method(v1::WEIGHT_METHOD_CAPSULE);
  const auto run = [&] {
    grpc::ClientContext context;
    return ReadToEnd(*stubs().rigs->ComputeWeights(&context, request));
  };
  request.set_max_influences(2);
  for (const char* joint : {"joint0", "joint1", "joint2"}) request.add_joints(joint);
  EXPECT_CODE(run(), StatusCode::OK);
  request.set_max_influences(3);
  EXPECT_REFUSAL(run(), Refused("max-vertex-influences"));
  request.set_max_influences(2);
  request.add_joints("joint0");
  EXPECT_REFUSAL(run(), Refused("max-rig-joints"));
}

}  // namespace
}  // namespace sinew::testing
