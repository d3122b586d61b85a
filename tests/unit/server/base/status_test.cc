#include "server/base/status.h"

#include <gtest/gtest.h>

#include <string>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace sinew::server {
namespace {

TEST(Status, CodesEqualThoseOfGrpc) {
  for (int code = 0; code <= 16; ++code) {
    const absl::Status status(static_cast<absl::StatusCode>(code), code == 0 ? "" : "why");
    const grpc::Status sent = ToGrpc(status);
    EXPECT_EQ(static_cast<int>(sent.error_code()), code);
    EXPECT_EQ(sent.error_message(), code == 0 ? "" : "why");
  }
}

TEST(Status, DetailsAreInTrailer) {
  const absl::Status status =
      WithRetry(LimitExceeded("data", 5, 4, "bytes", "max-x"), absl::Milliseconds(1500));
  google::rpc::Status details;
  ASSERT_TRUE(details.ParseFromString(ToGrpc(status).error_details()));
  EXPECT_EQ(details.code(), 8);
  EXPECT_EQ(details.message(), "data: got 5 bytes, limit 4 (max-x)");
  bool info = false, quota = false, retry = false;
  for (const auto& any : details.details()) {
    google::rpc::ErrorInfo reason;
    google::rpc::QuotaFailure failure;
    google::rpc::RetryInfo delay;
    if (any.UnpackTo(&reason)) {
      info = reason.reason() == "LIMIT" && reason.domain() == "sinew";
    } else if (any.UnpackTo(&failure)) {
      quota = failure.violations(0).subject() == "max-x";
    } else if (any.UnpackTo(&delay)) {
      retry = delay.retry_delay().seconds() == 1 && delay.retry_delay().nanos() == 500'000'000;
    }
  }
  EXPECT_TRUE(info && quota && retry);
}

TEST(Status, InvalidFieldNamesField) {
  const absl::Status status = InvalidField("rig.meshes[0].positions", "got 7 rows");
  EXPECT_EQ(status.message(), "rig.meshes[0].positions: got 7 rows");
  EXPECT_EQ(FieldOf(status), "rig.meshes[0].positions");
  EXPECT_EQ(ReasonOf(status), v1::REASON_INVALID_FIELD);
}

TEST(Status, PathsArePrepended) {
  const absl::Status status = WithPath(WithPath(InvalidField("blend", "got 2"), "dqs"), "source");
  EXPECT_EQ(status.message(), "source.dqs.blend: got 2");
  EXPECT_EQ(FieldOf(status), "source.dqs.blend");
  EXPECT_EQ(ReasonOf(status), v1::REASON_INVALID_FIELD);
  EXPECT_TRUE(WithPath(absl::OkStatus(), "x").ok());
}

TEST(Status, LeadingPathBecomesField) {
  EXPECT_EQ(FieldOf(WithDetails(absl::InvalidArgumentError("a.b[3].c: got 1"))), "a.b[3].c");
  EXPECT_EQ(FieldOf(WithDetails(absl::InvalidArgumentError("no path here: x"))), "");
  EXPECT_EQ(FieldOf(WithDetails(absl::NotFoundError("a: x"))), "");
}

TEST(Status, LongMessagesAreCutAtCharacterBoundary) {
  std::string text(1023, 'x');
  for (int i = 0; i < 100; ++i) text += "\xc3\xa4";  // a two-byte character across the cut
  const grpc::Status sent = ToGrpc(InvalidField("f", text));
  EXPECT_LE(sent.error_message().size(), 1030u);
  EXPECT_LE(sent.error_details().size(), 4096u);
  const std::string cut = sent.error_message();
  EXPECT_NE(static_cast<unsigned char>(cut[cut.size() - 4]), 0xc3);
}

TEST(Status, CutCharactersAreReplaced) {
  // The first byte of two, as in an error that quotes the first byte of a recipe.
  for (const absl::Status& status :
       {InvalidField("f\xcb", "got '\xcb'"), LimitExceeded("f", "got '\xcb'", "max-x"),
        WithDetails(absl::InvalidArgumentError("f: got '\xcb'"))}) {
    const grpc::Status sent = ToGrpc(status);
    EXPECT_EQ(sent.error_message().substr(sent.error_message().find("got ")).substr(0, 8),
              "got '\xef\xbf\xbd");
    google::rpc::Status details;
    EXPECT_TRUE(details.ParseFromString(sent.error_details()));
    EXPECT_FALSE(FieldOf(status).empty()) << "its details can be read";
    EXPECT_EQ(ToProblem(status).message().find('\xcb'), std::string::npos);
  }
}

TEST(Status, ProblemsEqualTheirStatus) {
  const v1::Problem problem = ToProblem(InvalidField("pose.controls", "got 4 bytes"));
  EXPECT_EQ(problem.code(), 3);
  EXPECT_EQ(problem.reason(), v1::REASON_INVALID_FIELD);
  EXPECT_EQ(problem.field(), "pose.controls");
  EXPECT_EQ(problem.message(), "pose.controls: got 4 bytes");
}

TEST(Status, ProblemsAreShortAndPrintable) {
  const v1::Problem problem =
      ToProblem(absl::InternalError("a\n\x1b[0m" + std::string(9999, '\1')));
  EXPECT_EQ(problem.message().substr(0, 12), "a\\x0a\\x1b[0m");
  EXPECT_LE(problem.message().size(), 2048u);
}

TEST(Status, DrainingSuggestsRetryElsewhere) {
  EXPECT_EQ(Draining().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ReasonOf(Draining()), v1::REASON_DRAINING);
}

}  // namespace
}  // namespace sinew::server
