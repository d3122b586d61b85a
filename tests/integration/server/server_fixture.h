// server_fixture.h - a server in this process on a loopback port, with stubs, and the steps most
// tests begin with.
#pragma once

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "server/server.h"
#include "sinew/v1/deform_service.grpc.pb.h"
#include "sinew/v1/info_service.grpc.pb.h"
#include "sinew/v1/rig_service.grpc.pb.h"
#include "sinew/v1/session_service.grpc.pb.h"
#include "tests/unit/server/test_rig.h"

namespace sinew::testing {

// A bind of several seconds, to be looked at, waited for and cancelled.
inline constexpr char kSlowSpec[] =
    "ddm(smoothing=explicit, lambda=1, iterations=1000, truncation=0)";
inline constexpr TubeShape kSlowTube{.rings = 800, .segments = 50, .joints = 250};

// The reason in a failed call's details, or "".
inline std::string ReasonOf(const grpc::Status& status) {
  google::rpc::Status details;
  details.ParseFromString(status.error_details());
  for (const auto& any : details.details()) {
    google::rpc::ErrorInfo info;
    if (any.UnpackTo(&info)) return info.domain() == "sinew" ? info.reason() : "";
  }
  return "";
}

// The field in a failed call's details, or "".
inline std::string FieldOf(const grpc::Status& status) {
  google::rpc::Status details;
  details.ParseFromString(status.error_details());
  for (const auto& any : details.details()) {
    google::rpc::BadRequest request;
    if (any.UnpackTo(&request)) return request.field_violations(0).field();
  }
  return "";
}

// Bulk bytes compared without printing them.
#define EXPECT_SAME_BYTES(a, b) EXPECT_TRUE((a) == (b)) << #a " and " #b " differ"

#define EXPECT_CODE(call, expected)                                                   \
  do {                                                                                \
    const grpc::Status sinew_status_ = (call);                                        \
    EXPECT_EQ(sinew_status_.error_code(), expected) << sinew_status_.error_message(); \
  } while (false)

// Stubs of one server and calls in one line.
class Stubs {
 public:
  explicit Stubs(std::shared_ptr<grpc::Channel> channel)
      : rigs(v1::RigService::NewStub(channel)),
        sessions(v1::SessionService::NewStub(channel)),
        deforms(v1::DeformService::NewStub(channel)),
        info(v1::InfoService::NewStub(channel)) {}

  // Sends `bytes` in pieces; the rig's name in `name` if it is complete.
  grpc::Status Upload(const std::string& bytes, std::string* name = nullptr,
                      std::size_t piece = 1 << 20) {
    grpc::ClientContext context;
    v1::UploadRigResponse response;
    auto writer = rigs->UploadRig(&context, &response);
    v1::UploadRigRequest request;
    request.mutable_header()->set_sha256(Sha256Hex(bytes));
    request.mutable_header()->set_size_bytes(bytes.size());
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      request.set_offset(at);
      request.set_data(bytes.substr(at, piece));
      if (!writer->Write(request)) break;
      request.clear_header();
    }
    writer->WritesDone();
    const grpc::Status status = writer->Finish();
    if (name != nullptr) *name = response.rig().name();
    return status;
  }
  std::string UploadTube(const TubeShape& shape = {}) {
    std::string name;
    EXPECT_CODE(Upload(TubeRig(shape).SerializeAsString(), &name), grpc::StatusCode::OK);
    return name;
  }

  grpc::Status Create(const v1::CreateSessionRequest& request, v1::Session& session) {
    grpc::ClientContext context;
    v1::CreateSessionResponse response;
    const grpc::Status status = sessions->CreateSession(&context, request, &response);
    session = response.session();
    return status;
  }
  v1::Session Create(const std::string& rig, const std::string& spec) {
    v1::CreateSessionRequest request;
    request.mutable_spec()->set_rig(rig);
    request.mutable_spec()->set_spec(spec);
    v1::Session session;
    EXPECT_CODE(Create(request, session), grpc::StatusCode::OK);
    return session;
  }
  // Waits for the end of the bind.
  v1::Session Watch(const std::string& name, int* messages = nullptr) {
    grpc::ClientContext context;
    v1::WatchSessionRequest request;
    request.set_name(name);
    auto reader = sessions->WatchSession(&context, request);
    v1::WatchSessionResponse response;
    while (reader->Read(&response)) {
      if (messages != nullptr) ++*messages;
    }
    EXPECT_CODE(reader->Finish(), grpc::StatusCode::OK);
    return response.session();
  }
  grpc::Status Get(const std::string& name, v1::Session* session = nullptr) {
    grpc::ClientContext context;
    v1::GetSessionRequest request;
    request.set_name(name);
    v1::GetSessionResponse response;
    const grpc::Status status = sessions->GetSession(&context, request, &response);
    if (session != nullptr) *session = response.session();
    return status;
  }
  grpc::Status Deform(const v1::DeformRequest& request, v1::DeformResponse& response,
                      std::chrono::milliseconds deadline = std::chrono::seconds(60)) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + deadline);
    return deforms->Deform(&context, request, &response);
  }
  v1::ServerStats Stats() {
    grpc::ClientContext context;
    v1::GetServerInfoResponse response;
    EXPECT_CODE(info->GetServerInfo(&context, {}, &response), grpc::StatusCode::OK);
    return response.stats();
  }

  std::unique_ptr<v1::RigService::Stub> rigs;
  std::unique_ptr<v1::SessionService::Stub> sessions;
  std::unique_ptr<v1::DeformService::Stub> deforms;
  std::unique_ptr<v1::InfoService::Stub> info;
};

// One StreamDeform, open from the start.
class Stream {
 public:
  Stream(Stubs& stubs, const v1::StreamOpen& open) : call_(stubs.deforms->StreamDeform(&context_)) {
    v1::StreamDeformRequest request;
    *request.mutable_open() = open;
    call_->Write(request);
  }
  ~Stream() {
    context_.TryCancel();
    if (!finished_) call_->Finish();
  }

  bool Send(const v1::Pose& pose) {
    v1::StreamDeformRequest request;
    *request.add_poses() = pose;
    return call_->Write(request);
  }
  bool Send(const v1::StreamDeformRequest& request) { return call_->Write(request); }
  bool Acknowledge(std::uint64_t frame) {
    v1::StreamDeformRequest request;
    request.set_received(frame);
    return call_->Write(request);
  }
  // The next message; false at the end.
  bool Read(v1::StreamDeformResponse& response) { return call_->Read(&response); }
  // The first message's `opened`.
  v1::StreamOpened Opened() {
    v1::StreamDeformResponse response;
    EXPECT_TRUE(Read(response));
    return response.opened();
  }
  // Reads until the frames numbered up to `last` are all here; each entry is a whole frame or a
  // problem.
  struct Answer {
    v1::Frame frame;  // positions and normals of all its pieces
    std::optional<v1::Problem> problem;
  };
  std::vector<Answer> ReadUntil(std::uint64_t last, bool acknowledge = true) {
    std::vector<Answer> answers;
    v1::StreamDeformResponse response;
    while ((partial_ || answers.empty() || answers.back().frame.frame() < last) && Read(response)) {
      for (const v1::FrameProblem& problem : response.problems()) {
        Answer& answer = answers.emplace_back();
        answer.frame.set_frame(problem.frame());
        answer.problem = problem.problem();
      }
      for (const v1::Frame& piece : response.frames()) Add(piece, answers);
      if (response.has_notice()) notices.push_back(response.notice());
      if (acknowledge && !answers.empty() && !partial_) {
        Acknowledge(answers.back().frame.frame());
      }
    }
    return answers;
  }
  void HalfClose() { call_->WritesDone(); }
  void Cancel() { context_.TryCancel(); }
  grpc::Status Finish() {
    v1::StreamDeformResponse rest;
    while (Read(rest)) {
      if (rest.has_notice()) notices.push_back(rest.notice());
    }
    finished_ = true;
    return call_->Finish();
  }

  std::vector<v1::Notice> notices;

 private:
  void Add(const v1::Frame& piece, std::vector<Answer>& answers) {
    if (!partial_) {
      answers.emplace_back().frame = piece;
    } else {
      v1::Frame& frame = answers.back().frame;
      frame.mutable_positions()->append(piece.positions());
      frame.mutable_normals()->append(piece.normals());
      *frame.mutable_timing() = piece.timing();
    }
    partial_ = !piece.last_chunk();
  }

  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::StreamDeformRequest, v1::StreamDeformResponse>>
      call_;
  bool finished_ = false, partial_ = false;
};

// Tests set `config` and call Start.
class ServerTest : public ::testing::Test {
 protected:
  ServerTest() {
    config.network.listen = {"127.0.0.1:0"};
    config.log.level = "off";
  }
  void Start() {
    auto started = server::Server::Start(config);
    ASSERT_TRUE(started.ok()) << started.status();
    server_ = *std::move(started);
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(64 << 20);
    // Every test its own connection.
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    channel_ = grpc::CreateCustomChannel(server_->addresses().front(),
                                         grpc::InsecureChannelCredentials(), arguments);
    stubs_ = std::make_unique<Stubs>(channel_);
  }
  Stubs& stubs() { return *stubs_; }
  server::Server& server() { return *server_; }

  v1::StreamOpen OpenFor(const std::string& session) {
    v1::StreamOpen open;
    open.mutable_target()->set_session(session);
    return open;
  }
  v1::StreamOpen OpenSpec(const std::string& rig, const std::string& spec) {
    v1::StreamOpen open;
    open.mutable_target()->mutable_spec()->set_rig(rig);
    open.mutable_target()->mutable_spec()->set_spec(spec);
    return open;
  }

  server::Config config;
  std::unique_ptr<server::Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<Stubs> stubs_;
};

}  // namespace sinew::testing
