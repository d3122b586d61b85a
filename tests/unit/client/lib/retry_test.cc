#include "client/lib/rpc/retry.h"

#include <gtest/gtest.h>

#include <limits>

#include "client/lib/codec/status_codec.h"
#include "google/rpc/error_details.pb.h"

namespace sinew::client {
namespace {

TEST(IsBroken, RecognisesProxyErrorsForDeadReplica) {
  struct Case {
    absl::StatusCode code;
    const char* message;
    bool cancelled_here;
    bool broken;
  };
  const Case cases[] = {
      {absl::StatusCode::kUnavailable, "", false, true},
      {absl::StatusCode::kUnavailable, "", true, true},
      {absl::StatusCode::kCancelled, "RST_STREAM with error code 8", false, true},
      {absl::StatusCode::kCancelled, "RST_STREAM with error code 8", true, false},
      {absl::StatusCode::kInternal, "Received RST_STREAM with error code 2", false, true},
      {absl::StatusCode::kInternal, "bind: broken", false, false},
      {absl::StatusCode::kUnknown, "Stream removed", false, true},
      {absl::StatusCode::kUnknown, "No status received", false, true},
      {absl::StatusCode::kUnknown, "Received http2 header with status: 500", false, true},
      {absl::StatusCode::kUnknown, "Received http2 header with status: 413", false, false},
      {absl::StatusCode::kUnknown, "something", false, false},
      {absl::StatusCode::kOk, "", false, false},
      {absl::StatusCode::kNotFound, "RST_STREAM", false, false},
      {absl::StatusCode::kDataLoss, "Stream removed", false, false},
      {absl::StatusCode::kDeadlineExceeded, "", false, false},
      {absl::StatusCode::kResourceExhausted, "", false, false},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(IsBroken(absl::Status(c.code, c.message), c.cancelled_here), c.broken)
        << absl::StatusCodeToString(c.code) << " " << c.message << " " << c.cancelled_here;
  }
}

TEST(Explained, BreaksAreUnavailableAndOtherErrorsStay) {
  const absl::StatusCode unavailable = absl::StatusCode::kUnavailable;
  const auto explained = [](absl::StatusCode code, const char* message) {
    return Explained(absl::Status(code, message));
  };
  for (const char* message : {"Received http2 header with status: 413",
                              "Received http2 header with status: 500", "Stream removed"}) {
    EXPECT_EQ(explained(absl::StatusCode::kUnknown, message).code(), unavailable);
  }
  for (const char* message :
       {"Received RST_STREAM with error code 0", "Received RST_STREAM with error code 2"}) {
    EXPECT_EQ(explained(absl::StatusCode::kInternal, message).code(), unavailable);
  }
  const absl::Status bug = absl::InternalError("bind: broken");
  EXPECT_EQ(Explained(bug), bug);
  const absl::Status away = absl::UnavailableError("away");
  EXPECT_EQ(Explained(away), away);
}

TEST(IsLost, RequiresNotFoundNotReadyOrNotHere) {
  EXPECT_TRUE(IsLost(absl::NotFoundError("sessions/x")));
  EXPECT_FALSE(IsLost(absl::FailedPreconditionError("other determinism digest")));
  v1::Problem problem;
  problem.set_code(static_cast<int>(absl::StatusCode::kFailedPrecondition));
  problem.set_reason(v1::REASON_NOT_READY);
  EXPECT_TRUE(IsLost(ToStatus(problem)));
  problem.set_reason(v1::REASON_DETERMINISM_MISMATCH);
  EXPECT_FALSE(IsLost(ToStatus(problem)));
  problem.set_code(static_cast<int>(absl::StatusCode::kUnavailable));
  problem.set_reason(v1::REASON_NOT_HERE);
  EXPECT_TRUE(IsLost(ToStatus(problem)));
  problem.set_reason(v1::REASON_DRAINING);
  EXPECT_FALSE(IsLost(ToStatus(problem)));
  EXPECT_FALSE(IsLost(absl::OkStatus()));
}

TEST(BackoffDelay, GrowsToMaximumWithinJitter) {
  const RetryPolicy policy{.initial_backoff = absl::Milliseconds(100),
                           .max_backoff = absl::Seconds(1)};
  const double expected[] = {100, 200, 400, 800, 1000, 1000};
  for (int attempt = 1; attempt <= 6; ++attempt) {
    const double base = expected[attempt - 1];
    EXPECT_NEAR(absl::ToDoubleMilliseconds(BackoffDelay(policy, attempt, 0.5)), base, 1e-3);
    EXPECT_NEAR(absl::ToDoubleMilliseconds(BackoffDelay(policy, attempt, 0)), base * 0.75, 1e-3);
    EXPECT_LT(BackoffDelay(policy, attempt, 0.999), absl::Milliseconds(base * 1.25));
  }
  EXPECT_EQ(BackoffDelay(policy, std::numeric_limits<int>::max(), 0.5), absl::Seconds(1));
  RetryPolicy none = policy;
  none.initial_backoff = absl::ZeroDuration();
  EXPECT_EQ(BackoffDelay(none, 1000, 0.5), absl::ZeroDuration());
}

TEST(NextDelay, RespectsRetryDelayOfServer) {
  absl::Status status = absl::UnavailableError("draining");
  google::rpc::RetryInfo info;
  info.mutable_retry_delay()->set_seconds(3);
  status.SetPayload("type.googleapis.com/google.rpc.RetryInfo",
                    absl::Cord(info.SerializeAsString()));
  EXPECT_EQ(NextDelay({}, 1, status), absl::Seconds(3));
  EXPECT_LE(NextDelay({}, 1, absl::UnavailableError("")), absl::Milliseconds(125));
  google::rpc::ErrorInfo draining;
  draining.set_reason("REASON_DRAINING");
  status.SetPayload("type.googleapis.com/google.rpc.ErrorInfo",
                    absl::Cord(draining.SerializeAsString()));
  EXPECT_LE(NextDelay({}, 1, status), absl::Milliseconds(125)) << "another replica may be up";
}

TEST(CheckPolicy, RefusesValuesOutOfRange) {
  EXPECT_TRUE(CheckPolicy({}).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(CheckPolicy({.max_attempts = 0})));
  EXPECT_TRUE(absl::IsInvalidArgument(CheckPolicy({.repeat_for = absl::Seconds(-1)})));
  EXPECT_TRUE(absl::IsInvalidArgument(CheckPolicy({.resume_for = absl::Seconds(-1)})));
  EXPECT_TRUE(absl::IsInvalidArgument(CheckPolicy({.initial_backoff = -absl::Seconds(1)})));
  EXPECT_TRUE(absl::IsInvalidArgument(
      CheckPolicy({.initial_backoff = absl::Seconds(9), .max_backoff = absl::Seconds(1)})));
  EXPECT_TRUE(absl::IsInvalidArgument(CheckPolicy({.max_backoff = absl::InfiniteDuration()})));
}

}  // namespace
}  // namespace sinew::client
