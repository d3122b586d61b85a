#include "server/shared/folder_store.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <thread>

#include "tests/support/temporary_folder.h"

namespace sinew::server {
namespace {

namespace fs = std::filesystem;

class FolderStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto store = ObjectStore::Open({.store = "file://" + folder_.path().string() + "/shared"});
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
  }
  const testing::TemporaryFolder folder_;
  std::unique_ptr<ObjectStore> store_;
};

TEST_F(FolderStoreTest, KeepsWhatWasPut) {
  ASSERT_TRUE(store_->Put("rigs/abc", "bytes").ok());
  EXPECT_EQ(*store_->Get("rigs/abc", 5), "bytes");
  EXPECT_TRUE(*store_->Has("rigs/abc"));
  EXPECT_FALSE(*store_->Has("rigs"));
  ASSERT_TRUE(store_->Remove("rigs/abc").ok());
  ASSERT_TRUE(store_->Remove("rigs/abc").ok());
  EXPECT_FALSE(*store_->Has("rigs/abc"));
  EXPECT_EQ(store_->Get("rigs/abc", 5).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(FolderStoreTest, RefusesObjectsThatAreTooLarge) {
  ASSERT_TRUE(store_->Put("a/b", "123456").ok());
  EXPECT_EQ(store_->Get("a/b", 5).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(FolderStoreTest, ListsInOrderBehindAName) {
  for (const char* name : {"x/c", "x/a", "x/b", "y/d"}) ASSERT_TRUE(store_->Put(name, "1").ok());
  const auto all = *store_->List("x/", "", 10);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].name, "x/a");
  EXPECT_EQ(all[2].name, "x/c");
  EXPECT_EQ(all[0].bytes, 1u);
  EXPECT_GT(all[0].modified_seconds, 1'600'000'000);
  const auto rest = *store_->List("x/", "x/a", 1);
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_EQ(rest[0].name, "x/b");
  EXPECT_TRUE(store_->List("none/", "", 10)->empty());
}

TEST_F(FolderStoreTest, ListsNoFileThatIsBeingWrittenAndRemovesAbandonedOnes) {
  ASSERT_TRUE(store_->Put("x/a", "1").ok());
  const fs::path folder = folder_.path() / "shared" / "x";
  testing::WriteAll(folder / "b.1.2.tmp", "half");
  testing::WriteAll(folder / "c.1.2.tmp", "half");
  fs::last_write_time(folder / "c.1.2.tmp",
                      fs::file_time_type::clock::now() - std::chrono::hours(48));
  EXPECT_EQ(store_->List("x/", "", 10)->size(), 1u);
  EXPECT_TRUE(fs::exists(folder / "b.1.2.tmp"));
  EXPECT_FALSE(fs::exists(folder / "c.1.2.tmp"));
}

TEST_F(FolderStoreTest, GivesAClaimToOneAtATime) {
  auto first = *store_->TakeClaim("bind");
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(*store_->TakeClaim("bind"), nullptr);
  EXPECT_NE(*store_->TakeClaim("another"), nullptr);
  first.reset();
  EXPECT_NE(*store_->TakeClaim("bind"), nullptr);
}

TEST_F(FolderStoreTest, NeverGivesAClaimTwiceWhileThreadsCompete) {
  std::atomic<int> holders{0}, most{0}, taken{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 500; ++round) {
        auto claim = *store_->TakeClaim("bind");
        if (claim == nullptr) continue;
        const int now = ++holders;
        if (now > most) most = now;
        ++taken;
        --holders;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(most, 1);
  EXPECT_GT(taken, 0);
}

TEST_F(FolderStoreTest, AShareThatIsNotMountedIsUnavailableAndNotEmpty) {
  ASSERT_TRUE(store_->Put("rigs/a", "1").ok());
  const fs::path folder = folder_.path() / "shared", away = folder_.path() / "away";
  fs::rename(folder, away);
  fs::create_directory(folder);
  EXPECT_EQ(store_->Get("rigs/a", 9).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(store_->Has("rigs/a").status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(store_->List("rigs/", "", 9).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(store_->Put("rigs/b", "1").code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(fs::is_empty(folder));
  fs::remove(folder);
  fs::rename(away, folder);
  EXPECT_TRUE(store_->Get("rigs/a", 9).ok());
}

TEST_F(FolderStoreTest, SharesThatComeAndGoAreNeverMistaken) {
  ASSERT_TRUE(store_->Put("rigs/a", "1").ok());
  const fs::path folder = folder_.path() / "shared", away = folder_.path() / "away";
  std::vector<std::string> written;
  int missing = 0;
  std::atomic<bool> done{false};
  std::thread user([&] {
    for (int i = 0; !done; ++i) {
      const absl::StatusOr<bool> found = store_->Has("rigs/a");
      if (found.ok() && !*found) ++missing;
      const std::string name = "x" + std::to_string(i) + "/a";
      if (store_->Put(name, "1").ok()) written.push_back(name);
      static_cast<void>(store_->TakeClaim(name));
    }
  });
  std::error_code error;
  for (int i = 0; i < 300 && !error; ++i) {
    fs::rename(folder, away);
    fs::create_directory(folder);
    fs::rename(away, folder, error);  // fails if anything was written to the folder
  }
  done = true;
  user.join();
  EXPECT_FALSE(error) << error.message();
  EXPECT_EQ(missing, 0);
  for (const std::string& name : written) EXPECT_TRUE(fs::exists(folder / name)) << name;
}

TEST_F(FolderStoreTest, AnotherStoreIsNotTakenForTheSame) {
  ASSERT_TRUE(store_->Put("rigs/a", "1").ok());
  EXPECT_NE(store_->Describe().find("/shared, a new store, identity "), std::string::npos);
  const std::string url = "file://" + folder_.path().string() + "/shared";
  const auto again = *ObjectStore::Open({.store = url});
  EXPECT_EQ(again->Describe().find("a new store"), std::string::npos);
  // A share may be mounted over the folder in which a server that started too early has made its
  // own store.
  fs::rename(folder_.path() / "shared", folder_.path() / "away");
  const auto other = *ObjectStore::Open({.store = url});
  EXPECT_TRUE(other->Put("rigs/a", "1").ok());
  const absl::Status put = store_->Put("rigs/b", "1");
  EXPECT_EQ(put.code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(put.message().find("another store than when this server started"), std::string::npos);
}

TEST_F(FolderStoreTest, AMarkerWithoutAnIdentityIsRefused) {
  const fs::path folder = folder_.path() / "empty";
  fs::create_directory(folder);
  testing::WriteAll(folder / "sinew-store", "\n");
  const SharedConfig config{.store = "file://" + folder.string()};
  const absl::Status opened = ObjectStore::Open(config).status();
  EXPECT_EQ(opened.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(opened.message().find("store: "), 0u) << opened;
  EXPECT_EQ(ObjectStore::Check(config).status(), opened);
}

TEST_F(FolderStoreTest, ServersThatMarkItAtTheSameTimeAgree) {
  for (int round = 0; round < 20; ++round) {
    const std::string url = "file://" + folder_.path().string() + "/new" + std::to_string(round);
    std::vector<std::unique_ptr<ObjectStore>> stores(4);
    std::vector<std::thread> threads;
    for (auto& store : stores) {
      threads.emplace_back([&] { store = *ObjectStore::Open({.store = url}); });
    }
    for (std::thread& thread : threads) thread.join();
    for (const auto& store : stores) EXPECT_TRUE(store->Put("rigs/a", "1").ok());
  }
}

TEST(ObjectStore, CheckSaysWhetherAStoreWillBeMade) {
  const testing::TemporaryFolder folder;
  const SharedConfig config{.store = "file://" + folder.path().string() + "/new"};
  EXPECT_NE(ObjectStore::Check(config)->find("is no store yet"), std::string::npos);
  EXPECT_FALSE(fs::exists(folder.path() / "new"));
  ASSERT_TRUE(ObjectStore::Open(config).ok());
  EXPECT_EQ(*ObjectStore::Check(config), "");
  testing::WriteAll(folder / "ca.pem", "no certificate");
  EXPECT_EQ(
      ObjectStore::Check({.store = "s3://art", .store_ca = folder / "ca.pem"}).status().code(),
      absl::StatusCode::kInvalidArgument);
}

TEST_F(FolderStoreTest, FilesArePrivateUnlessTheUmaskDecides) {
  const auto modes = [&](bool follows) {
    const fs::path folder = folder_.path() / (follows ? "allowed" : "private");
    const mode_t old = ::umask(027);
    auto store =
        ObjectStore::Open({.store = "file://" + folder.string(), .store_follows_umask = follows});
    EXPECT_TRUE(store.ok() && (*store)->Put("x/a", "1").ok());
    ::umask(old);
    return std::pair(fs::status(folder / "x").permissions(),
                     fs::status(folder / "x" / "a").permissions());
  };
  EXPECT_EQ(modes(false), std::pair(fs::perms(0700), fs::perms(0600)));
  EXPECT_EQ(modes(true), std::pair(fs::perms(0750), fs::perms(0640)));
}

TEST(ObjectStore, NamesWhatIsWrongWithAUrl) {
  const auto error = [](SharedConfig config) {
    return std::string(ObjectStore::Open(config).status().message());
  };
  EXPECT_EQ(error({.store = "/folder"}),
            "store: got \"/folder\", need file:///folder or s3://bucket/prefix");
  EXPECT_EQ(error({.store = "file://relative"}),
            "store: got \"file://relative\", need an absolute path, file:///folder");
  EXPECT_NE(error({.store = "file:///proc/none"}).find("store: cannot use"), std::string::npos);
}

}  // namespace
}  // namespace sinew::server
