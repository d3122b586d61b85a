#include "client/cli/base/exit_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace sinew::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// One row per code of absl::Status: the contract's exit codes.
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

TEST(ExitCode, EveryStatusCodeHasOne) {
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

TEST(ExitCode, PartOfTheProgramDecidesFirst) {
  EXPECT_EQ(ExitCode(UsageError("--frames: got x")), 64);
  EXPECT_EQ(ExitCode(OutputError("out: cannot write")), 73);
  EXPECT_EQ(ExitCode(Prefixed("a.pc2", OutputError("full"))), 73) << "a prefix keeps the part";
}

TEST(ExitCode, TextNamesProgramMessageAndMend) {
  const std::string text = ErrorText(absl::UnavailableError("server: no connection"), "bake");
  EXPECT_THAT(text, StartsWith("sinew: server: no connection\n"));
  EXPECT_THAT(text, AllOf(HasSubstr("sinewd"), HasSubstr("--server"), HasSubstr("--local")));
  EXPECT_THAT(ErrorText(UsageError("--frames: got x"), "bake"), HasSubstr("sinew bake --help"));
  EXPECT_THAT(ErrorText(absl::InvalidArgumentError("source.recipe_text: got nope"), "bind"),
              HasSubstr("sinew methods"));
}

TEST(ExitCode, HintsOfRigsAndSessionsAreForThoseOfServers) {
  const auto text = [](const char* message) {
    return ErrorText(absl::NotFoundError(message), "bake");
  };
  EXPECT_THAT(text("rigs/sha256-12: no such rig on this server"), HasSubstr("sinew rigs"));
  EXPECT_THAT(text("session: no sessions/12 on this server, or its lease is over"),
              HasSubstr("sinew sessions"));
  EXPECT_THAT(text("targets[1]: the session was deleted"), HasSubstr("sinew sessions"));
  for (const char* file : {"original.glb: no such file", "session_1.fbx: no such file"}) {
    EXPECT_EQ(text(file), "sinew: " + std::string(file) + "\n");
  }
}

TEST(ExitCode, AReaderThatLeftIsNoNews) {
  EXPECT_EQ(ExitCode(ReaderGone()), 73);
  EXPECT_EQ(ErrorText(ReaderGone(), "inspect"), "");
}

TEST(ExitCode, TextHasNoControlCharacters) {
  const std::string text =
      ErrorText(absl::InvalidArgumentError("joint \x1b[31mred\a\x7f"), "inspect");
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, HasSubstr("joint ?[31mred??"));
}

TEST(ExitCode, EmptyMessageStillSaysSomething) {
  EXPECT_THAT(ErrorText(absl::Status(absl::StatusCode::kInternal, ""), ""), HasSubstr("INTERNAL"));
}

}  // namespace
}  // namespace sinew::cli
