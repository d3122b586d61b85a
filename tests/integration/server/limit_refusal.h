// limit_refusal.h - what a refused call says about the limit it has passed, and what the server
// says about that limit elsewhere.
#pragma once

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "tests/integration/server/http_get.h"
#include "tests/integration/server/server_fixture.h"
#include "tests/integration/server/stubs.h"
#include "tests/support/wait_until.h"

namespace sinew::testing {

struct Refusal {
  grpc::StatusCode code = grpc::StatusCode::OK;
  std::string reason;
  std::string limit;       // in the details and in the message
  bool try_later = false;  // RetryInfo with a delay

  bool operator==(const Refusal&) const = default;
};

inline std::ostream& operator<<(std::ostream& out, const Refusal& refusal) {
  return out << "code " << refusal.code << ", reason '" << refusal.reason << "', limit '"
             << refusal.limit << "', " << (refusal.try_later ? "try later" : "no retry");
}

// Waiting does not help: the request itself is too large.
inline Refusal Refused(const std::string& limit, const std::string& reason = "LIMIT") {
  return {grpc::StatusCode::RESOURCE_EXHAUSTED, reason, limit, false};
}
// Waiting helps: others hold what the call needs.
inline Refusal RefusedForNow(const std::string& limit) {
  return {grpc::StatusCode::RESOURCE_EXHAUSTED, "LIMIT", limit, true};
}

inline Refusal RefusalOf(const grpc::Status& status) {
  Refusal refusal{status.error_code(), ReasonOf(status), {}, false};
  google::rpc::Status details;
  details.ParseFromString(status.error_details());
  for (const auto& any : details.details()) {
    google::rpc::QuotaFailure failure;
    google::rpc::RetryInfo retry;
    if (any.UnpackTo(&failure) && failure.violations_size() == 1) {
      const std::string& limit = failure.violations(0).subject();
      const bool in_message = status.error_message().ends_with("(" + limit + ")");
      refusal.limit = in_message ? limit : limit + ", not in the message";
    } else if (any.UnpackTo(&retry)) {
      const auto& delay = retry.retry_delay();
      refusal.try_later = delay.seconds() > 0 || delay.nanos() > 0;
    }
  }
  return refusal;
}

#define EXPECT_REFUSAL(call, expected)                                                  \
  do {                                                                                  \
    const grpc::Status sinew_refused_ = (call);                                         \
    EXPECT_EQ(RefusalOf(sinew_refused_), (expected)) << sinew_refused_.error_message(); \
  } while (false)

class RefusalTest : public ServerTest {
 protected:
  // What clients hold of a limit that they share. Asked over HTTP: no call that would count.
  std::uint64_t Used(const std::string& limit) {
    const std::string value =
        MetricOf(server().http_address(), "sinew_limit_used{limit=\"" + limit + "\"}");
    return value.empty() ? ~std::uint64_t{0} : std::stoull(value);
  }
  void WaitForUse(const std::string& limit, std::uint64_t amount) {
    WaitUntil([&] { return Used(limit) == amount; });
  }
  // The value that GetServerInfo lists, or 0.
  std::uint64_t Listed(const std::string& name) {
    grpc::ClientContext context;
    v1::GetServerInfoResponse info;
    EXPECT_CODE(stubs().info->GetServerInfo(&context, {}, &info), grpc::StatusCode::OK);
    for (const v1::Limit& limit : info.limits()) {
      if (limit.name() == name) return limit.value();
    }
    return 0;
  }
  // Begins an upload of `data`, the first bytes of a rig with this digest and size.
  grpc::Status UploadPart(Stubs& client, const std::string& sha256, std::uint64_t size,
                          const std::string& data, v1::UploadRigResponse* response = nullptr) {
    v1::UploadRigRequest request;
    request.mutable_header()->set_sha256(sha256);
    request.mutable_header()->set_size_bytes(size);
    request.set_data(data);
    grpc::ClientContext context;
    v1::UploadRigResponse ignored;
    const auto writer = client.rigs->UploadRig(&context, response == nullptr ? &ignored : response);
    writer->Write(request);
    writer->WritesDone();
    return writer->Finish();
  }
  static v1::CreateSessionRequest CreateRequest(const std::string& rig,
                                                const std::string& recipe_text) {
    v1::CreateSessionRequest request;
    request.mutable_source()->set_rig(rig);
    request.mutable_source()->set_recipe_text(recipe_text);
    return request;
  }
};

// The first number after the path in the message of a refusal: what the call needs. 0 if none.
inline std::uint64_t NeededOf(const grpc::Status& refused) {
  const std::string& message = refused.error_message();
  const std::size_t digits = message.find_first_of("0123456789", message.find(": "));
  EXPECT_NE(digits, std::string::npos) << message;
  return digits == std::string::npos ? 0 : std::stoull(message.substr(digits));
}

}  // namespace sinew::testing
