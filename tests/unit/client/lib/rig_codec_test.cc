#include "client/lib/codec/rig_codec.h"

#include <gtest/gtest.h>

#include <functional>

#include "sinew/client.h"
#include "tests/unit/client/lib/sample_rig.h"

namespace sinew::client {
namespace {

TEST(RigCodec, RoundTripsEveryField) {
  const RigData rig = SampleRig();
  const auto bytes = EncodeRig(rig);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  const auto back = DecodeRig(*bytes);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(*EncodeRig(*back), *bytes);
  EXPECT_EQ(back->label, rig.label);
  EXPECT_EQ(back->meters_per_unit, 0.01);
  EXPECT_EQ(back->up_axis, UpAxis::kZ);
  ASSERT_EQ(back->joints.size(), 3u);
  EXPECT_EQ(back->joints[0].parent, -1);
  EXPECT_EQ(back->joints[0].source_path, "/root");
  EXPECT_TRUE(back->joints[1].compensates_scale);
  EXPECT_TRUE(back->joints[2].helper);
  EXPECT_EQ(back->rest_local, rig.rest_local);
  ASSERT_EQ(back->meshes.size(), 2u);
  const Mesh &a = rig.meshes[0], &b = back->meshes[0];
  EXPECT_EQ(b.positions, a.positions);
  EXPECT_EQ(b.face_sizes, a.face_sizes);
  EXPECT_EQ(b.face_vertices, a.face_vertices);
  EXPECT_EQ(b.weld, a.weld);
  EXPECT_EQ(b.normals, a.normals);
  EXPECT_EQ(b.tangents, a.tangents);
  EXPECT_EQ(b.skin.geometry_bind, a.skin.geometry_bind);
  EXPECT_EQ(b.skin.influence_counts, a.skin.influence_counts);
  EXPECT_EQ(b.skin.influence_joints, a.skin.influence_joints);
  EXPECT_EQ(b.skin.influence_weights, a.skin.influence_weights);
  EXPECT_EQ(b.skin.fallback_joint, 1u);
  EXPECT_EQ(b.skin.coefficients.columns, 4u);
  EXPECT_EQ(b.skin.coefficients.counts, a.skin.coefficients.counts);
  EXPECT_EQ(b.skin.coefficients.joints, a.skin.coefficients.joints);
  EXPECT_EQ(b.skin.coefficients.values, a.skin.coefficients.values);
  EXPECT_TRUE(back->meshes[1].skin.coefficients.empty());
  ASSERT_EQ(b.shapes.size(), 1u);
  ASSERT_EQ(b.shapes[0].targets.size(), 2u);
  EXPECT_EQ(b.shapes[0].targets[0].vertices, a.shapes[0].targets[0].vertices);
  EXPECT_EQ(b.shapes[0].targets[1].normal_offsets, a.shapes[0].targets[1].normal_offsets);
  EXPECT_EQ(b.maps[0].values, a.maps[0].values);
  EXPECT_EQ(back->controls[0].maximum, 2.f);
  EXPECT_FALSE(back->controls[1].minimum);
}

TEST(RigCodec, EqualRigsGiveEqualBytesAndName) {
  const std::string bytes = *EncodeRig(SampleRig());
  EXPECT_EQ(bytes, *EncodeRig(SampleRig()));
  EXPECT_EQ(RigName("abc"),
            "rigs/sha256-ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(RigCodec, UsesSmallestIndexType) {
  RigData rig = SampleRig();
  v1::Rig message = ToMessage(rig);
  EXPECT_EQ(message.meshes(0).face_vertices().type(), v1::ARRAY_TYPE_UINT16);
  EXPECT_EQ(message.meshes(0).skin().influence_joints().type(), v1::ARRAY_TYPE_UINT8);
  EXPECT_FALSE(message.meshes(1).has_face_sizes());
  EXPECT_FALSE(message.meshes(1).skin().has_geometry_bind());
  rig.meshes[0].skin.influence_joints[0] = 256;
  EXPECT_EQ(ToMessage(rig).meshes(0).skin().influence_joints().type(), v1::ARRAY_TYPE_UINT16);
  rig.meshes[0].face_vertices[0] = 65536;
  const v1::Rig wide = ToMessage(rig);
  EXPECT_EQ(wide.meshes(0).face_vertices().type(), v1::ARRAY_TYPE_UINT32);
  EXPECT_EQ(FromMessage(wide)->meshes[0].face_vertices[0], 65536u);
}

TEST(EncodeRig, RejectsMismatchedShapes) {
  const std::pair<const char*, std::function<void(RigData&)>> cases[] = {
      {"rig.joints[1].parent", [](RigData& r) { r.joints[1].parent = 1; }},
      {"rig.joints[0].parent", [](RigData& r) { r.joints[0].parent = -2; }},
      {"rig.rest_local", [](RigData& r) { r.rest_local.pop_back(); }},
      {"rig.meshes[0].skin.coefficients.columns",
       [](RigData& r) { r.meshes[0].skin.coefficients.columns = 5; }},
      {"rig.meshes[0].skin.coefficients.counts",
       [](RigData& r) { r.meshes[0].skin.coefficients.counts.push_back(0); }},
      {"rig.meshes[0].skin.coefficients.joints",
       [](RigData& r) { r.meshes[0].skin.coefficients.joints.pop_back(); }},
      {"rig.meshes[0].skin.coefficients.values",
       [](RigData& r) { r.meshes[0].skin.coefficients.values.pop_back(); }},
      {"rig.meshes[0].positions", [](RigData& r) { r.meshes[0].positions.push_back(1); }},
      {"rig.meshes[0].face_vertices", [](RigData& r) { r.meshes[0].face_vertices.pop_back(); }},
      {"rig.meshes[1].face_vertices", [](RigData& r) { r.meshes[1].face_vertices.pop_back(); }},
      {"rig.meshes[0].weld", [](RigData& r) { r.meshes[0].weld.pop_back(); }},
      {"rig.meshes[0].normals", [](RigData& r) { r.meshes[0].normals.pop_back(); }},
      {"rig.meshes[0].tangents", [](RigData& r) { r.meshes[0].tangents.pop_back(); }},
      {"rig.meshes[0].skin.inverse_bind",
       [](RigData& r) { r.meshes[0].skin.inverse_bind.pop_back(); }},
      {"rig.meshes[0].skin.influence_counts",
       [](RigData& r) { r.meshes[0].skin.influence_counts.pop_back(); }},
      {"rig.meshes[0].skin.influence_joints",
       [](RigData& r) { r.meshes[0].skin.influence_counts[0] = 9; }},
      {"rig.meshes[0].skin.influence_weights",
       [](RigData& r) { r.meshes[0].skin.influence_weights.pop_back(); }},
      {"rig.meshes[0].shapes[0].targets[0].offsets",
       [](RigData& r) { r.meshes[0].shapes[0].targets[0].offsets.pop_back(); }},
      {"rig.meshes[0].shapes[0].targets[1].normal_offsets",
       [](RigData& r) { r.meshes[0].shapes[0].targets[1].normal_offsets.pop_back(); }},
      {"rig.meshes[0].maps[0].values", [](RigData& r) { r.meshes[0].maps[0].values.clear(); }},
  };
  for (const auto& [field, spoil] : cases) {
    RigData rig = SampleRig();
    spoil(rig);
    const absl::Status status = EncodeRig(rig).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << field;
    EXPECT_EQ(std::string(status.message()).rfind(std::string(field) + ":", 0), 0u)
        << field << " but " << status;
  }
}

TEST(DecodeRig, TruncationsAreRejectedOrWholeRigs) {
  const std::string bytes = *EncodeRig(SampleRig());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto rig = DecodeRig(std::string_view(bytes).substr(0, size));
    EXPECT_TRUE(!rig.ok() || EncodeRig(*rig).ok()) << size;
  }
}

TEST(DecodeRig, RejectsArraysWithWrongCounts) {
  const std::pair<const char*, std::function<void(v1::Rig&)>> cases[] = {
      {"type", [](v1::Rig& r) { r.mutable_rest_local()->set_type(v1::ARRAY_TYPE_UINT32); }},
      {"unset", [](v1::Rig& r) { r.mutable_rest_local()->clear_type(); }},
      {"future type",
       [](v1::Rig& r) { r.mutable_rest_local()->set_type(static_cast<v1::ArrayType>(77)); }},
      {"columns", [](v1::Rig& r) { r.mutable_rest_local()->set_columns(0); }},
      {"rows", [](v1::Rig& r) { r.mutable_rest_local()->set_rows(~0ull); }},
      {"data", [](v1::Rig& r) { r.mutable_rest_local()->mutable_data()->pop_back(); }},
      {"index type",
       [](v1::Rig& r) {
         r.mutable_meshes(0)->mutable_face_vertices()->set_type(v1::ARRAY_TYPE_FLOAT32);
       }},
      {"parent", [](v1::Rig& r) { r.mutable_joints(0)->set_parent(0); }},
      {"geometry_bind",
       [](v1::Rig& r) {
         auto* bind = r.mutable_meshes(0)->mutable_skin()->mutable_geometry_bind();
         bind->set_rows(2);
         bind->mutable_data()->append(bind->data());
       }},
  };
  for (const auto& [name, spoil] : cases) {
    v1::Rig rig = ToMessage(SampleRig());
    spoil(rig);
    EXPECT_TRUE(absl::IsInvalidArgument(DecodeRig(rig.SerializeAsString()).status())) << name;
  }
}

TEST(DecodeRig, RejectsUnsupportedFields) {
  v1::Rig rig = ToMessage(SampleRig());
  const std::string bytes = rig.SerializeAsString();
  EXPECT_TRUE(absl::IsUnimplemented(DecodeRig(bytes + "\xa0\x06\x01").status()));
  rig.mutable_meshes(1)
      ->mutable_skin()
      ->GetReflection()
      ->MutableUnknownFields(rig.mutable_meshes(1)->mutable_skin())
      ->AddVarint(99, 1);
  const absl::Status status = DecodeRig(rig.SerializeAsString()).status();
  EXPECT_TRUE(absl::IsUnimplemented(status));
  EXPECT_EQ(std::string(status.message()).rfind("rig.meshes[1].skin.99:", 0), 0u) << status;
  EXPECT_TRUE(absl::IsInvalidArgument(DecodeRig("not a rig at all").status()));
}

TEST(RigCodec, AcceptsMeshWithoutSkin) {
  RigData rig = SampleRig();
  rig.meshes[1].skin = {};
  const auto bytes = EncodeRig(rig);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  v1::Rig message;
  ASSERT_TRUE(message.ParseFromString(*bytes));
  EXPECT_TRUE(message.meshes(0).has_skin());
  EXPECT_FALSE(message.meshes(1).has_skin());
  const auto back = DecodeRig(*bytes);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_FALSE(back->meshes[0].skin.empty());
  EXPECT_TRUE(back->meshes[1].skin.empty());
  EXPECT_EQ(*EncodeRig(*back), *bytes);
}

}  // namespace
}  // namespace sinew::client
