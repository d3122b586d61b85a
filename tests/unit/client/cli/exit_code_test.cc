#include "client/cli/base/exit_code.h"

#include <absl/strings/cord.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <set>
#include <utility>

#include "client/bake/base/errors.h"
#include "client/bake/files/output_file.h"
#include "google/rpc/error_details.pb.h"

namespace sinew::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// One row per code of absl::Status.
constexpr std::pair<absl::StatusCode, int> kCodes[] = {
    {absl::StatusCode::kOk, 0},
    {absl::StatusCode::kCancelled, 75},
    {absl::StatusCode::kUnknown, 70},
    {absl::StatusCode::kInvalidArgument, 65},
    {absl::StatusCode::kDeadlineExceeded, 75},
    {absl::StatusCode::kNotFound, 65},
    {absl::StatusCode::kAlreadyExists, 65},
    {absl::StatusCode::kPermissionDenied, 77},
    {absl::StatusCode::kResourceExhausted, 75},
    {absl::StatusCode::kFailedPrecondition, 65},
    {absl::StatusCode::kAborted, 75},
    {absl::StatusCode::kOutOfRange, 65},
    {absl::StatusCode::kUnimplemented, 65},
    {absl::StatusCode::kInternal, 70},
    {absl::StatusCode::kUnavailable, 69},
    {absl::StatusCode::kDataLoss, 65},
    {absl::StatusCode::kUnauthenticated, 77},
};

TEST(ExitCode, MapsEveryStatusCode) {
  std::set<int> seen;
  for (const auto& [code, exit] : kCodes) {
    EXPECT_EQ(ExitCode(absl::Status(code, "what")), exit) << absl::StatusCodeToString(code);
    seen.insert(static_cast<int>(code));
  }
  EXPECT_EQ(seen.size(), 17U) << "codes 0 to 16";
}

TEST(ExitCode, CodesOfLaterVersionsAreInternal) {
  EXPECT_EQ(ExitCode(absl::Status(static_cast<absl::StatusCode>(99), "what")), 70);
}

TEST(ExitCode, UsageAndOutputErrorsOverrideTheCode) {
  EXPECT_EQ(ExitCode(UsageError("--frames: got x")), 64);
  EXPECT_EQ(ExitCode(bake::OutputError("out: cannot write")), 73);
  EXPECT_EQ(ExitCode(bake::Prefixed("a.pc2", bake::OutputError("full"))), 73)
      << "a prefix keeps the part";
}

TEST(ExitCode, TextHasMessageAndHint) {
  const std::string text = ErrorText(absl::UnavailableError("server: no connection"), "bake");
  EXPECT_THAT(text, StartsWith("sinew: server: no connection\n"));
  EXPECT_THAT(text, AllOf(HasSubstr("sinewd"), HasSubstr("--server"), HasSubstr("--local")));
  EXPECT_THAT(ErrorText(UsageError("--frames: got x"), "bake"), HasSubstr("sinew bake --help"));
}

// An error of a server about one field of a request.
absl::Status FieldError(const std::string& field) {
  google::rpc::BadRequest details;
  details.add_field_violations()->set_field(field);
  absl::Status status = absl::InvalidArgumentError(field + ": got nope");
  status.SetPayload("type.googleapis.com/google.rpc.BadRequest",
                    absl::Cord(details.SerializeAsString()));
  return status;
}

TEST(ExitCode, FieldOfTheDetailsDecidesTheHint) {
  EXPECT_THAT(ErrorText(FieldError("source.recipe_text"), "bind"),
              AllOf(StartsWith("sinew: --deformer: got nope\n"), HasSubstr("sinew methods")));
  EXPECT_THAT(ErrorText(FieldError("source.rig"), "bind"),
              AllOf(StartsWith("sinew: RIG: got nope\n"), HasSubstr("sinew rigs")));
  EXPECT_EQ(ErrorText(FieldError("ttl"), "bind"), "sinew: --ttl: got nope\n");
}

TEST(ExitCode, MessagesAreNotParsed) {
  for (const char* message :
       {"source.recipe_text: got nope", "session: no such file", "original.glb: no such rig"}) {
    EXPECT_EQ(ErrorText(absl::NotFoundError(message), "bind"),
              "sinew: " + std::string(message) + "\n");
  }
}

TEST(ExitCode, HintIsSecondLine) {
  const absl::Status status = WithHint(absl::NotFoundError("rigs/1: none"), "see `sinew rigs`");
  EXPECT_EQ(ErrorText(status, "bind"), "sinew: rigs/1: none\nsinew: see `sinew rigs`\n");
  EXPECT_EQ(ExitCode(status), 65);
  EXPECT_TRUE(WithHint(absl::OkStatus(), "x").ok());
}

TEST(ExitCode, TextHasNoControlCharacters) {
  const std::string text =
      ErrorText(absl::InvalidArgumentError("joint \x1b[31mred\a\x7f"), "inspect");
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, HasSubstr("joint ?[31mred??"));
}

TEST(ExitCode, EmptyMessageShowsTheCode) {
  EXPECT_THAT(ErrorText(absl::Status(absl::StatusCode::kInternal, ""), ""), HasSubstr("INTERNAL"));
}

TEST(NameOutput, ChangesErrorsOfTheFileOnly) {
  const absl::Status full = bake::CannotWrite("a.png", ENOSPC);
  EXPECT_EQ(NameOutput(full, "--picture").message(),
            "--picture: cannot write a.png: No space left on device");
  EXPECT_EQ(ExitCode(NameOutput(full, "--picture")), ExitCode(full));
  EXPECT_EQ(NameOutput(absl::NotFoundError("clip: none"), "--picture").message(), "clip: none");
  EXPECT_TRUE(NameOutput(absl::OkStatus(), "--picture").ok());
}

}  // namespace
}  // namespace sinew::cli
