// stubs.h - the generated stubs of one server with calls in one line, and what a failed call says.
#pragma once

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/base/digest.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "sinew/v1/deform_service.grpc.pb.h"
#include "sinew/v1/info_service.grpc.pb.h"
#include "sinew/v1/rig_service.grpc.pb.h"
#include "sinew/v1/session_service.grpc.pb.h"
#include "tests/support/test_rig.h"
#include "tests/support/wait_until.h"

namespace sinew::testing {

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

// EXPECT_CODE that ends the test.
#define ASSERT_CODE(call, expected)                                                   \
  do {                                                                                \
    const grpc::Status sinew_status_ = (call);                                        \
    ASSERT_EQ(sinew_status_.error_code(), expected) << sinew_status_.error_message(); \
  } while (false)

// Reads all replies of a call; returns its status.
template <class Response>
grpc::Status ReadToEnd(grpc::ClientReader<Response>& reader) {
  Response response;
  while (reader.Read(&response)) {
  }
  return reader.Finish();
}

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

  grpc::Status DeleteRig(const std::string& name) {
    grpc::ClientContext context;
    v1::DeleteRigRequest request;
    request.set_name(name);
    v1::DeleteRigResponse response;
    return rigs->DeleteRig(&context, request, &response);
  }

  grpc::Status Create(const v1::CreateSessionRequest& request, v1::Session& session) {
    grpc::ClientContext context;
    v1::CreateSessionResponse response;
    const grpc::Status status = sessions->CreateSession(&context, request, &response);
    session = response.session();
    return status;
  }
  v1::Session Create(const std::string& rig, const std::string& recipe_text) {
    v1::CreateSessionRequest request;
    request.mutable_source()->set_rig(rig);
    request.mutable_source()->set_recipe_text(recipe_text);
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
  grpc::Status DeleteSession(const std::string& name) {
    grpc::ClientContext context;
    v1::DeleteSessionRequest request;
    request.set_name(name);
    v1::DeleteSessionResponse response;
    return sessions->DeleteSession(&context, request, &response);
  }
  grpc::Status Deform(const v1::DeformRequest& request, v1::DeformResponse& response,
                      std::optional<std::chrono::milliseconds> deadline = {}) {
    grpc::ClientContext context;
    if (deadline) context.set_deadline(std::chrono::system_clock::now() + *deadline);
    return deforms->Deform(&context, request, &response);
  }
  v1::ServerStats Stats() {
    grpc::ClientContext context;
    v1::GetServerInfoResponse response;
    EXPECT_CODE(info->GetServerInfo(&context, {}, &response), grpc::StatusCode::OK);
    return response.stats();
  }
  // Asks until `statistic` has this value.
  void WaitFor(std::uint64_t (v1::ServerStats::*statistic)() const, std::uint64_t value) {
    WaitUntil([&] { return (Stats().*statistic)() == value; });
  }

  std::unique_ptr<v1::RigService::Stub> rigs;
  std::unique_ptr<v1::SessionService::Stub> sessions;
  std::unique_ptr<v1::DeformService::Stub> deforms;
  std::unique_ptr<v1::InfoService::Stub> info;
};

}  // namespace sinew::testing
