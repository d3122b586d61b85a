#include "server/convert/pose.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "server/base/status.h"
#include "server/convert/rig.h"
#include "tests/support/test_rig.h"

namespace sinew::server {
namespace {

TEST(ConvertPose, LayoutsFollowRig) {
  const auto rig = ConvertRig(testing::TubeRig().SerializeAsString(), {})->rig;
  v1::PoseLayout layout;
  EXPECT_EQ(ToPoseFormat(layout, *rig)->joint_bytes(), 3u * 12 * 4);
  layout.set_joint_format(v1::JOINT_FORMAT_TRS);
  layout.add_joints("joint2");
  EXPECT_EQ(ToPoseFormat(layout, *rig)->joint_bytes(), 10u * 4);
  layout.add_joints("unknown");
  EXPECT_EQ(FieldOf(ToPoseFormat(layout, *rig).status()), "layout.joints[1]");
  layout.clear_joints();
  layout.set_space(static_cast<v1::Space>(5));
  EXPECT_EQ(FieldOf(ToPoseFormat(layout, *rig).status()), "layout.space");
  layout.set_space(v1::SPACE_LOCAL);
  layout.set_joint_format(static_cast<v1::JointFormat>(5));
  EXPECT_EQ(FieldOf(ToPoseFormat(layout, *rig).status()), "layout.joint_format");
}

TEST(ConvertOutput, RejectsUnimplementedOptions) {
  const std::vector<std::pair<const char*, std::function<void(v1::OutputOptions&)>>> table = {
      {"output.attributes[1]",
       [](v1::OutputOptions& o) {
         o.add_attributes(v1::ATTRIBUTE_POSITIONS);
         o.add_attributes(v1::ATTRIBUTE_UNSPECIFIED);
       }},
      {"output.attributes[0]",
       [](v1::OutputOptions& o) { o.add_attributes(static_cast<v1::Attribute>(42)); }},
      {"output.attributes", [](v1::OutputOptions& o) { o.add_attributes(v1::ATTRIBUTE_NORMALS); }},
      {"output.encodings", [](v1::OutputOptions& o) { o.add_encodings(v1::ENCODING_OCT8); }},
      {"output.normal_encodings",
       [](v1::OutputOptions& o) { o.add_normal_encodings(v1::ENCODING_Q16); }},
      {"output.normal_rule",
       [](v1::OutputOptions& o) { o.set_normal_rule(static_cast<v1::NormalRule>(3)); }},
      {"output.compressions",
       [](v1::OutputOptions& o) { o.add_compressions(static_cast<v1::Compression>(3)); }},
      {"output.chunk_bytes", [](v1::OutputOptions& o) { o.set_chunk_bytes(4095); }},
  };
  for (const auto& [field, ask] : table) {
    v1::OutputOptions options;
    ask(options);
    const auto output = ToOutput(options, {});
    EXPECT_EQ(output.status().code(), absl::StatusCode::kInvalidArgument) << field;
    EXPECT_EQ(FieldOf(output.status()), field);
  }
}

TEST(ConvertPose, NamesAreNoMoreThanTheRigHas) {
  v1::Rig source = testing::TubeRig();
  source.add_controls()->set_name("smile");
  const auto rig = ConvertRig(source.SerializeAsString(), {})->rig;
  v1::PoseLayout layout;
  for (const char* name : {"joint0", "joint1", "joint2"}) layout.add_joints(name);
  layout.add_controls("smile");
  EXPECT_TRUE(ToPoseFormat(layout, *rig).ok()) << ToPoseFormat(layout, *rig).status();
  layout.add_controls("smile");
  EXPECT_EQ(FieldOf(ToPoseFormat(layout, *rig).status()), "layout.controls");
  layout.add_joints("joint0");
  EXPECT_EQ(FieldOf(ToPoseFormat(layout, *rig).status()), "layout.joints");
}

TEST(ConvertOutput, ListsAreShort) {
  const std::vector<std::pair<const char*, std::function<void(v1::OutputOptions&)>>> lists = {
      {"output.attributes",
       [](v1::OutputOptions& o) { o.add_attributes(v1::ATTRIBUTE_POSITIONS); }},
      {"output.encodings", [](v1::OutputOptions& o) { o.add_encodings(v1::ENCODING_FLOAT32); }},
      {"output.normal_encodings",
       [](v1::OutputOptions& o) { o.add_normal_encodings(v1::ENCODING_FLOAT32); }},
      {"output.compressions",
       [](v1::OutputOptions& o) { o.add_compressions(v1::COMPRESSION_NONE); }},
  };
  for (const auto& [field, add] : lists) {
    v1::OutputOptions options;
    for (int i = 0; i < 64; ++i) add(options);
    EXPECT_TRUE(ToOutput(options, {}).ok()) << field;
    add(options);
    EXPECT_EQ(FieldOf(ToOutput(options, {}).status()), field);
  }
}

TEST(ConvertOutput, SelectsFirstSupportedEntry) {
  v1::OutputOptions options;
  options.add_encodings(static_cast<v1::Encoding>(99));
  options.add_encodings(v1::ENCODING_Q16);
  options.add_encodings(v1::ENCODING_FLOAT32);
  options.add_normal_encodings(v1::ENCODING_OCT16);
  options.add_normal_encodings(v1::ENCODING_OCT8);
  options.add_compressions(v1::COMPRESSION_UNSPECIFIED);
  options.add_compressions(v1::COMPRESSION_ZSTD);
  options.add_compressions(v1::COMPRESSION_ZSTD);
  options.add_compressions(v1::COMPRESSION_NONE);
  const auto output = ToOutput(options, {});
  ASSERT_TRUE(output.ok()) << output.status();
  EXPECT_TRUE(output->zstd);
  EXPECT_FALSE(ToOutput({}, {})->zstd);
  EXPECT_EQ(output->encoding, Encoding::kQ16);
  EXPECT_EQ(output->normal_encoding, Encoding::kOct16);
}

TEST(ConvertOutput, ChunksHoldWholeBlocks) {
  v1::OutputOptions options;
  EXPECT_EQ(ToOutput(options, {})->ChunkVertices(), 87376u);
  options.add_attributes(v1::ATTRIBUTE_POSITIONS);
  options.add_attributes(v1::ATTRIBUTE_NORMALS);
  EXPECT_EQ(ToOutput(options, {})->ChunkVertices(), 43680u);
  options.set_chunk_bytes(4096);
  EXPECT_EQ(ToOutput(options, {})->ChunkVertices(), 160u);
  options.add_attributes(v1::ATTRIBUTE_TANGENTS);
  EXPECT_EQ(ToOutput(options, {})->BytesPerVertex(), 40u);
  EXPECT_EQ(ToOutput(options, {})->ChunkVertices(), 96u);
  options.add_attributes(v1::ATTRIBUTE_VERTEX_STATUS);
  EXPECT_EQ(ToOutput(options, {})->BytesPerVertex(), 41u);
  EXPECT_TRUE(ToOutput(options, {})->vertex_status);
  EXPECT_FALSE(ToOutput(options, {})->muscles);
  options.set_muscles(true);
  EXPECT_EQ(ToOutput(options, {})->BytesPerVertex(), 41u);
  EXPECT_TRUE(ToOutput(options, {})->muscles);
  StreamConfig limits;
  limits.chunk_bytes = 8192;
  options.set_chunk_bytes(8192);
  EXPECT_TRUE(ToOutput(options, limits).ok());
  options.set_chunk_bytes(8193);
  EXPECT_EQ(ToOutput(options, limits).status().code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace sinew::server
