#include "client/lib/codec/status_codec.h"

#include <gtest/gtest.h>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace sinew::client {
namespace {

TEST(FromGrpc, MapsAllCodesOneToOne) {
  for (int code = 0; code <= 16; ++code) {
    const absl::Status status =
        FromGrpc(grpc::Status(static_cast<grpc::StatusCode>(code), "message"));
    EXPECT_EQ(static_cast<int>(status.code()), code);
    EXPECT_EQ(std::string(status.message()), code == 0 ? "" : "message");
  }
}

TEST(FromGrpc, UnknownHostIsReportedWithoutTheResolver) {
  const grpc::Status status(
      grpc::StatusCode::UNAVAILABLE,
      "DNS resolution failed for farm.invalid:50051: C-ares status is not ARES_SUCCESS "
      "qtype=AAAA name=farm.invalid is_balancer=0: Domain name not found");
  EXPECT_EQ(FromGrpc(status).message(), "farm.invalid:50051: no such host");
}

TEST(Details, ReadsStatusTrailer) {
  google::rpc::Status trailer;
  google::rpc::ErrorInfo info;
  info.set_reason("REASON_LIMIT");
  info.set_domain("sinew");
  (*info.mutable_metadata())["limit"] = "max_rig_bytes";
  trailer.add_details()->PackFrom(info);
  google::rpc::BadRequest bad;
  auto* violation = bad.add_field_violations();
  violation->set_field("rig.meshes[0].positions");
  violation->set_description("got 4 values");
  trailer.add_details()->PackFrom(bad);
  google::rpc::QuotaFailure quota;
  quota.add_violations()->set_subject("max_rig_bytes");
  trailer.add_details()->PackFrom(quota);
  google::rpc::RetryInfo retry;
  retry.mutable_retry_delay()->set_nanos(250'000'000);
  trailer.add_details()->PackFrom(retry);

  const ErrorDetails details = Details(
      FromGrpc(grpc::Status(grpc::RESOURCE_EXHAUSTED, "too large", trailer.SerializeAsString())));
  EXPECT_EQ(details.reason, "LIMIT");
  EXPECT_EQ(details.domain, "sinew");
  EXPECT_EQ(details.metadata.at("limit"), "max_rig_bytes");
  EXPECT_EQ(details.field, "rig.meshes[0].positions");
  ASSERT_EQ(details.fields.size(), 1u);
  EXPECT_EQ(details.fields[0].description, "got 4 values");
  ASSERT_EQ(details.limits.size(), 1u);
  EXPECT_EQ(details.limits[0].field, "max_rig_bytes");
  EXPECT_EQ(details.retry_delay, absl::Milliseconds(250));
}

TEST(Details, IgnoresUnreadablePayloads) {
  const ErrorDetails none = Details(absl::NotFoundError("x"));
  EXPECT_TRUE(none.reason.empty() && none.field.empty() && !none.retry_delay);
  EXPECT_TRUE(Details(absl::OkStatus()).reason.empty());
  EXPECT_TRUE(
      Details(FromGrpc(grpc::Status(grpc::INTERNAL, "x", "\xff\xff garbage"))).reason.empty());
  absl::Status broken = absl::InternalError("x");
  broken.SetPayload("type.googleapis.com/google.rpc.ErrorInfo", absl::Cord("\x0a\xff"));
  EXPECT_TRUE(Details(broken).reason.empty());
}

TEST(ToStatus, KeepsReasonAndField) {
  v1::Problem problem;
  problem.set_code(3);
  problem.set_reason(v1::REASON_INVALID_FIELD);
  problem.set_message("pose.joint_transforms[7]: got nan, need a finite number");
  problem.set_field("pose.joint_transforms[7]");
  const absl::Status status = ToStatus(problem);
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_EQ(Details(status).reason, "INVALID_FIELD");
  EXPECT_EQ(Details(status).field, "pose.joint_transforms[7]");
  problem.set_code(0);
  EXPECT_EQ(ToStatus(problem).code(), absl::StatusCode::kUnknown) << "an error must never be OK";
  problem.set_code(-5);
  EXPECT_EQ(ToStatus(problem).code(), absl::StatusCode::kUnknown);
}

TEST(Durations, RoundTripAndClamp) {
  for (const absl::Duration d : {absl::ZeroDuration(), absl::Nanoseconds(1), -absl::Seconds(1.5),
                                 absl::Hours(1) + absl::Nanoseconds(999'999'999)}) {
    EXPECT_EQ(ToDuration(FromDuration(d)), d);
  }
  EXPECT_EQ(FromDuration(absl::InfiniteDuration()).seconds(), 315'576'000'000);
}

}  // namespace
}  // namespace sinew::client
