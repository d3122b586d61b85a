#include "server/convert/field_count.h"

#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <gtest/gtest.h>

#include <string>

#include "sinew/v1/deform_service.pb.h"
#include "sinew/v1/rig.pb.h"

namespace sinew::server {
namespace {

constexpr std::uint64_t kMost = 1'000'000;

template <class Message>
std::uint64_t Count(const std::string& bytes, std::uint64_t most = kMost) {
  // Small blocks, as a message arrives in.
  google::protobuf::io::ArrayInputStream in(bytes.data(), static_cast<int>(bytes.size()), 7);
  return CountFields(*Message::descriptor(), in, most);
}

TEST(FieldCount, CountsFieldsAtEveryLevel) {
  v1::DeformClipRequest request;
  request.mutable_target()->mutable_source()->set_rig("rig");  // 3
  for (std::uint64_t frame = 1; frame <= 10; ++frame) {        // 1, then 4 a pose
    v1::Pose& pose = *request.mutable_poses()->add_poses();
    pose.set_frame(frame);
    pose.set_time(0.5);
    pose.set_joint_transforms(std::string(1000, 'x'));
  }
  EXPECT_EQ(Count<v1::DeformClipRequest>(request.SerializeAsString()), 3 + 1 + 10 * 4u);
  EXPECT_EQ(Count<v1::DeformClipRequest>(""), 0u);
}

TEST(FieldCount, StopsSoonAfterTheMost) {
  v1::DeformClipRequest request;
  for (int i = 0; i < 1000; ++i) request.mutable_poses()->add_poses();
  EXPECT_EQ(Count<v1::DeformClipRequest>(request.SerializeAsString(), 1001), 1001u);
  EXPECT_EQ(Count<v1::DeformClipRequest>(request.SerializeAsString(), 100), 101u);
}

TEST(FieldCount, SixteenPackedBytesAreOne) {
  v1::OutputOptions options;
  for (int i = 0; i < 1600; ++i) options.add_attributes(v1::ATTRIBUTE_POSITIONS);
  EXPECT_EQ(Count<v1::OutputOptions>(options.SerializeAsString()), 101u);
  // A list that promises two megabytes and has 32 bytes.
  const std::string promise("\x0a\xff\xff\x7f", 4);
  EXPECT_EQ(Count<v1::OutputOptions>(promise + std::string(32, 1)), 1 + 2u);
}

TEST(FieldCount, CountsUnknownFieldsAndGroups) {
  v1::Pose pose;
  auto& unknown = *pose.GetReflection()->MutableUnknownFields(&pose);
  for (int i = 0; i < 10; ++i) unknown.AddVarint(99, 1);
  // Within a group the number of a known field means nothing.
  auto& group = *unknown.AddGroup(98);
  for (int i = 0; i < 10; ++i) group.AddLengthDelimited(1, "\xff\xff");
  unknown.AddFixed64(97, 1);
  EXPECT_EQ(Count<v1::Pose>(pose.SerializeAsString()), 10 + 2 + 10 + 1u);
  v1::DeformRequest request;
  *request.mutable_pose() = pose;
  EXPECT_EQ(Count<v1::DeformRequest>(request.SerializeAsString()), 1 + 10 + 2 + 10 + 1u);
}

TEST(FieldCount, ContinuesAfterWhatIsNoMessage) {
  v1::DeformClipRequest request;
  request.mutable_poses()->add_poses();
  const std::string bytes = std::string("\x0a\x03\xff\xff\xff", 5) + request.SerializeAsString();
  EXPECT_EQ(Count<v1::DeformClipRequest>(bytes), 3u);
  EXPECT_EQ(Count<v1::DeformClipRequest>("\x0a\x7f"), 1u);
}

}  // namespace
}  // namespace sinew::server
