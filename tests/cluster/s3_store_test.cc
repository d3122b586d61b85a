// The S3 store of the server against a real S3 server, which s3_store_test.py starts.
//
// Variables: SINEW_S3_ENDPOINT, SINEW_S3_BUCKET, SINEW_S3_KEYS (credentials file), SINEW_S3_CA.
#include "server/shared/s3_store.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "tests/support/random.h"
#include "tests/support/temporary_folder.h"

namespace sinew::server {
namespace {

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

class S3StoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (Variable("SINEW_S3_ENDPOINT").empty()) GTEST_SKIP() << "run by s3_store_test.py";
    config_.store = "s3://" + Variable("SINEW_S3_BUCKET") + "/prefix";
    config_.store_endpoint = Variable("SINEW_S3_ENDPOINT");
    config_.store_path_style = true;
    config_.store_credentials = Variable("SINEW_S3_KEYS");
    config_.store_ca = Variable("SINEW_S3_CA");
    config_.store_seconds = 60;
    store_ = *ObjectStore::Open(config_);
  }
  static std::string Bytes(std::size_t count) {
    testing::Random random(7);
    std::string bytes(count, '\0');
    for (char& c : bytes) c = static_cast<char>(random.Below(256));
    return bytes;
  }

  SharedConfig config_;
  std::unique_ptr<ObjectStore> store_;
};

TEST_F(S3StoreTest, KeepsWhatWasPut) {
  const std::string bytes = Bytes(100'000);
  ASSERT_TRUE(store_->Put("rigs/a", bytes).ok());
  EXPECT_EQ(*store_->Get("rigs/a", 100'000), bytes);
  EXPECT_EQ(store_->Get("rigs/a", 99'999).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(*store_->Has("rigs/a"));
  ASSERT_TRUE(store_->Remove("rigs/a").ok());
  ASSERT_TRUE(store_->Remove("rigs/a").ok());
  EXPECT_FALSE(*store_->Has("rigs/a"));
  EXPECT_EQ(store_->Get("rigs/a", 9).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(S3StoreTest, WritesAnObjectOnce) {
  ASSERT_TRUE(store_->Put("rigs/once", "first").ok());
  ASSERT_TRUE(store_->Put("rigs/once", "second").ok());
  EXPECT_EQ(*store_->Get("rigs/once", 9), "first");
}

TEST_F(S3StoreTest, SendsLargeObjectsInParts) {
  const std::string bytes = Bytes((32 << 20) + 12'345);
  const absl::Status put = store_->Put("bound/large", bytes);
  ASSERT_TRUE(put.ok()) << put;
  const auto got = store_->Get("bound/large", bytes.size());
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_TRUE(*got == bytes);
}

TEST_F(S3StoreTest, KeepsEmptyObjects) {
  ASSERT_TRUE(store_->Put("rigs/empty", "").ok());
  EXPECT_EQ(*store_->Get("rigs/empty", 0), "");
}

TEST_F(S3StoreTest, ListsInPages) {
  for (int i = 0; i < 25; ++i) {
    ASSERT_TRUE(store_->Put("list/" + std::to_string(100 + i), std::string(i, 'x')).ok());
  }
  const auto all = store_->List("list/", "", 1000);
  ASSERT_TRUE(all.ok()) << all.status();
  ASSERT_EQ(all->size(), 25u);
  EXPECT_EQ((*all)[3].name, "list/103");
  EXPECT_EQ((*all)[3].bytes, 3u);
  EXPECT_GT((*all)[3].modified_seconds, 1'600'000'000);
  const auto page = *store_->List("list/", "list/109", 10);
  ASSERT_EQ(page.size(), 10u);
  EXPECT_EQ(page.front().name, "list/110");
  EXPECT_TRUE(store_->List("none/", "", 10)->empty());
}

TEST_F(S3StoreTest, RefusesWrongKeys) {
  const testing::TemporaryFolder folder;
  const AwsKeys keys = *AwsCredentials(config_.store_credentials).Keys();
  testing::WriteAll(folder / "keys",
                    "[default]\naws_access_key_id=" + keys.id + "\naws_secret_access_key=wrong\n");
  config_.store_credentials = folder / "keys";
  const auto wrong = *ObjectStore::Open(config_);
  EXPECT_EQ(wrong->Put("rigs/b", "1").code(), absl::StatusCode::kPermissionDenied);
  const absl::Status get = wrong->Get("rigs/b", 9).status();
  EXPECT_EQ(get.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_NE(get.message().find("SignatureDoesNotMatch"), std::string::npos) << get;
  EXPECT_EQ(wrong->List("rigs/", "", 9).status().code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(wrong->Has("rigs/b").status().code(), absl::StatusCode::kPermissionDenied);
  // Renewed keys are found without a restart.
  testing::WriteAll(folder / "keys", testing::ReadAll(Variable("SINEW_S3_KEYS")));
  EXPECT_TRUE(wrong->Put("rigs/b", "1").ok());
}

TEST_F(S3StoreTest, TrustsOnlyItsAuthorities) {
  if (config_.store_ca.empty()) GTEST_SKIP() << "without TLS";
  config_.store_ca.clear();
  EXPECT_EQ((*ObjectStore::Open(config_))->Has("rigs/a").status().code(),
            absl::StatusCode::kUnavailable);
}

TEST_F(S3StoreTest, ManyThreadsUseIt) {
  std::vector<std::thread> threads;
  std::atomic<int> failed{0};
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        const std::string name = "threads/" + std::to_string(t) + "-" + std::to_string(i);
        if (!store_->Put(name, name).ok() || *store_->Get(name, 99) != name) ++failed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 0);
}

}  // namespace
}  // namespace sinew::server
