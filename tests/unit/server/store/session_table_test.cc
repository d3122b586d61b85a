#include "server/store/session_table.h"

#include <gtest/gtest.h>

#include <string>

#include "server/base/status.h"
#include "server/shared/random_name.h"

namespace sinew::server {
namespace {

using std::chrono::seconds;

const std::string kTenant = "acme";
const Caller kCaller{.peer = "10.0.0.1", .tenant = kTenant, .principal = {}};

class SessionTableTest : public ::testing::Test {
 protected:
  SessionTableTest() { config_.count = 3; }

  std::shared_ptr<Session> Make(const std::string& source) {
    auto session = std::make_shared<Session>();
    session->name = "sessions/" + RandomHex();
    session->source.set_rig("rigs/sha256-x");
    session->source.set_recipe_text(source);
    session->determinism_digest = source;
    session->bound = std::make_shared<BoundDeformer>("key", nullptr, Recipe{},
                                                     std::make_shared<const Forecast>());
    return session;
  }

  SessionConfig config_;
  const SessionTable::Time now_{seconds(1'000'000)};
};

TEST_F(SessionTableTest, LeasesEndAfterLastUse) {
  SessionTable table(config_, 1);
  const auto added = table.Add(kCaller, Make("lbs"), seconds(10), now_);
  ASSERT_TRUE(added.ok());
  const std::string name = added->session->name;
  EXPECT_TRUE(table.Use(kTenant, name, now_ + seconds(9)).ok());
  EXPECT_EQ(table.Expire(now_ + seconds(9)), 0u);
  EXPECT_TRUE(table.Get(kTenant, name, now_ + seconds(18)).ok());
  EXPECT_EQ(table.Get(kTenant, name, now_ + seconds(19)).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(table.Use(kTenant, name, now_ + seconds(19)).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(table.Expire(now_ + seconds(18)), 0u);
  EXPECT_EQ(table.Expire(now_ + seconds(19)), 1u);
  EXPECT_TRUE(added->session->ended);
  EXPECT_EQ(table.count(), 0u);
}

TEST_F(SessionTableTest, SessionInUseOutlastsAnyPause) {
  SessionTable table(config_, 1);
  const std::string name = table.Add(kCaller, Make("lbs"), seconds(10), now_)->session->name;
  auto call = *table.Use(kTenant, name, now_);
  const auto pause = now_ + seconds(1000);
  EXPECT_TRUE(table.Get(kTenant, name, pause).ok());
  EXPECT_TRUE(table.Use(kTenant, name, pause).ok());
  EXPECT_EQ(table.Expire(pause), 0u);
  EXPECT_EQ(table.Get(kTenant, name, pause)->expires, pause + seconds(10));
  // A call that ends after a pause leaves a whole lease.
  const auto later = pause + seconds(1000);
  call.reset();
  EXPECT_TRUE(table.Get(kTenant, name, later).ok());
  EXPECT_EQ(table.Expire(later), 0u);
  EXPECT_EQ(table.Expire(later + seconds(9)), 0u);
  EXPECT_EQ(table.Expire(later + seconds(10)), 1u);
}

TEST_F(SessionTableTest, SessionEndsAtItsAge) {
  config_.seconds = 25;
  SessionTable table(config_, 1);
  const std::string name = table.Add(kCaller, Make("lbs"), seconds(10), now_)->session->name;
  EXPECT_TRUE(table.Use(kTenant, name, now_ + seconds(9)).ok());
  EXPECT_EQ(table.Expire(now_ + seconds(9)), 0u);
  EXPECT_EQ(table.Renew(kTenant, name, seconds(100), now_ + seconds(18))->expires,
            now_ + seconds(25));
  EXPECT_TRUE(table.Use(kTenant, name, now_ + seconds(24)).ok());
  EXPECT_EQ(table.Expire(now_ + seconds(24)), 0u);
  EXPECT_EQ(table.Use(kTenant, name, now_ + seconds(25)).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(table.Expire(now_ + seconds(25)), 1u);
}

TEST_F(SessionTableTest, RequestIdIsFreeAfterTheAge) {
  config_.seconds = 25;
  SessionTable table(config_, 1);
  auto session = Make("lbs"), next = Make("lbs");
  session->request_id = next->request_id = "r1";
  ASSERT_TRUE(table.Add(kCaller, session, seconds(10), now_).ok());
  auto call = table.Use(kTenant, session->name, now_);
  const auto later = now_ + seconds(25);
  EXPECT_EQ(*table.FindRequest(kTenant, "r1", session->source, later), nullptr);
  EXPECT_EQ(table.Add(kCaller, next, seconds(10), later)->session, next);
  call = absl::CancelledError();
  table.Expire(later + seconds(1));
  EXPECT_EQ(table.Expire(later + seconds(2)), 1u);
  EXPECT_EQ(*table.FindRequest(kTenant, "r1", next->source, later + seconds(3)), next);
}

TEST_F(SessionTableTest, OpenCallOutlastsAgeOfSharedSession) {
  config_.seconds = 25;
  SessionTable table(config_, 1);
  auto session = Make("lbs"), next = Make("lbs");
  session->shared = next->shared = true;
  ASSERT_TRUE(table.Add(kCaller, session, seconds(10), now_).ok());
  auto call = table.FindShared(kTenant, "rigs/sha256-x", "lbs", now_ + seconds(1));
  ASSERT_NE(call, nullptr);
  EXPECT_EQ(table.Renew(kTenant, session->name, seconds(9), now_ + seconds(25)).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(table.FindShared(kTenant, "rigs/sha256-x", "lbs", now_ + seconds(25)), nullptr);
  EXPECT_EQ(table.Add(kCaller, next, seconds(10), now_ + seconds(25))->session, next);
  EXPECT_EQ(table.Expire(now_ + seconds(26)), 0u);
  EXPECT_FALSE(session->ended);
  call.reset();
  EXPECT_EQ(table.Expire(now_ + seconds(27)), 0u) << "just used";
  EXPECT_EQ(table.Expire(now_ + seconds(28)), 1u);
  EXPECT_TRUE(session->ended);
  EXPECT_NE(table.FindShared(kTenant, "rigs/sha256-x", "lbs", now_ + seconds(28)), nullptr);
}

TEST_F(SessionTableTest, TenantsAreApart) {
  SessionTable table(config_, 1);
  const Caller other{.peer = kCaller.peer, .tenant = "bravo", .principal = {}};
  auto mine = Make("lbs"), theirs = Make("dqs");
  mine->request_id = theirs->request_id = "r1";
  mine->shared = true;
  ASSERT_TRUE(table.Add(kCaller, mine, seconds(10), now_).ok());
  const absl::Status unknown = table.Get("bravo", "sessions/" + RandomHex(), now_).status();
  for (const absl::Status& status : {table.Get("bravo", mine->name, now_).status(),
                                     table.Use("bravo", mine->name, now_).status(),
                                     table.Renew("bravo", mine->name, seconds(0), now_).status(),
                                     table.Delete("bravo", mine->name)}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
    EXPECT_EQ(status.message().size(), unknown.message().size());
  }
  EXPECT_EQ(table.FindShared("bravo", "rigs/sha256-x", "lbs", now_), nullptr);
  EXPECT_EQ(*table.FindRequest("bravo", "r1", mine->source, now_), nullptr);
  ASSERT_TRUE(table.Add(other, theirs, seconds(10), now_).ok());
  bool more = false;
  const auto listed = table.List("bravo", "", 10, more);
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0].session, theirs);
  EXPECT_TRUE(table.Delete("bravo", theirs->name).ok());
  EXPECT_TRUE(table.Get(kTenant, mine->name, now_).ok());
}

TEST_F(SessionTableTest, OneClientLeavesRoomForOthers) {
  config_.count = 4;
  SessionTable table(config_, 0.5);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(table.Add(kCaller, Make("lbs"), seconds(10), now_).ok());
  EXPECT_EQ(ReasonOf(table.Add(kCaller, Make("lbs"), seconds(10), now_).status()),
            v1::REASON_LIMIT);
  EXPECT_TRUE(
      table.Add({.peer = {}, .tenant = "bravo", .principal = {}}, Make("lbs"), seconds(10), now_)
          .ok());
  EXPECT_EQ(table.Expire(now_ + seconds(10)), 3u);
  EXPECT_TRUE(table.Add(kCaller, Make("lbs"), seconds(10), now_).ok());
}

TEST_F(SessionTableTest, RenewalMayChangeLease) {
  SessionTable table(config_, 1);
  const std::string name = table.Add(kCaller, Make("lbs"), seconds(10), now_)->session->name;
  EXPECT_EQ(table.Renew(kTenant, name, seconds(100), now_)->expires, now_ + seconds(100));
  EXPECT_EQ(table.Renew(kTenant, name, seconds(0), now_ + seconds(5))->expires,
            now_ + seconds(105));
}

TEST_F(SessionTableTest, RequestIdIdentifiesOneSession) {
  SessionTable table(config_, 1);
  auto first = Make("lbs");
  first->request_id = "r1";
  ASSERT_TRUE(table.Add(kCaller, first, seconds(10), now_).ok());
  auto again = Make("lbs");
  again->request_id = "r1";
  EXPECT_EQ(table.Add(kCaller, again, seconds(10), now_)->session, first);
  EXPECT_EQ(*table.FindRequest(kTenant, "r1", first->source, now_), first);
  auto other = Make("dqs");
  other->request_id = "r1";
  EXPECT_EQ(table.Add(kCaller, other, seconds(10), now_).status().code(),
            absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(table.FindRequest(kTenant, "r1", other->source, now_).status().code(),
            absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(*table.FindRequest(kTenant, "", first->source, now_), nullptr);
  EXPECT_TRUE(table.Delete(kTenant, first->name).ok());
  EXPECT_EQ(*table.FindRequest(kTenant, "r1", first->source, now_), nullptr);
}

TEST_F(SessionTableTest, ExpiredLeaseIsNotFound) {
  SessionTable table(config_, 1);
  auto first = Make("lbs"), second = Make("lbs"), third = Make("lbs");
  for (const auto& session : {first, second, third}) session->request_id = "r1";
  const auto over = now_ + seconds(10);
  ASSERT_TRUE(table.Add(kCaller, first, seconds(10), now_).ok());
  EXPECT_EQ(*table.FindRequest(kTenant, "r1", first->source, over), nullptr);
  EXPECT_TRUE(first->ended);
  ASSERT_TRUE(table.Add(kCaller, second, seconds(10), now_).ok());
  EXPECT_EQ(table.Add(kCaller, third, seconds(10), over)->session, third);
  EXPECT_TRUE(second->ended);
  EXPECT_EQ(*table.FindRequest(kTenant, "r1", third->source, over), third);
  EXPECT_EQ(table.count(), 1u);
  auto shared = Make("dqs"), again = Make("dqs");
  shared->shared = again->shared = true;
  ASSERT_TRUE(table.Add(kCaller, shared, seconds(10), now_).ok());
  EXPECT_EQ(table.Add(kCaller, again, seconds(10), over)->session, again);
  EXPECT_EQ(table.FindShared(kTenant, "rigs/sha256-x", "dqs", over + seconds(10)), nullptr);
  EXPECT_TRUE(again->ended);
}

TEST_F(SessionTableTest, SharedSessionsAreFoundUntilTheyFail) {
  SessionTable table(config_, 1);
  auto session = Make("lbs");
  session->shared = true;
  ASSERT_TRUE(table.Add(kCaller, session, seconds(10), now_).ok());
  EXPECT_EQ(table.FindShared(kTenant, "rigs/sha256-x", "lbs", now_ + seconds(9)), session);
  EXPECT_TRUE(table.Get(kTenant, session->name, now_ + seconds(18)).ok());
  EXPECT_EQ(table.FindShared(kTenant, "rigs/sha256-x", "dqs", now_), nullptr);
  session->bound->Finish(absl::InternalError("x"));
  EXPECT_EQ(table.FindShared(kTenant, "rigs/sha256-x", "lbs", now_), nullptr);
  EXPECT_EQ(table.count(), 0u);
}

TEST_F(SessionTableTest, SessionLimitIsExact) {
  SessionTable table(config_, 1);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(table.Add(kCaller, Make("lbs"), seconds(10), now_).ok());
  const auto refused = table.Add(kCaller, Make("lbs"), seconds(10), now_);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ReasonOf(refused.status()), v1::REASON_LIMIT);
}

TEST_F(SessionTableTest, ListsInPagesByName) {
  SessionTable table(config_, 1);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(table.Add(kCaller, Make("lbs"), seconds(10), now_).ok());
  bool more = false;
  const auto page = table.List(kTenant, "", 2, more);
  ASSERT_EQ(page.size(), 2u);
  EXPECT_TRUE(more);
  EXPECT_LT(page[0].session->name, page[1].session->name);
  EXPECT_EQ(table.List(kTenant, page[1].session->name, 2, more).size(), 1u);
  EXPECT_FALSE(more);
}

}  // namespace
}  // namespace sinew::server
