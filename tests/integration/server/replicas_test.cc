// Two servers that share a store of rigs and bound data, and sessions: in Redis, or by their names.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "tests/integration/server/server_fixture.h"
#include "tests/support/redis_process.h"
#include "tests/support/temporary_folder.h"

namespace sinew::testing {
namespace {

// One of them.
struct Replica {
  explicit Replica(const server::Config& config)
      : server(*server::Server::Start(config)),
        stubs(
            grpc::CreateChannel(server->addresses().front(), grpc::InsecureChannelCredentials())) {}
  std::unique_ptr<server::Server> server;
  Stubs stubs;
};

class ReplicasTest : public ::testing::Test {
 protected:
  void SetUp() override {
    config_.network.listen = {"127.0.0.1:0"};
    config_.log.level = "off";
    config_.access.client_share = 1;
    config_.shared.store = "file://" + folder_ / "store";
    if (!RedisProcess::Installed()) GTEST_SKIP() << "redis-server is not installed";
    redis_ = std::make_unique<RedisProcess>();
    config_.shared.redis = redis_->address();
    a_ = std::make_unique<Replica>(config_);
    b_ = std::make_unique<Replica>(config_);
  }

  static grpc::Status Deform(Replica& replica, const std::string& session, std::string* bytes) {
    v1::DeformRequest request;
    request.mutable_target()->set_session(session);
    *request.mutable_pose() = TubePose(1, 0.4f);
    v1::DeformResponse response;
    const grpc::Status status = replica.stubs.Deform(request, response);
    response.mutable_frame()->clear_timing();
    *bytes = response.frame().SerializeAsString();
    return status;
  }

  const TemporaryFolder folder_;
  std::unique_ptr<RedisProcess> redis_;
  server::Config config_;
  std::unique_ptr<Replica> a_, b_;
};

TEST_F(ReplicasTest, AnyServerServesAnySession) {
  const std::string rig = a_->stubs.UploadTube();
  const std::string session = a_->stubs.Create(rig, "ddm").name();
  EXPECT_EQ(a_->stubs.Watch(session).state(), v1::Session::STATE_READY);
  std::string here, there;
  EXPECT_CODE(Deform(*a_, session, &here), grpc::StatusCode::OK);
  EXPECT_CODE(Deform(*b_, session, &there), grpc::StatusCode::OK);
  EXPECT_EQ(here, there);
  v1::Session found;
  EXPECT_CODE(b_->stubs.Get(session, &found), grpc::StatusCode::OK);
  EXPECT_EQ(found.name(), session);
  EXPECT_EQ(found.recipe().SerializeAsString(),
            a_->stubs.Watch(session).recipe().SerializeAsString());
}

TEST_F(ReplicasTest, EveryMethodContinuesASessionOfAnotherServer) {
  const std::string rig = a_->stubs.UploadTube();
  const auto create = [&] { return a_->stubs.Create(rig, "lbs").name(); };
  EXPECT_EQ(b_->stubs.Watch(create()).state(), v1::Session::STATE_READY);
  EXPECT_CODE(b_->stubs.Get(create()), grpc::StatusCode::OK);
  {
    grpc::ClientContext context;
    v1::RenewSessionRequest request;
    request.set_name(create());
    v1::RenewSessionResponse response;
    EXPECT_CODE(b_->stubs.sessions->RenewSession(&context, request, &response),
                grpc::StatusCode::OK);
  }
  v1::StreamOpen open;
  open.mutable_target()->set_session(create());
  EXPECT_EQ(Stream(b_->stubs, open).Opened().session(), open.target().session());
  EXPECT_CODE(b_->stubs.DeleteSession(create()), grpc::StatusCode::OK);
}

TEST_F(ReplicasTest, TheRigIsFetchedForASourceToo) {
  const std::string rig = a_->stubs.UploadTube();
  v1::DeformRequest request;
  request.mutable_target()->mutable_source()->set_rig(rig);
  request.mutable_target()->mutable_source()->set_recipe_text("lbs");
  *request.mutable_pose() = TubePose(1, 0.4f);
  v1::DeformResponse response;
  EXPECT_CODE(b_->stubs.Deform(request, response), grpc::StatusCode::OK);
  EXPECT_EQ(b_->stubs.Create(rig, "dqs").source().rig(), rig);
}

TEST_F(ReplicasTest, CallsForARigThatIsReadSlowlyHinderNoOthers) {
  const std::string rig = a_->stubs.UploadTube(), hex(64, 'a'), slow = "rigs/sha256-" + hex;
  // A pipe: reading it waits for a writer.
  const std::string pipe = folder_ / ("store/rigs/" + hex);
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::vector<std::thread> calls;
  for (int i = 0; i < 8; ++i) {  // more of each than there are threads
    calls.emplace_back([&] {
      grpc::ClientContext context;
      v1::GetRigRequest request;
      request.set_name(slow);
      v1::GetRigResponse response;
      EXPECT_CODE(b_->stubs.rigs->GetRig(&context, request, &response),
                  grpc::StatusCode::NOT_FOUND);
    });
    calls.emplace_back([&] {
      v1::DeformRequest request;
      request.mutable_target()->mutable_source()->set_rig(slow);
      request.mutable_target()->mutable_source()->set_recipe_text("lbs");
      *request.mutable_pose() = TubePose(1, 0.4f);
      v1::DeformResponse response;
      EXPECT_CODE(b_->stubs.Deform(request, response), grpc::StatusCode::NOT_FOUND);
    });
    calls.emplace_back([&] {
      grpc::ClientContext context;
      v1::DownloadRigRequest request;
      request.set_name(slow);
      v1::DownloadRigResponse piece;
      const auto reader = b_->stubs.rigs->DownloadRig(&context, request);
      EXPECT_FALSE(reader->Read(&piece));
      EXPECT_CODE(reader->Finish(), grpc::StatusCode::NOT_FOUND);
    });
    calls.emplace_back([&] {  // leaves
      grpc::ClientContext context;
      context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(100));
      v1::GetRigRequest request;
      request.set_name(slow);
      v1::GetRigResponse response;
      EXPECT_CODE(b_->stubs.rigs->GetRig(&context, request, &response),
                  grpc::StatusCode::DEADLINE_EXCEEDED);
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // they wait now
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
  v1::CreateSessionRequest request;
  request.mutable_source()->set_rig(rig);
  request.mutable_source()->set_recipe_text("lbs");
  v1::CreateSessionResponse response;
  EXPECT_CODE(b_->stubs.sessions->CreateSession(&context, request, &response),
              grpc::StatusCode::OK);
  const int writer = ::open(pipe.c_str(), O_WRONLY);
  EXPECT_GE(writer, 0);
  ::close(writer);  // an empty rig: it is damaged
  for (std::thread& call : calls) call.join();
}

TEST_F(ReplicasTest, AnUploadOfAKnownRigSendsNothing) {
  const std::string bytes = TubeRig({}).SerializeAsString();
  std::string name;
  EXPECT_CODE(a_->stubs.Upload(bytes, &name), grpc::StatusCode::OK);
  grpc::ClientContext context;
  v1::UploadRigResponse response;
  const auto writer = b_->stubs.rigs->UploadRig(&context, &response);
  v1::UploadRigRequest header;
  header.mutable_header()->set_sha256(Sha256Hex(bytes));
  header.mutable_header()->set_size_bytes(bytes.size());
  writer->Write(header);
  writer->WritesDone();
  EXPECT_CODE(writer->Finish(), grpc::StatusCode::OK);
  EXPECT_EQ(response.rig().name(), name);
}

TEST_F(ReplicasTest, UnknownNamesAreNotFound) {
  std::string bytes;
  EXPECT_CODE(Deform(*b_, "sessions/" + std::string(32, '0'), &bytes), grpc::StatusCode::NOT_FOUND);
  EXPECT_CODE(b_->stubs.Get("sessions/none"), grpc::StatusCode::NOT_FOUND);
  EXPECT_CODE(b_->stubs.DeleteSession("sessions/none"), grpc::StatusCode::NOT_FOUND);
  v1::CreateSessionRequest request;
  request.mutable_source()->set_rig("rigs/sha256-" + std::string(64, '0'));
  request.mutable_source()->set_recipe_text("lbs");
  v1::Session session;
  EXPECT_CODE(b_->stubs.Create(request, session), grpc::StatusCode::NOT_FOUND);
}

TEST_F(ReplicasTest, ADeletedSessionEnds) {
  const std::string session = a_->stubs.Create(a_->stubs.UploadTube(), "lbs").name();
  EXPECT_CODE(b_->stubs.Get(session), grpc::StatusCode::OK);
  EXPECT_CODE(b_->stubs.DeleteSession(session), grpc::StatusCode::OK);
  EXPECT_CODE(b_->stubs.Get(session), grpc::StatusCode::NOT_FOUND);
  WaitUntil([&] { return a_->stubs.Get(session).error_code() == grpc::StatusCode::NOT_FOUND; });
}

TEST_F(ReplicasTest, ADeletedRigIsGoneOnAllServers) {
  const std::string rig = a_->stubs.UploadTube();
  EXPECT_EQ(b_->stubs.Create(rig, "lbs").source().rig(), rig);
  EXPECT_CODE(a_->stubs.DeleteRig(rig), grpc::StatusCode::OK);
  const auto get = [&] {
    grpc::ClientContext context;
    v1::GetRigRequest request;
    request.set_name(rig);
    v1::GetRigResponse response;
    return b_->stubs.rigs->GetRig(&context, request, &response).error_code();
  };
  WaitUntil([&] { return get() == grpc::StatusCode::NOT_FOUND; });
}

TEST_F(ReplicasTest, ARepeatedRequestFindsTheSessionOfAnotherServer) {
  v1::CreateSessionRequest request;
  request.mutable_source()->set_rig(a_->stubs.UploadTube());
  request.mutable_source()->set_recipe_text("lbs");
  request.set_request_id("one");
  v1::Session first, second;
  EXPECT_CODE(a_->stubs.Create(request, first), grpc::StatusCode::OK);
  EXPECT_CODE(b_->stubs.Create(request, second), grpc::StatusCode::OK);
  EXPECT_EQ(first.name(), second.name());
  request.mutable_source()->set_recipe_text("dqs");
  EXPECT_CODE(b_->stubs.Create(request, second), grpc::StatusCode::ALREADY_EXISTS);
}

TEST_F(ReplicasTest, AServerAloneGoesOn) {
  const std::string rig = a_->stubs.UploadTube();
  const std::string session = a_->stubs.Create(rig, "lbs").name();
  EXPECT_EQ(a_->stubs.Watch(session).state(), v1::Session::STATE_READY);
  std::filesystem::rename(folder_ / "store", folder_ / "away");
  redis_->Kill();
  std::string bytes;
  EXPECT_CODE(Deform(*a_, session, &bytes), grpc::StatusCode::OK);
  EXPECT_EQ(a_->stubs.Watch(a_->stubs.Create(rig, "ddm").name()).state(), v1::Session::STATE_READY);
  const std::string other = a_->stubs.UploadTube({.rings = 11});
  // What only the other server could know.
  const grpc::Status unknown = a_->stubs.Get("sessions/" + std::string(32, '0'));
  EXPECT_CODE(unknown, grpc::StatusCode::UNAVAILABLE);
  v1::CreateSessionRequest request;
  request.mutable_source()->set_rig("rigs/sha256-" + std::string(64, '0'));
  request.mutable_source()->set_recipe_text("lbs");
  v1::Session none;
  EXPECT_CODE(a_->stubs.Create(request, none), grpc::StatusCode::UNAVAILABLE);
  EXPECT_CODE(a_->stubs.DeleteSession(session), grpc::StatusCode::OK);

  // When they are back, it catches up.
  std::filesystem::rename(folder_ / "away", folder_ / "store");
  redis_->Start();
  const std::string later = a_->stubs.Create(other, "dqs").name();
  WaitUntil([&] { return b_->stubs.Get(later).error_code() == grpc::StatusCode::OK; });
}

}  // namespace
}  // namespace sinew::testing
