// Tangents through every call that deforms.
#include <gtest/gtest.h>

#include "tests/integration/server/channels.h"
#include "tests/integration/server/server_fixture.h"

namespace sinew::testing {
namespace {

using grpc::StatusCode;

class TangentsTest : public ServerTest {
 protected:
  static void AskForTangents(v1::OutputOptions& output, bool normals) {
    output.add_attributes(v1::ATTRIBUTE_POSITIONS);
    if (normals) output.add_attributes(v1::ATTRIBUTE_NORMALS);
    output.add_attributes(v1::ATTRIBUTE_TANGENTS);
  }
  v1::DeformRequest RequestFor(const std::string& rig, const TubeShape& shape, bool normals) {
    v1::DeformRequest request;
    request.mutable_target()->mutable_source()->set_rig(rig);
    request.mutable_target()->mutable_source()->set_recipe_text("dqs");
    *request.mutable_pose() = TubePose(3, 0.7f, shape);
    AskForTangents(*request.mutable_output(), normals);
    return request;
  }
};

std::string TangentsOf(const v1::Frame& frame, bool whole = true) {
  return ChannelOf(frame, v1::ATTRIBUTE_TANGENTS, v1::ENCODING_FLOAT32, whole);
}

TEST_F(TangentsTest, SendsTangentsWithAndWithoutNormals) {
  Start();
  const TubeShape shape{.tangents = true};
  const std::string rig = stubs().UploadTube(shape);
  v1::DeformRequest request = RequestFor(rig, shape, false);
  *request.mutable_pose() = TubePose(1);
  v1::DeformResponse response;
  EXPECT_CODE(stubs().Deform(request, response), StatusCode::OK);
  EXPECT_TRUE(response.frame().normals().empty());
  const std::string alone = TangentsOf(response.frame());
  const std::vector<float> tangents = FloatsOf(alone);
  ASSERT_EQ(tangents.size(), 72u * 4);
  for (std::size_t v = 0; v < 72; ++v) {
    EXPECT_NEAR(tangents[v * 4], 0, 1e-5);
    EXPECT_NEAR(tangents[v * 4 + 1], 1, 1e-5);
    EXPECT_NEAR(tangents[v * 4 + 2], 0, 1e-5);
    EXPECT_EQ(tangents[v * 4 + 3], -1);
  }
  request.mutable_output()->add_attributes(v1::ATTRIBUTE_NORMALS);
  EXPECT_CODE(stubs().Deform(request, response), StatusCode::OK);
  EXPECT_EQ(response.frame().normals().size(), 72u * 12);
  EXPECT_SAME_BYTES(TangentsOf(response.frame()), alone);
}

TEST_F(TangentsTest, SplitStreamFramesHaveSameBits) {
  Start();
  const TubeShape shape{.rings = 600, .segments = 100, .tangents = true};
  const std::string rig = stubs().UploadTube(shape);
  v1::DeformRequest request = RequestFor(rig, shape, true);
  v1::DeformResponse whole;
  EXPECT_CODE(stubs().Deform(request, whole), StatusCode::OK);
  EXPECT_EQ(TangentsOf(whole.frame()).size(), shape.vertices() * 16u);
  for (const std::uint32_t chunk : {4096u, 0u, 8u << 20}) {
    v1::StreamOpen open = OpenRecipe(rig, "dqs");
    *open.mutable_output() = request.output();
    open.mutable_output()->set_chunk_bytes(chunk);
    Stream stream(stubs(), open);
    stream.Send(request.pose());
    const auto answers = stream.ReadUntil(3);
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_SAME_BYTES(answers[0].frame.positions(), whole.frame().positions());
    EXPECT_SAME_BYTES(answers[0].frame.normals(), whole.frame().normals());
    EXPECT_SAME_BYTES(TangentsOf(answers[0].frame, false), TangentsOf(whole.frame()));
  }
}

TEST_F(TangentsTest, ClipFramesAreSplit) {
  Start();
  const TubeShape shape{.rings = 60, .segments = 100, .tangents = true};
  ExpectClipInPieces(stubs(), RequestFor(stubs().UploadTube(shape), shape, false), 50'000,
                     [](const v1::Frame& frame) { return TangentsOf(frame); });
}

TEST_F(TangentsTest, RigWithoutTangentsIsRejected) {
  Start();
  v1::DeformResponse response;
  const grpc::Status refused =
      stubs().Deform(RequestFor(stubs().UploadTube(), {}, false), response);
  EXPECT_CODE(refused, StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(FieldOf(refused), "output.attributes");
  EXPECT_NE(refused.error_message().find("the rig has no tangents"), std::string::npos);
}

TEST_F(TangentsTest, ServerListsAttribute) {
  Start();
  ExpectNamedByTheServer(stubs(), v1::ATTRIBUTE_TANGENTS);
}

}  // namespace
}  // namespace sinew::testing
