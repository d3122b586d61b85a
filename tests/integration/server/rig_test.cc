#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "tests/integration/server/http_get.h"
#include "tests/integration/server/server_fixture.h"
#include "tests/support/wait_until.h"

namespace sinew::testing {
namespace {

using grpc::StatusCode;

class RigTest : public ServerTest {
 protected:
  grpc::Status Query(const std::string& hex, std::uint64_t size, v1::UploadRigResponse& response) {
    grpc::ClientContext context;
    auto writer = stubs().rigs->UploadRig(&context, &response);
    v1::UploadRigRequest request;
    request.mutable_header()->set_sha256(hex);
    request.mutable_header()->set_size_bytes(size);
    writer->Write(request);
    writer->WritesDone();
    return writer->Finish();
  }
};

TEST_F(RigTest, StoresUploadsVerbatimUnderDigest) {
  Start();
  const std::string bytes = TubeRig().SerializeAsString();
  std::string name;
  EXPECT_CODE(stubs().Upload(bytes, &name, 100), StatusCode::OK);
  EXPECT_EQ(name, RigNameOf(bytes));

  grpc::ClientContext get_context;
  v1::GetRigRequest get;
  get.set_name(name);
  v1::GetRigResponse got;
  EXPECT_CODE(stubs().rigs->GetRig(&get_context, get, &got), StatusCode::OK);
  EXPECT_EQ(got.rig().vertices(), 72u);
  EXPECT_EQ(got.rig().joints(2).name(), "joint2");
  EXPECT_EQ(got.rig().size_bytes(), bytes.size());

  for (const std::size_t offset : {std::size_t{0}, std::size_t{7}, bytes.size()}) {
    grpc::ClientContext context;
    v1::DownloadRigRequest request;
    request.set_name(name);
    request.set_offset(offset);
    auto reader = stubs().rigs->DownloadRig(&context, request);
    v1::DownloadRigResponse piece;
    std::string downloaded;
    while (reader->Read(&piece)) {
      EXPECT_EQ(piece.offset(), offset + downloaded.size());
      EXPECT_EQ(piece.size_bytes(), bytes.size());
      downloaded += piece.data();
    }
    EXPECT_CODE(reader->Finish(), StatusCode::OK);
    EXPECT_SAME_BYTES(downloaded, bytes.substr(offset));
  }
}

TEST_F(RigTest, HeaderAloneReturnsCommittedBytes) {
  Start();
  const std::string bytes = TubeRig().SerializeAsString();
  const std::string hex = Sha256Hex(bytes);
  v1::UploadRigResponse response;
  EXPECT_CODE(Query(hex, bytes.size(), response), StatusCode::OK);
  EXPECT_EQ(response.committed_bytes(), 0u);
  EXPECT_FALSE(response.has_rig());
  {
    grpc::ClientContext context;
    auto writer = stubs().rigs->UploadRig(&context, &response);
    v1::UploadRigRequest request;
    request.mutable_header()->set_sha256(hex);
    request.mutable_header()->set_size_bytes(bytes.size());
    request.set_data(bytes.substr(0, 1000));
    writer->Write(request);
    writer->WritesDone();
    EXPECT_CODE(writer->Finish(), StatusCode::OK);
    EXPECT_EQ(response.committed_bytes(), 1000u);
  }
  EXPECT_CODE(Query(hex, bytes.size(), response), StatusCode::OK);
  EXPECT_EQ(response.committed_bytes(), 1000u);
  {
    grpc::ClientContext context;
    auto writer = stubs().rigs->UploadRig(&context, &response);
    v1::UploadRigRequest request;
    request.mutable_header()->set_sha256(hex);
    request.mutable_header()->set_size_bytes(bytes.size());
    request.set_offset(1000);
    request.set_data(bytes.substr(1000));
    writer->Write(request);
    writer->WritesDone();
    EXPECT_CODE(writer->Finish(), StatusCode::OK);
    EXPECT_EQ(response.rig().name(), RigNameOf(bytes));
  }
  EXPECT_CODE(Query(hex, bytes.size(), response), StatusCode::OK);
  EXPECT_EQ(response.rig().name(), RigNameOf(bytes));
}

TEST_F(RigTest, WrongUploadsReportReason) {
  Start();
  const auto send = [&](const v1::UploadRigRequest& first, const v1::UploadRigRequest* second) {
    grpc::ClientContext context;
    v1::UploadRigResponse response;
    auto writer = stubs().rigs->UploadRig(&context, &response);
    writer->Write(first);
    if (second != nullptr) writer->Write(*second);
    writer->WritesDone();
    return writer->Finish();
  };
  v1::UploadRigRequest none;
  none.set_data("x");
  EXPECT_EQ(FieldOf(send(none, nullptr)), "header");
  v1::UploadRigRequest header;
  header.mutable_header()->set_sha256(Sha256Hex("x"));
  header.mutable_header()->set_size_bytes(100);
  EXPECT_EQ(FieldOf(send(header, &header)), "header");
  v1::UploadRigRequest gap;
  gap.set_offset(50);
  gap.set_data("x");
  EXPECT_CODE(send(header, &gap), StatusCode::OUT_OF_RANGE);
  v1::UploadRigRequest more = header;
  more.set_data(std::string(101, 'x'));
  EXPECT_CODE(send(more, nullptr), StatusCode::OUT_OF_RANGE);
  v1::UploadRigRequest unknown = header;
  unknown.GetReflection()->MutableUnknownFields(&unknown)->AddVarint(77, 1);
  EXPECT_EQ(ReasonOf(send(unknown, nullptr)), "UNKNOWN_FIELD");
  header.mutable_header()->set_size_bytes(1);
  header.set_data("y");
  EXPECT_CODE(send(header, nullptr), StatusCode::DATA_LOSS);
  v1::Rig rig = TubeRig();
  rig.GetReflection()->MutableUnknownFields(&rig)->AddVarint(99, 1);
  const grpc::Status refused = stubs().Upload(rig.SerializeAsString());
  EXPECT_CODE(refused, StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(ReasonOf(refused), "UNKNOWN_FIELD");
  EXPECT_EQ(FieldOf(refused), "rig.99");
  rig = TubeRig();
  rig.mutable_meshes(0)->mutable_positions()->set_columns(2);
  rig.mutable_meshes(0)->mutable_positions()->set_rows(7);
  EXPECT_EQ(FieldOf(stubs().Upload(rig.SerializeAsString())), "rig.meshes[0].positions");
  EXPECT_CODE(stubs().Upload(""), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(stubs().Stats().rigs(), 0u);
}

TEST_F(RigTest, AbandonedUploadEndsAndCountIsLimited) {
  config.streams.stall_seconds = 0.4;
  config.rigs.transfers = 1;
  Start(clock);
  const auto uploads = [&] {
    return RunningCalls(server().http_address(), "RigService/UploadRig");
  };
  v1::UploadRigResponse response, ignored;
  grpc::ClientContext context;
  auto silent = stubs().rigs->UploadRig(&context, &response);
  const auto other = [&] { return Query(std::string(64, 'a'), 10, ignored); };
  WaitUntil([&] { return uploads() == 1; });  // it holds the only permit
  EXPECT_EQ(ReasonOf(other()), "LIMIT");
  WaitUntil([&] { return uploads() == 0; }, [&] { clock.Advance(std::chrono::milliseconds(300)); });
  EXPECT_CODE(other(), StatusCode::OK);
  const grpc::Status status = silent->Finish();
  EXPECT_CODE(status, StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(ReasonOf(status), "WINDOW_STALLED");
}

TEST_F(RigTest, StalledDownloadEndsAndCountIsLimited) {
  config.streams.stall_seconds = 0.4;
  config.rigs.transfers = 1;
  Start(clock);
  v1::DownloadRigRequest request;
  request.set_name(stubs().UploadTube({.rings = 3000, .segments = 100}));
  grpc::ClientContext context;
  auto reader = stubs().rigs->DownloadRig(&context, request);
  v1::DownloadRigResponse piece;
  EXPECT_TRUE(reader->Read(&piece));
  v1::UploadRigResponse ignored;
  const grpc::Status second = Query(std::string(64, 'a'), 10, ignored);
  EXPECT_CODE(second, StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(ReasonOf(second), "LIMIT");
  request.set_offset(piece.size_bytes());
  // Nothing more is read, so the server's next writes block; only then may its time run out.
  grpc::Status other = second;
  WaitUntil([&] { return other.error_code() != StatusCode::RESOURCE_EXHAUSTED; },
            [&] {
              clock.Advance(std::chrono::milliseconds(300));
              grpc::ClientContext other_context;
              other = stubs().rigs->DownloadRig(&other_context, request)->Finish();
            });
  EXPECT_CODE(other, StatusCode::OK);
  while (reader->Read(&piece)) {
  }
  EXPECT_CODE(reader->Finish(), StatusCode::RESOURCE_EXHAUSTED);
}

TEST_F(RigTest, DistinguishesUnknownFromMalformedNames) {
  Start();
  v1::GetRigResponse response;
  v1::GetRigRequest request;
  request.set_name("rigs/sha256-" + std::string(64, '0'));
  grpc::ClientContext first, second, third;
  EXPECT_CODE(stubs().rigs->GetRig(&first, request, &response), StatusCode::NOT_FOUND);
  request.set_name("rigs/../../etc/passwd");
  const grpc::Status malformed = stubs().rigs->GetRig(&second, request, &response);
  EXPECT_CODE(malformed, StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(FieldOf(malformed), "name");
  v1::DeleteRigRequest unknown;
  unknown.set_name("rigs/sha256-" + std::string(64, '0'));
  v1::DeleteRigResponse deleted;
  EXPECT_CODE(stubs().rigs->DeleteRig(&third, unknown, &deleted), StatusCode::NOT_FOUND);
}

TEST_F(RigTest, ListsInPagesAndDeletes) {
  Start();
  std::vector<std::string> names;
  for (std::uint32_t rings = 3; rings < 8; ++rings) {
    names.push_back(stubs().UploadTube({.rings = rings}));
  }
  std::vector<std::string> listed;
  v1::ListRigsRequest request;
  request.set_page_size(2);
  int pages = 0;
  do {
    grpc::ClientContext context;
    v1::ListRigsResponse page;
    ASSERT_TRUE(stubs().rigs->ListRigs(&context, request, &page).ok());
    for (const auto& rig : page.rigs()) listed.push_back(rig.name());
    request.set_page_token(page.next_page_token());
    ++pages;
  } while (!request.page_token().empty());
  EXPECT_EQ(pages, 3);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(listed, names);

  grpc::ClientContext context, bad_size, bad_token;
  v1::ListRigsResponse page;
  request.set_page_size(-1);
  EXPECT_EQ(FieldOf(stubs().rigs->ListRigs(&bad_size, request, &page)), "page_size");
  request.set_page_size(1);
  request.set_page_token("nonsense");
  EXPECT_EQ(FieldOf(stubs().rigs->ListRigs(&bad_token, request, &page)), "page_token");
  v1::DeleteRigRequest remove;
  remove.set_name(names[0]);
  v1::DeleteRigResponse removed;
  EXPECT_CODE(stubs().rigs->DeleteRig(&context, remove, &removed), StatusCode::OK);
  EXPECT_EQ(stubs().Stats().rigs(), 4u);
}

TEST_F(RigTest, SessionsOutliveDeletedRig) {
  Start();
  const std::string rig = stubs().UploadTube();
  const v1::Session session = stubs().Create(rig, "lbs");
  grpc::ClientContext context;
  v1::DeleteRigRequest remove;
  remove.set_name(rig);
  v1::DeleteRigResponse removed;
  EXPECT_CODE(stubs().rigs->DeleteRig(&context, remove, &removed), StatusCode::OK);
  v1::DeformRequest request;
  request.mutable_target()->set_session(session.name());
  *request.mutable_pose() = TubePose(1);
  v1::DeformResponse response;
  EXPECT_CODE(stubs().Deform(request, response), StatusCode::OK);
}

}  // namespace
}  // namespace sinew::testing
