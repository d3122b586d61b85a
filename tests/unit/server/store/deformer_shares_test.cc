// Bound data in use against the shares of its clients.
#include <string>

#include "server/base/status.h"
#include "tests/unit/server/store/deformer_cache_fixture.h"

namespace sinew::server {
namespace {

class DeformerShares : public DeformerCacheTest {
 protected:
  // The use of a client, bound.
  absl::StatusOr<DeformerCache::Use> AcquireFor(const std::string& client,
                                                const std::shared_ptr<const Rig>& rig,
                                                const std::string& recipe_text) {
    auto use = Acquire(rig, recipe_text, {}, kRig, client);
    if (use.ok()) Wait(**use);
    return use;
  }
  // One client may use half of what the others leave: data bound by `dqs` and a bind of it. Returns
  // the bytes of that data.
  std::uint64_t OpenWithRoomForTwoOfAClient(const std::shared_ptr<const Rig>& rig) {
    Open();
    auto use = AcquireFor("", rig, "dqs");
    const std::uint64_t one = used_bytes();
    share_ = 0.5;
    config_.bound_bytes = 2 * (one + (*use)->forecast().estimate.bound_bytes + rig->bytes());
    use = absl::CancelledError();
    Open();
    return one;
  }
  std::uint64_t used_bytes() const { return cache_->quotas()[1]->count(); }
};

TEST_F(DeformerShares, ClientUsesOnlyItsShare) {
  const auto rig = MakeRig();
  const std::uint64_t one = OpenWithRoomForTwoOfAClient(rig);
  const auto first = AcquireFor("anna", rig, "dqs");
  auto second = AcquireFor("anna", rig, "dqs(max_influences=8)");
  ASSERT_TRUE(first.ok() && second.ok()) << first.status() << second.status();
  EXPECT_EQ(used_bytes(), 2 * one);
  const absl::Status refused = AcquireFor("anna", rig, "dqs(max_influences=9)").status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ReasonOf(refused), v1::REASON_LIMIT);
  EXPECT_NE(refused.message().find("max-bound-bytes"), std::string::npos) << refused;
  EXPECT_NE(refused.ToString().find("RetryInfo"), std::string::npos);
  EXPECT_TRUE(AcquireFor("anna", rig, "dqs").ok()) << "she uses it already";
  EXPECT_TRUE(AcquireFor("ben", rig, "dqs(max_influences=9)").ok());
  second = absl::CancelledError();
  EXPECT_TRUE(AcquireFor("anna", rig, "dqs(max_influences=9)").ok());
  EXPECT_EQ(used_bytes(), one);
}

TEST_F(DeformerShares, DataCountsForItsFirstUserUntilItsLastUse) {
  const auto rig = MakeRig();
  const std::uint64_t one = OpenWithRoomForTwoOfAClient(rig);
  auto annas = AcquireFor("anna", rig, "dqs");
  auto bens = AcquireFor("ben", rig, "dqs");
  ASSERT_TRUE(annas.ok() && bens.ok());
  EXPECT_EQ(used_bytes(), one);
  annas = absl::CancelledError();
  EXPECT_EQ(used_bytes(), one);
  const auto second = AcquireFor("anna", rig, "dqs(max_influences=8)");
  EXPECT_TRUE(second.ok()) << second.status();
  EXPECT_FALSE(AcquireFor("anna", rig, "dqs(max_influences=9)").ok());
  bens = absl::CancelledError();
  EXPECT_EQ(used_bytes(), one);
  EXPECT_TRUE(AcquireFor("anna", rig, "dqs(max_influences=9)").ok());
  EXPECT_EQ(cache_->entries(), 3u) << "kept, in case that it is used again";
}

TEST_F(DeformerShares, DataCountsWithItsRig) {
  Open();
  const auto rig = MakeRig();
  const auto first = AcquireFor("anna", rig, "dqs"), second = AcquireFor("ben", rig, "lbs");
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(used_bytes(),
            (*first)->deformer()->bytes() + (*second)->deformer()->bytes() + 2 * rig->bytes());
  EXPECT_EQ(used_bytes(), cache_->bytes());
}

TEST_F(DeformerShares, RigOfFailedBindCounts) {
  Open();
  DeformerCache::Use use = Block();
  const std::uint64_t rig = use->rig().bytes();
  use->Cancel();
  EXPECT_EQ(Wait(*use).state, BoundDeformer::State::kFailed);
  EXPECT_EQ(cache_->entries(), 0u);
  EXPECT_GE(used_bytes(), rig);
  use.reset();
  EXPECT_EQ(used_bytes(), 0u);
}

}  // namespace
}  // namespace sinew::server
