// Vertex states and posed muscles through every call that deforms.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/integration/server/channels.h"
#include "tests/integration/server/server_fixture.h"

namespace sinew::testing {
namespace {

using grpc::StatusCode;

constexpr char kRecipe[] = "lbs | implicit";

class VertexStatusTest : public ServerTest {
 protected:
  v1::DeformRequest RequestFor(const std::string& rig, const TubeShape& shape,
                               const std::string& recipe_text = kRecipe) {
    v1::DeformRequest request;
    request.mutable_target()->mutable_source()->set_rig(rig);
    request.mutable_target()->mutable_source()->set_recipe_text(recipe_text);
    *request.mutable_pose() = TubePose(3, 0.7f, shape);
    request.mutable_output()->add_attributes(v1::ATTRIBUTE_POSITIONS);
    request.mutable_output()->add_attributes(v1::ATTRIBUTE_VERTEX_STATUS);
    return request;
  }
};

std::string VertexStatusOf(const v1::Frame& frame, bool whole = true) {
  return ChannelOf(frame, v1::ATTRIBUTE_VERTEX_STATUS, v1::ENCODING_UINT8, whole);
}

TEST_F(VertexStatusTest, ChannelHoldsOneStatusPerVertex) {
  Start();
  const TubeShape shape;
  v1::DeformResponse response;
  EXPECT_CODE(stubs().Deform(RequestFor(stubs().UploadTube(shape), shape), response),
              StatusCode::OK);
  const std::string vertex_status = VertexStatusOf(response.frame());
  ASSERT_EQ(vertex_status.size(), shape.vertices());
  EXPECT_TRUE(std::all_of(vertex_status.begin(), vertex_status.end(), [](char s) {
    return v1::VertexStatus_IsValid(static_cast<unsigned char>(s));
  }));
}

TEST_F(VertexStatusTest, SplitStreamFramesHaveSameBytes) {
  Start();
  const TubeShape shape{.rings = 60, .segments = 100};
  const std::string rig = stubs().UploadTube(shape);
  v1::DeformRequest request = RequestFor(rig, shape);
  request.mutable_output()->add_attributes(v1::ATTRIBUTE_NORMALS);
  v1::DeformResponse whole;
  EXPECT_CODE(stubs().Deform(request, whole), StatusCode::OK);
  for (const std::uint32_t chunk : {4096u, 0u}) {
    v1::StreamOpen open = OpenRecipe(rig, kRecipe);
    *open.mutable_output() = request.output();
    open.mutable_output()->set_chunk_bytes(chunk);
    Stream stream(stubs(), open);
    stream.Send(request.pose());
    const auto answers = stream.ReadUntil(3);
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_SAME_BYTES(answers[0].frame.positions(), whole.frame().positions());
    EXPECT_SAME_BYTES(VertexStatusOf(answers[0].frame, false), VertexStatusOf(whole.frame()));
  }
}

TEST_F(VertexStatusTest, ClipFramesAreSplit) {
  Start();
  const TubeShape shape{.rings = 60, .segments = 100};
  ExpectClipInPieces(stubs(), RequestFor(stubs().UploadTube(shape), shape), 20'000,
                     [](const v1::Frame& frame) { return VertexStatusOf(frame); });
}

TEST_F(VertexStatusTest, RecipeWithoutStatusIsRejected) {
  Start();
  v1::DeformResponse response;
  const grpc::Status refused =
      stubs().Deform(RequestFor(stubs().UploadTube(), {}, "dqs"), response);
  EXPECT_CODE(refused, StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(FieldOf(refused), "output.attributes");
  EXPECT_NE(refused.error_message().find("implicit"), std::string::npos) << refused.error_message();
}

TEST_F(VertexStatusTest, ServerListsAttribute) {
  Start();
  ExpectNamedByTheServer(stubs(), v1::ATTRIBUTE_VERTEX_STATUS);
}

// The tube moves by 0.7 along x, and so do its muscles.
TEST_F(VertexStatusTest, MusclesAreSentWithLastPiece) {
  Start();
  const TubeShape shape{.rings = 60, .segments = 100};
  v1::Rig rig = TubeRig(shape);
  for (const char* name : {"biceps", "triceps"}) {
    v1::Muscle& muscle = *rig.add_muscles();
    muscle.set_name(name);
    for (v1::MusclePoint* point : {muscle.mutable_origin(), muscle.mutable_insertion()}) {
      for (const float x : {0.1f, 0.05f, 0.0f}) point->add_at(x);
    }
    muscle.mutable_insertion()->set_joint(1);
    muscle.set_width(0.1f);
    muscle.set_depth(0.05f);
  }
  std::string name;
  EXPECT_CODE(stubs().Upload(rig.SerializeAsString(), &name), StatusCode::OK);
  v1::DeformRequest request = RequestFor(name, shape, "lbs");
  request.mutable_output()->clear_attributes();
  request.mutable_output()->set_muscles(true);
  v1::DeformResponse moved, still;
  EXPECT_CODE(stubs().Deform(request, moved), StatusCode::OK);
  *request.mutable_pose() = TubePose(3, 0, shape);
  EXPECT_CODE(stubs().Deform(request, still), StatusCode::OK);
  ASSERT_EQ(moved.frame().muscles_size(), 2);
  for (int m = 0; m < 2; ++m) {
    const v1::PosedMuscle& a = still.frame().muscles(m);
    const v1::PosedMuscle& b = moved.frame().muscles(m);
    ASSERT_EQ(b.frame_size(), 12);
    ASSERT_EQ(b.radii_size(), 3);
    for (int i = 0; i < 12; ++i) EXPECT_NEAR(b.frame(i), a.frame(i) + (i == 3 ? 0.7f : 0.0f), 1e-5);
    EXPECT_NEAR(b.radii(1), 0.1, 1e-5);
  }

  v1::StreamOpen open = OpenRecipe(name, "lbs");
  *open.mutable_output() = request.output();
  open.mutable_output()->set_chunk_bytes(4096);
  Stream stream(stubs(), open);
  stream.Send(request.pose());
  const auto answers = stream.ReadUntil(3);
  ASSERT_EQ(answers.size(), 1u);
  ASSERT_EQ(answers[0].frame.muscles_size(), 2);
  for (int m = 0; m < 2; ++m) {
    EXPECT_SAME_BYTES(answers[0].frame.muscles(m).SerializeAsString(),
                      still.frame().muscles(m).SerializeAsString());
  }
}

TEST_F(VertexStatusTest, RigWithoutMusclesIsRejected) {
  Start();
  v1::DeformRequest request = RequestFor(stubs().UploadTube(), {}, "dqs");
  request.mutable_output()->clear_attributes();
  request.mutable_output()->set_muscles(true);
  v1::DeformResponse response;
  const grpc::Status refused = stubs().Deform(request, response);
  EXPECT_CODE(refused, StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(FieldOf(refused), "output.muscles");
}

}  // namespace
}  // namespace sinew::testing
