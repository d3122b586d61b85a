#include "server/shared/shared_store.h"

#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>

#include <atomic>
#include <sstream>

#include "tests/support/hooked_store.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/wait_until.h"

namespace sinew::server {
namespace {

class SharedStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    shared_ = std::make_unique<SharedStore>(
        std::make_unique<testing::HookedStore>(folder_.path().string(), hooks_), metrics_,
        std::make_shared<spdlog::logger>("test"));
  }
  static SharedStore::Source Bytes(const std::string& bytes) {
    return [bytes] { return bytes; };
  }

  const testing::TemporaryFolder folder_;
  testing::StoreHooks hooks_;
  Metrics metrics_{"0", "scalar"};
  std::unique_ptr<SharedStore> shared_;
};

TEST_F(SharedStoreTest, AsksNothingOfAStoreThatIsDown) {
  ASSERT_TRUE(shared_->Put("a/b", "1").ok());
  hooks_.cut = true;
  EXPECT_EQ(shared_->Get("a/b", 9).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_FALSE(shared_->up());
  const int before = hooks_.requests;
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(shared_->Get("a/b", 9).ok());
  EXPECT_LE(hooks_.requests - before, 2);  // those of its own thread
}

TEST_F(SharedStoreTest, NotFoundDoesNotMeanDown) {
  EXPECT_EQ(shared_->Get("a/none", 9).status().code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(shared_->up());
}

TEST_F(SharedStoreTest, FindsByItselfThatTheStoreIsBack) {
  hooks_.cut = true;
  EXPECT_FALSE(shared_->Has("a/b").ok());
  hooks_.cut = false;
  testing::WaitUntil([&] { return shared_->up(); });
  EXPECT_TRUE(shared_->Put("a/b", "1").ok());
}

TEST_F(SharedStoreTest, WritesLaterWhatWaitsForTheStore) {
  hooks_.cut = true;
  EXPECT_FALSE(shared_->Has("a/b").ok());
  std::atomic<int> asked{0};
  std::atomic<bool> reported{false};
  for (int i = 0; i < 10; ++i) {
    shared_->PutLater("a/" + std::to_string(i), [&asked, i] {
      ++asked;
      return std::to_string(i);
    });
  }
  EXPECT_EQ(shared_->pending(), 10u);
  EXPECT_EQ(asked, 0);  // sources are not asked for bytes that cannot be written
  shared_->PutLater(
      "a/last", [] { return std::string("1"); },
      [&](const absl::Status& status) { reported = status.ok(); });
  hooks_.cut = false;
  testing::WaitUntil([&] { return shared_->pending() == 0; });
  EXPECT_EQ(*shared_->Get("a/7", 9), "7");
  EXPECT_EQ(asked, 10);
  testing::WaitUntil([&] { return reported.load(); });
}

TEST_F(SharedStoreTest, WritesNoObjectTwice) {
  ASSERT_TRUE(shared_->Put("a/b", "1").ok());
  std::atomic<bool> asked{false};
  std::atomic<bool> done{false};
  shared_->PutLater(
      "a/b",
      [&] {
        asked = true;
        return std::string("2");
      },
      [&](const absl::Status& status) {
        EXPECT_TRUE(status.ok());
        done = true;
      });
  testing::WaitUntil([&] { return done.load(); });
  EXPECT_FALSE(asked);
  EXPECT_EQ(*shared_->Get("a/b", 9), "1");
}

TEST_F(SharedStoreTest, DropsWhatHasNothingToWriteAnyMore) {
  shared_->PutLater("a/b", [] { return absl::NotFoundError("deleted"); });
  testing::WaitUntil([&] { return shared_->pending() == 0; });
  EXPECT_FALSE(*shared_->Has("a/b"));
}

TEST_F(SharedStoreTest, AsksASourceAgainThatHasNothingYet) {
  std::atomic<int> asked{0};
  shared_->PutLater("a/b", [&]() -> absl::StatusOr<std::string> {
    if (++asked < 3) return absl::UnavailableError("not yet");
    return "1";
  });
  testing::WaitUntil([&] { return shared_->pending() == 0; });
  EXPECT_EQ(*shared_->Get("a/b", 9), "1");
}

TEST_F(SharedStoreTest, AnObjectThatFailsIsWrittenLaterAndHindersNoOther) {
  std::atomic<int> failures{0};
  hooks_.before_put = [&](const std::string& name) -> absl::Status {
    if (name != "a/bad" || ++failures > 3) return absl::OkStatus();
    return absl::ResourceExhaustedError("full");
  };
  shared_->PutLater("a/bad", Bytes("1"));
  shared_->PutLater("a/good", Bytes("1"));
  testing::WaitUntil([&] { return shared_->Get("a/good", 9).ok(); });
  EXPECT_TRUE(shared_->up());
  testing::WaitUntil([&] { return shared_->pending() == 0; });
  EXPECT_TRUE(shared_->Get("a/bad", 9).ok());
  EXPECT_EQ(failures, 4);
}

TEST_F(SharedStoreTest, AFullStoreIsOneLineAndEndsAtOnce) {
  std::ostringstream text;
  Metrics metrics("0", "scalar");
  const Log log = std::make_shared<spdlog::logger>(
      "test", std::make_shared<spdlog::sinks::ostream_sink_mt>(text));
  SharedStore shared(std::make_unique<testing::HookedStore>(folder_.path().string(), hooks_),
                     metrics, log);
  std::atomic<bool> fails{true}, is_full{true};
  std::atomic<int> failures{0};
  hooks_.before_put = [&](const std::string&) -> absl::Status {
    if (!fails) return absl::OkStatus();
    ++failures;
    return is_full ? absl::ResourceExhaustedError("full") : absl::InternalError("broken");
  };
  const auto lines = [&](const char* why) {
    const std::string all = text.str(), line = absl::StrCat("is not written: ", why);
    std::size_t count = 0;
    for (std::size_t at = 0; (at = all.find(line, at)) != std::string::npos;) {
      ++at, ++count;
    }
    return count;
  };
  for (int k = 0; k < 5; ++k) shared.PutLater(absl::StrCat("a/", k), Bytes("1"));
  testing::WaitUntil([&] { return failures >= 10; });
  fails = false;
  testing::WaitUntil([&] { return shared.pending() == 0; });
  fails = true;
  for (const bool again : {true, false}) {  // another fault is named
    is_full = again;
    failures = 0;
    shared.PutLater(absl::StrCat("b/", again), Bytes("1"));
    testing::WaitUntil([&] { return failures >= 2; });
  }
  const auto start = std::chrono::steady_clock::now();
  shared.Stop(std::chrono::minutes(10));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::minutes(5)) << "all failed";
  EXPECT_EQ(lines("full"), 1u) << text.str();
  EXPECT_EQ(lines("broken"), 1u) << text.str();
}

TEST_F(SharedStoreTest, WhatHasFailedIsTriedOnceMoreAtTheEnd) {
  std::atomic<bool> full{true};
  std::atomic<int> failures{0};
  hooks_.before_put = [&](const std::string&) -> absl::Status {
    if (!full) return absl::OkStatus();
    ++failures;
    return absl::ResourceExhaustedError("full");
  };
  for (int k = 0; k < 5; ++k) shared_->PutLater(absl::StrCat("a/", k), Bytes("1"));
  testing::WaitUntil([&] { return failures >= 30; });  // the next attempts are seconds away
  full = false;
  const auto start = std::chrono::steady_clock::now();
  shared_->Stop(std::chrono::minutes(10));
  EXPECT_EQ(shared_->pending(), 0u);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

TEST_F(SharedStoreTest, AnObjectThatIsReplacedWhileItIsWrittenIsNotForgotten) {
  std::atomic<int> asked{0};
  shared_->PutLater("a/b", [&]() -> absl::StatusOr<std::string> {
    shared_->PutLater("a/b", [&] {
      ++asked;
      return std::string("second");
    });
    return absl::NotFoundError("deleted");
  });
  testing::WaitUntil([&] { return shared_->pending() == 0; });
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(*shared_->Get("a/b", 9), "second");
}

TEST_F(SharedStoreTest, StopWritesWhatWaitsAndNothingOnceItIsDown) {
  for (int i = 0; i < 20; ++i) shared_->PutLater("a/" + std::to_string(i), Bytes("1"));
  shared_->Stop(std::chrono::seconds(30));
  const auto store = *ObjectStore::Open({.store = "file://" + folder_.path().string()});
  EXPECT_EQ(store->List("a/", "", 100)->size(), 20u);
  shared_->PutLater("a/late", Bytes("1"));
  EXPECT_FALSE(*store->Has("a/late"));
}

}  // namespace
}  // namespace sinew::server
