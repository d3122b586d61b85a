#include "server/store/session_table.h"

#include <gtest/gtest.h>

#include <string>

#include "server/base/status.h"

namespace sinew::server {
namespace {

using std::chrono::seconds;

class SessionTableTest : public ::testing::Test {
 protected:
  SessionTableTest() { config_.count = 3; }

  std::shared_ptr<Session> Make(const std::string& source) {
    auto session = std::make_shared<Session>();
    session->name = RandomSessionName();
    session->source.set_rig("rigs/sha256-x");
    session->source.set_recipe_text(source);
    session->determinism_digest = source;
    session->bound = std::make_shared<BoundDeformer>("key", nullptr, Recipe{}, BindEstimate{});
    return session;
  }

  SessionConfig config_;
  const SessionTable::Time now_{seconds(1'000'000)};
};

TEST_F(SessionTableTest, LeasesEndAfterLastUse) {
  SessionTable table(config_);
  const auto added = table.Add(Make("lbs"), seconds(10), now_);
  ASSERT_TRUE(added.ok());
  const std::string name = added->session->name;
  EXPECT_TRUE(table.Use(name, now_ + seconds(9)).ok());
  EXPECT_TRUE(table.Get(name, now_ + seconds(18)).ok());
  EXPECT_EQ(table.Get(name, now_ + seconds(19)).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(table.Use(name, now_ + seconds(19)).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(table.Expire(now_ + seconds(18)), 0u);
  EXPECT_EQ(table.Expire(now_ + seconds(19)), 1u);
  EXPECT_TRUE(added->session->ended);
  EXPECT_EQ(table.count(), 0u);
}

TEST_F(SessionTableTest, RenewalMayChangeLease) {
  SessionTable table(config_);
  const std::string name = table.Add(Make("lbs"), seconds(10), now_)->session->name;
  EXPECT_EQ(table.Renew(name, seconds(100), now_)->expires, now_ + seconds(100));
  EXPECT_EQ(table.Renew(name, seconds(0), now_ + seconds(5))->expires, now_ + seconds(105));
}

TEST_F(SessionTableTest, RequestIdIdentifiesOneSession) {
  SessionTable table(config_);
  auto first = Make("lbs");
  first->request_id = "r1";
  ASSERT_TRUE(table.Add(first, seconds(10), now_).ok());
  auto again = Make("lbs");
  again->request_id = "r1";
  EXPECT_EQ(table.Add(again, seconds(10), now_)->session, first);
  EXPECT_EQ(*table.FindRequest("r1", first->source, now_), first);
  auto other = Make("dqs");
  other->request_id = "r1";
  EXPECT_EQ(table.Add(other, seconds(10), now_).status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(table.FindRequest("r1", other->source, now_).status().code(),
            absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(*table.FindRequest("", first->source, now_), nullptr);
  EXPECT_TRUE(table.Delete(first->name).ok());
  EXPECT_EQ(*table.FindRequest("r1", first->source, now_), nullptr);
}

TEST_F(SessionTableTest, ExpiredLeaseIsNotFound) {
  SessionTable table(config_);
  auto first = Make("lbs"), second = Make("lbs"), third = Make("lbs");
  for (const auto& session : {first, second, third}) session->request_id = "r1";
  const auto over = now_ + seconds(10);
  ASSERT_TRUE(table.Add(first, seconds(10), now_).ok());
  EXPECT_EQ(*table.FindRequest("r1", first->source, over), nullptr);
  EXPECT_TRUE(first->ended);
  ASSERT_TRUE(table.Add(second, seconds(10), now_).ok());
  EXPECT_EQ(table.Add(third, seconds(10), over)->session, third);
  EXPECT_TRUE(second->ended);
  EXPECT_EQ(*table.FindRequest("r1", third->source, over), third);
  EXPECT_EQ(table.count(), 1u);
  auto shared = Make("dqs"), again = Make("dqs");
  shared->shared = again->shared = true;
  ASSERT_TRUE(table.Add(shared, seconds(10), now_).ok());
  EXPECT_EQ(table.Add(again, seconds(10), over)->session, again);
  EXPECT_EQ(table.FindShared("rigs/sha256-x", "dqs", over + seconds(10)), nullptr);
  EXPECT_TRUE(again->ended);
}

TEST_F(SessionTableTest, SharedSessionsAreFoundUntilTheyFail) {
  SessionTable table(config_);
  auto session = Make("lbs");
  session->shared = true;
  ASSERT_TRUE(table.Add(session, seconds(10), now_).ok());
  EXPECT_EQ(table.FindShared("rigs/sha256-x", "lbs", now_ + seconds(9)), session);
  EXPECT_TRUE(table.Get(session->name, now_ + seconds(18)).ok());
  EXPECT_EQ(table.FindShared("rigs/sha256-x", "dqs", now_), nullptr);
  session->bound->Finish(absl::InternalError("x"));
  EXPECT_EQ(table.FindShared("rigs/sha256-x", "lbs", now_), nullptr);
  EXPECT_EQ(table.count(), 0u);
}

TEST_F(SessionTableTest, SessionLimitIsExact) {
  SessionTable table(config_);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(table.Add(Make("lbs"), seconds(10), now_).ok());
  const auto refused = table.Add(Make("lbs"), seconds(10), now_);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ReasonOf(refused.status()), v1::REASON_LIMIT);
}

TEST_F(SessionTableTest, ListsInPagesByName) {
  SessionTable table(config_);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(table.Add(Make("lbs"), seconds(10), now_).ok());
  bool more = false;
  const auto page = table.List("", 2, more);
  ASSERT_EQ(page.size(), 2u);
  EXPECT_TRUE(more);
  EXPECT_LT(page[0].session->name, page[1].session->name);
  EXPECT_EQ(table.List(page[1].session->name, 2, more).size(), 1u);
  EXPECT_FALSE(more);
}

TEST_F(SessionTableTest, NamesAreUnpredictable) {
  EXPECT_NE(RandomSessionName(), RandomSessionName());
  EXPECT_EQ(RandomSessionName().rfind("sessions/", 0), 0u);
  EXPECT_EQ(RandomSessionName().size(), 9u + 32u);
}

}  // namespace
}  // namespace sinew::server
