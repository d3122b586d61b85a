// --local-cache: what one process has bound, others load.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/integration/cli/process.h"
#include "tests/support/temporary_folder.h"

namespace sinew::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class LocalCache : public ::testing::Test {
 protected:
  std::vector<fs::path> Bound() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(cache_)) {
      if (entry.is_regular_file() && entry.path().string().find("/bound/") != std::string::npos) {
        files.push_back(entry.path());
      }
    }
    return files;
  }
  Finished Bake(const std::string& out) const {
    return Sinew({"bake", "model:tube", "--deformer", "ddm", "--clip", "0", "--local",
                  "--local-cache", cache_, "--out", folder_ / out});
  }

  const TemporaryFolder folder_;
  const std::string cache_ = folder_ / "cache";
};

TEST_F(LocalCache, ProcessesAtOnceBindOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this, i] {
      const Finished bake = Bake(std::to_string(i) + ".npy");
      EXPECT_EQ(bake.exit_code, 0) << bake.err;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Bound().size(), 1u);
  for (int i = 1; i < 4; ++i) {
    EXPECT_EQ(ReadAll(folder_ / (std::to_string(i) + ".npy")), ReadAll(folder_ / "0.npy"));
  }
  EXPECT_TRUE(fs::is_empty(fs::path(cache_) / "claims"));
}

TEST_F(LocalCache, ADamagedOrMissingFileIsBoundAgain) {
  ASSERT_EQ(Bake("a.npy").exit_code, 0);
  ASSERT_EQ(Bound().size(), 1u);
  const std::string path = Bound().front().string();
  const std::string bytes = ReadAll(path);
  WriteAll(path, bytes.substr(0, bytes.size() / 2));
  EXPECT_EQ(Bake("b.npy").exit_code, 0);
  EXPECT_EQ(ReadAll(folder_ / "b.npy"), ReadAll(folder_ / "a.npy"));
  EXPECT_EQ(ReadAll(path), bytes);
  fs::remove_all(cache_);
  EXPECT_EQ(Bake("c.npy").exit_code, 0);
  EXPECT_EQ(ReadAll(folder_ / "c.npy"), ReadAll(folder_ / "a.npy"));
}

TEST_F(LocalCache, FilesHaveThePermissionsThatTheUmaskLeaves) {
  const mode_t old = ::umask(002);
  const Finished bake = Bake("a.npy");
  ::umask(old);
  ASSERT_EQ(bake.exit_code, 0) << bake.err;
  const auto mode_of = [](const fs::path& path) { return fs::status(path).permissions(); };
  EXPECT_EQ(mode_of(cache_), fs::perms(0775));
  EXPECT_EQ(mode_of(fs::path(cache_) / "bound"), fs::perms(0775));
  ASSERT_EQ(Bound().size(), 1u);
  EXPECT_EQ(mode_of(Bound().front()), fs::perms(0664));
}

TEST_F(LocalCache, WhatTheServiceReportsIsAWarning) {
  ASSERT_EQ(Bake("a.npy").exit_code, 0);
  ASSERT_EQ(Bound().size(), 1u);
  std::string bytes = ReadAll(Bound().front().string());
  bytes[bytes.size() / 2] ^= 1;
  const std::string damaged = bytes;
  for (const bool is_json : {true, false}) {
    WriteAll(Bound().front().string(), damaged);
    std::vector<std::string> arguments = {
        "bake",    "model:tube",    "--deformer", "ddm",   "--clip",          "0",
        "--local", "--local-cache", cache_,       "--out", folder_ / "b.npy", "--progress"};
    arguments.emplace_back(is_json ? "json" : "auto");
    arguments.emplace_back(is_json ? "--json" : "--quiet");
    const Finished bake = Sinew(arguments);
    EXPECT_EQ(bake.exit_code, 0) << bake.err;
    EXPECT_THAT(bake.err, HasSubstr("--local-cache: bound/"));
    std::istringstream lines(bake.err);
    for (std::string line; std::getline(lines, line);) {
      if (is_json) {
        EXPECT_TRUE(nlohmann::json::accept(line)) << line;
      } else {
        EXPECT_THAT(line, HasSubstr("sinew: warning: "));
      }
    }
  }
}

TEST_F(LocalCache, FullDiskIsOneWarning) {
  ASSERT_EQ(Bake("a.npy").exit_code, 0);
  fs::remove_all(cache_);
  fs::create_directory(cache_);
  if (::mount("tmpfs", cache_.c_str(), "tmpfs", 0, "size=16k") != 0) {
    GTEST_SKIP() << "needs the right to mount";
  }
  const Finished bake = Bake("b.npy");
  const Finished compare = Sinew({"compare", "model:tube", "--deformer", "lbs", "dqs", "ddm",
                                  "--frames", "0", "--local", "--local-cache", cache_});
  ::umount2(cache_.c_str(), MNT_DETACH);
  EXPECT_EQ(ReadAll(folder_ / "b.npy"), ReadAll(folder_ / "a.npy"));
  for (const Finished& run : {bake, compare}) {
    EXPECT_EQ(run.exit_code, 0) << run.err;
    const std::string line =
        "sinew: warning: --local-cache: " + cache_ + ": cannot write: No space left on device; ";
    const std::size_t first = run.err.find("--local-cache");
    EXPECT_THAT(run.err, HasSubstr(line));
    EXPECT_EQ(run.err.find("--local-cache", first + 1), std::string::npos) << run.err;
  }
}

TEST_F(LocalCache, WrongUsesAreRefused) {
  const Finished alone =
      Sinew({"bind", "model:tube", "--deformer", "lbs", "--local-cache", cache_});
  EXPECT_EQ(alone.exit_code, 64);
  EXPECT_THAT(alone.err, HasSubstr("--local-cache: got it without --local"));
  const Finished url = Sinew(
      {"bind", "model:tube", "--deformer", "lbs", "--local", "--local-cache", "file://" + cache_});
  EXPECT_EQ(url.exit_code, 64);
  EXPECT_THAT(url.err, HasSubstr("need the path of a folder"));
  WriteAll(cache_, "a file");
  const Finished file = Bake("a.npy");
  EXPECT_EQ(file.exit_code, 73);
  EXPECT_THAT(file.err, HasSubstr("--local-cache: cannot use " + cache_ + ": it is not a folder"));
  EXPECT_FALSE(fs::exists(folder_ / "a.npy"));
}

}  // namespace
}  // namespace sinew::testing
