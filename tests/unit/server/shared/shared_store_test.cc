#include "server/shared/shared_store.h"

#include <gtest/gtest.h>

#include <atomic>

#include "tests/support/temporary_folder.h"
#include "tests/support/wait_until.h"

namespace sinew::server {
namespace {

// A store in a folder that can be cut off, as by its network.
class CutOffStore final : public ObjectStore {
 public:
  CutOffStore(std::unique_ptr<ObjectStore> store, std::atomic<bool>& cut,
              std::atomic<int>& requests)
      : store_(std::move(store)), cut_(cut), requests_(requests) {}
  absl::StatusOr<std::string> Get(const std::string& name, std::uint64_t most_bytes) override {
    return Cut() ? Error() : store_->Get(name, most_bytes);
  }
  absl::Status Put(const std::string& name, std::string_view bytes) override {
    return Cut() ? Error() : store_->Put(name, bytes);
  }
  absl::StatusOr<bool> Has(const std::string& name) override {
    return Cut() ? Error() : store_->Has(name);
  }
  absl::Status Remove(const std::string& name) override {
    return Cut() ? Error() : store_->Remove(name);
  }
  absl::StatusOr<std::vector<Object>> List(const std::string& prefix, const std::string& after,
                                           std::size_t count) override {
    return Cut() ? Error() : store_->List(prefix, after, count);
  }

 private:
  bool Cut() {
    ++requests_;
    return cut_;
  }
  static absl::Status Error() { return absl::UnavailableError("cut off"); }
  const std::unique_ptr<ObjectStore> store_;
  std::atomic<bool>& cut_;
  std::atomic<int>& requests_;
};

class SharedStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto folder = ObjectStore::Open({.store = "file://" + folder_.path().string()});
    shared_ = std::make_unique<SharedStore>(
        std::make_unique<CutOffStore>(*std::move(folder), cut_, requests_), metrics_,
        std::make_shared<spdlog::logger>("test"));
  }
  static SharedStore::Source Bytes(const std::string& bytes) {
    return [bytes] { return bytes; };
  }

  const testing::TemporaryFolder folder_;
  std::atomic<bool> cut_{false};
  std::atomic<int> requests_{0};
  Metrics metrics_{"0", "scalar"};
  std::unique_ptr<SharedStore> shared_;
};

TEST_F(SharedStoreTest, AsksNothingOfAStoreThatIsDown) {
  ASSERT_TRUE(shared_->Put("a/b", "1").ok());
  cut_ = true;
  EXPECT_EQ(shared_->Get("a/b", 9).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_FALSE(shared_->up());
  const int before = requests_;
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(shared_->Get("a/b", 9).ok());
  EXPECT_LE(requests_ - before, 2);  // those of its own thread
}

TEST_F(SharedStoreTest, NotFoundDoesNotMeanDown) {
  EXPECT_EQ(shared_->Get("a/none", 9).status().code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(shared_->up());
}

TEST_F(SharedStoreTest, FindsByItselfThatTheStoreIsBack) {
  cut_ = true;
  EXPECT_FALSE(shared_->Has("a/b").ok());
  cut_ = false;
  testing::WaitUntil([&] { return shared_->up(); });
  EXPECT_TRUE(shared_->Put("a/b", "1").ok());
}

TEST_F(SharedStoreTest, WritesLaterWhatWaitsForTheStore) {
  cut_ = true;
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
  cut_ = false;
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
