#include "server/shared/session_records.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>

#include "server/shared/redis_client.h"
#include "tests/support/redis_process.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_keys.h"
#include "tests/support/wait_until.h"

namespace sinew::server {
namespace {

Log QuietLog() {
  return std::make_shared<spdlog::logger>("test");
}

const std::string kName = "sessions/" + std::string(32, 'a');
const std::string kOtherName = "sessions/" + std::string(32, 'b');

SessionRecord MakeRecord() {
  SessionRecord record{
      .source = {}, .request_id = "request", .ttl_ms = 60'500, .last_ms = 4'000'000'000'000};
  record.source.set_rig("rigs/sha256-x");
  record.source.set_recipe_text("ddm(radius=0.03)");
  return record;
}

TEST(RedisAddress, IsAUrlOrASocket) {
  EXPECT_EQ(ParseRedisAddress("redis://host")->url, "http://host:6379");
  EXPECT_EQ(ParseRedisAddress("redis://host:7000/3")->url, "http://host:7000");
  EXPECT_EQ(ParseRedisAddress("redis://host:7000/3")->database, 3);
  EXPECT_EQ(ParseRedisAddress("rediss://[::1]")->url, "https://[::1]:6379");
  EXPECT_EQ(ParseRedisAddress("rediss://[::1]:7000")->url, "https://[::1]:7000");
  EXPECT_EQ(ParseRedisAddress("unix:/run/redis")->socket, "/run/redis");
  for (const char* wrong : {"", "host:6379", "http://host", "redis://", "redis://:6379",
                            "redis://host/x", "redis://host/-1", "redis://user@host", "unix:run",
                            "redis://host/70000", "redis://host:70000"}) {
    EXPECT_EQ(ParseRedisAddress(wrong).status().code(), absl::StatusCode::kInvalidArgument)
        << wrong;
  }
  EXPECT_EQ(ParseRedisAddress("redis://me:secret@host").status().message().find("secret"),
            std::string::npos);
}

class RedisRecordsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::RedisProcess::Installed()) GTEST_SKIP() << "redis-server is not installed";
    redis_ = std::make_unique<testing::RedisProcess>();
    records_ = Open();
    other_ = Open();
  }
  std::unique_ptr<SessionRecords> Open() {
    auto records = SessionRecords::Open({.redis = redis_->address()}, QuietLog());
    EXPECT_TRUE(records.ok()) << records.status();
    return *std::move(records);
  }
  std::unique_ptr<testing::RedisProcess> redis_;
  std::unique_ptr<SessionRecords> records_, other_;
};

TEST_F(RedisRecordsTest, AnotherServerFindsTheRecord) {
  const std::string name = kName;
  EXPECT_EQ(other_->Find("acme", name).status().code(), absl::StatusCode::kNotFound);
  ASSERT_TRUE(records_->Keep("acme", name, MakeRecord()).ok());
  const SessionRecord found = *other_->Find("acme", name);
  EXPECT_EQ(found.source.SerializeAsString(), MakeRecord().source.SerializeAsString());
  EXPECT_EQ(found.ttl_ms, 60'500);
  EXPECT_EQ(found.request_id, "request");
  EXPECT_EQ(*other_->FindRequest("acme", "request"), name);
  EXPECT_EQ(*other_->FindRequest("bravo", "request"), "");
  EXPECT_FALSE(other_->Find("bravo", name).ok());
}

TEST_F(RedisRecordsTest, ADeletedSessionEndsEverywhere) {
  ASSERT_TRUE(records_->Keep("acme", kName, MakeRecord()).ok());
  ASSERT_TRUE(other_->Delete("acme", kName).ok());
  EXPECT_EQ(records_->Find("acme", kName).status().code(), absl::StatusCode::kNotFound);
  const auto goes_on = *records_->Renew(
      {{"acme", kName, true, MakeRecord()}, {"acme", kOtherName, true, MakeRecord()}});
  EXPECT_FALSE(goes_on[0]);
  EXPECT_TRUE(goes_on[1]);
}

TEST_F(RedisRecordsTest, KeepsAgainWhatRedisHasLost) {
  ASSERT_TRUE(records_->Keep("acme", kName, MakeRecord()).ok());
  redis_->Kill();
  EXPECT_EQ(records_->Find("acme", kName).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_FALSE(records_->up());
  redis_->Start();
  EXPECT_EQ(records_->Find("acme", kName).status().code(), absl::StatusCode::kUnavailable);
  absl::StatusOr<std::vector<bool>> goes_on;
  testing::WaitUntil([&] {  // it may not listen yet
    goes_on = records_->Renew({{"acme", kName, false, MakeRecord()}});
    return goes_on.ok();
  });
  EXPECT_TRUE(goes_on->front());
  EXPECT_TRUE(records_->up());
  EXPECT_TRUE(other_->Find("acme", kName).ok());
}

TEST_F(RedisRecordsTest, DoesNotWaitLongForAPausedRedis) {
  ASSERT_TRUE(records_->Keep("acme", kName, MakeRecord()).ok());
  redis_->Signal(SIGSTOP);
  EXPECT_EQ(records_->Find("acme", kName).status().code(), absl::StatusCode::kUnavailable);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(records_->Find("acme", kName).ok());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
  redis_->Signal(SIGCONT);
}

TEST_F(RedisRecordsTest, GivesAClaimToOneServer) {
  auto claim = *records_->TakeClaim("bind");
  ASSERT_NE(claim, nullptr);
  EXPECT_EQ(*other_->TakeClaim("bind"), nullptr);
  records_->RenewClaims();
  claim.reset();
  EXPECT_NE(*other_->TakeClaim("bind"), nullptr);
}

TEST(RedisClient, UsesTlsAndAPassword) {
  if (!testing::RedisProcess::Installed()) GTEST_SKIP() << "redis-server is not installed";
  const testing::TemporaryFolder folder;
  const testing::TestAuthority authority("authority"), another("another");
  const auto certificate = authority.Issue("redis", "IP:127.0.0.1");
  testing::WriteAll(folder / "ca", authority.pem());
  testing::WriteAll(folder / "other", another.pem());
  testing::WriteAll(folder / "cert", certificate.pem);
  testing::WriteAll(folder / "key", certificate.key_pem);
  testing::WriteAll(folder / "password", "secret\n");
  testing::WriteAll(folder / "wrong", "guess\n");
  const int port = 20'000 + ::getpid() % 20'000;
  const testing::RedisProcess redis({"--tls-port", std::to_string(port), "--tls-cert-file",
                                     folder / "cert", "--tls-key-file", folder / "key",
                                     "--tls-ca-cert-file", folder / "ca", "--tls-auth-clients",
                                     "no", "--requirepass", "secret", "--bind", "127.0.0.1"});
  const auto ping = [&](const std::string& ca, const std::string& password) {
    const auto client = *RedisClient::Create({.redis = "rediss://127.0.0.1:" + std::to_string(port),
                                              .redis_user = {},
                                              .redis_password_file = folder / password,
                                              .redis_ca = folder / ca},
                                             QuietLog());
    return client->Run(RedisClient::Command{"PING"}).status();
  };
  EXPECT_TRUE(ping("ca", "password").ok()) << ping("ca", "password");
  EXPECT_EQ(ping("other", "password").code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ping("ca", "wrong").code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace sinew::server
