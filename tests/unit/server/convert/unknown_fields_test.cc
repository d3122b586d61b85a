#include "server/convert/unknown_fields.h"

#include <gtest/gtest.h>

#include "server/base/status.h"
#include "sinew/v1/deform_service.pb.h"
#include "sinew/v1/rig.pb.h"

namespace sinew::server {
namespace {

void AddUnknown(google::protobuf::Message& message) {
  message.GetReflection()->MutableUnknownFields(&message)->AddVarint(99, 1);
}

TEST(UnknownFields, AcceptsKnownFields) {
  v1::Rig rig;
  rig.add_joints()->set_name("a");
  rig.add_meshes()->mutable_skin()->mutable_inverse_bind()->set_columns(12);
  EXPECT_TRUE(RefuseUnknownFields(rig, "rig").ok());
  EXPECT_FALSE(HasUnknownFields(rig));
}

TEST(UnknownFields, ReportsPath) {
  v1::Rig rig;
  rig.add_meshes();
  AddUnknown(*rig.add_meshes()->mutable_skin()->mutable_inverse_bind());
  const absl::Status status = RefuseUnknownFields(rig, "rig");
  EXPECT_EQ(FieldOf(status), "rig.meshes[1].skin.inverse_bind.99");
  EXPECT_EQ(ReasonOf(status), v1::REASON_UNKNOWN_FIELD);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
}

TEST(UnknownFields, ChecksEveryMessage) {
  v1::StreamOpen open;
  AddUnknown(
      *open.mutable_target()->mutable_source()->mutable_recipe()->add_stages()->mutable_dqs());
  EXPECT_EQ(FieldOf(RefuseUnknownFields(open, "open")),
            "open.target.source.recipe.stages[0].dqs.99");
  v1::DeformRequest request;
  AddUnknown(*request.mutable_pose());
  EXPECT_EQ(FieldOf(RefuseUnknownFields(request, "")), "pose.99");
  AddUnknown(request);
  EXPECT_EQ(FieldOf(RefuseUnknownFields(request, "")), "99");
  EXPECT_TRUE(HasUnknownFields(request));
}

}  // namespace
}  // namespace sinew::server
