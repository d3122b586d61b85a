#include "server/base/log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "server/base/files.h"
#include "server/base/log_limit.h"
#include "server/base/printable.h"
#include "tests/support/temporary_folder.h"

namespace sinew::server {
namespace {

using std::chrono::seconds;

// What `log` writes to stderr, which goes to a file meanwhile.
template <class Write>
std::string Stderr(const LogConfig& config, const Write& write) {
  const testing::TemporaryFolder folder;
  const std::string path = (folder.path() / "log").string();
  const Descriptor old(::dup(STDERR_FILENO)),
      file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  ::dup2(file.fd(), STDERR_FILENO);
  {
    const auto output = LogOutput::ToStderr(config);
    write(*output->log());
  }
  ::dup2(old.fd(), STDERR_FILENO);
  return ReadWholeFile(path).value();
}

TEST(Log, ClientTextCannotForgeLines) {
  const std::string forged = "a\n2026-11-23T09:09:09 err FORGED \x1b[31m";
  for (const char* format : {"text", "json"}) {
    const std::string log = Stderr({.format = format, .level = "info", .audit = {}},
                                   [&](spdlog::logger& to) { to.info("{}", forged); });
    EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 1) << log;
    EXPECT_EQ(log.find('\x1b'), std::string::npos) << log;
    EXPECT_NE(log.find("x0a2026-11-23T09:09:09 err FORGED"), std::string::npos) << log;
  }
}

TEST(Log, LinesAreBounded) {
  const std::string log =
      Stderr({}, [](spdlog::logger& to) { to.info(std::string(1 << 20, 'x')); });
  EXPECT_LT(log.size(), 5000u);
  EXPECT_EQ(log.substr(log.size() - 4), "...\n");
}

TEST(Log, LevelChangesWhileLogging) {
  const std::string log = Stderr({}, [](spdlog::logger& to) {
    to.debug("one");
    to.set_level(spdlog::level::debug);
    to.debug("two");
  });
  EXPECT_EQ(log.find("one"), std::string::npos);
  EXPECT_NE(log.find(" debug two\n"), std::string::npos);
}

TEST(Log, AProgramThatHoldsTheServerTakesItsMessages) {
  std::string taken;
  LogConfig config;
  config.take = [&](const std::string& message) { taken += message + "|"; };
  const std::string log = Stderr(config, [](spdlog::logger& to) { to.error("one\ntwo"); });
  EXPECT_EQ(log, "");
  EXPECT_EQ(taken, "one\\x0atwo|");
}

TEST(Log, PipeThatNothingReadsLosesLinesOnly) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const Descriptor reader(ends[0]), writer(ends[1]);
  const std::string path = "/proc/self/fd/" + std::to_string(writer.fd());
  auto output = LogOutput::ToFile(path).value();
  for (int i = 0; i < 10'000; ++i) output->log()->info(std::string(100, 'x'));
  EXPECT_GT(output->dropped(), 1000u);
  output.reset();  // ends, although nothing reads
}

TEST(Log, ReopensAfterRotation) {
  const testing::TemporaryFolder folder;
  const std::string path = (folder.path() / "audit").string();
  {
    const auto output = LogOutput::ToFile(path).value();
    output->log()->info("one");
    std::filesystem::rename(path, path + ".1");
    EXPECT_TRUE(output->Reopen().ok());
    output->log()->info("two");
  }
  EXPECT_NE(ReadWholeFile(path).value().find("two\n"), std::string::npos);
  EXPECT_FALSE(LogOutput::ToFile("/no/such/folder/audit").ok());
}

TEST(LogLimit, AdmitsTenLinesOfAKindInEachPeriod) {
  LogLimit limit;
  const Clock::Time start;
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(limit.Admit({"a", {}}, start));
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(limit.Admit({"a", {}}, start));
  EXPECT_TRUE(limit.Admit({"b", {}}, start));
  EXPECT_TRUE(limit.Admit({"a", "alice"}, start)) << "one principal of a client hides no other";
  EXPECT_TRUE(limit.Admit({"a", {}, absl::StatusCode::kPermissionDenied}, start));
  EXPECT_TRUE(limit.TakeEnded(start + seconds(9)).empty());
  const auto ended = limit.TakeEnded(start + LogLimit::kPeriod);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].kind.client, "a");
  EXPECT_EQ(ended[0].lines, 5u);
  EXPECT_TRUE(limit.Admit({"a", {}}, start + LogLimit::kPeriod));
}

TEST(LogLimit, KnowsABoundedNumberOfKinds) {
  LogLimit limit;
  const Clock::Time start;
  for (std::size_t i = 0; i < LogLimit::kKinds; ++i) limit.Admit({std::to_string(i), {}}, start);
  int admitted = 0;
  for (int i = 0; i < 100; ++i)
    admitted += limit.Admit({"new " + std::to_string(i), {}}, start) ? 1 : 0;
  EXPECT_EQ(admitted, 10) << "all others are one kind";
  const auto ended = limit.TakeEnded(start + LogLimit::kPeriod);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].lines, 90u);
  EXPECT_FALSE(ended[0].kind.code) << "of all codes";
}

TEST(Printable, EscapesControlCharactersAndKeepsText) {
  EXPECT_EQ(Printable("a\n\x7f b"), "a\\x0a\\x7f b");
  EXPECT_EQ(Shortened("abc", 3), "abc");
  EXPECT_EQ(Shortened("ab\xc3\xa4", 3), "ab...") << "not in the middle of a character";
}

}  // namespace
}  // namespace sinew::server
