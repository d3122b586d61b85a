// Two servers' stores of rigs and bound data over one shared store.
#include <gtest/gtest.h>

#include <fstream>

#include "core/base/table_io.h"
#include "server/store/bound_data.h"
#include "server/store/shared_rigs.h"
#include "tests/support/fitted_config.h"
#include "tests/support/hooked_store.h"
#include "tests/support/wait_until.h"
#include "tests/unit/server/store/deformer_cache_fixture.h"
#include "tests/unit/server/store/store_fixture.h"

namespace sinew::server {
namespace {

using testing::WaitUntil;

// A shared store as one server has it.
struct Shared {
  explicit Shared(const std::filesystem::path& folder)
      : store(std::make_unique<SharedStore>(
            std::make_unique<testing::HookedStore>(folder.string(), hooks), metrics, QuietLog())) {}
  testing::StoreHooks hooks;
  Metrics metrics{"0", "scalar"};
  std::unique_ptr<SharedStore> store;
};

class SharedRigsTest : public ::testing::Test {
 protected:
  std::unique_ptr<RigStore> Open(Shared& shared, const std::string& data_dir = {}) {
    config_.data_dir = data_dir;
    return *RigStore::Open(config_, 1, shared.store.get(), shared.metrics, QuietLog());
  }
  std::filesystem::path ObjectOf(const Sample& sample) const {
    return folder_.path() / "shared/rigs" / sample.hex;
  }

  const testing::TemporaryFolder folder_;
  RigConfig config_ = testing::FittedConfig().rigs;
  Shared a_shared_{folder_.path() / "shared"}, b_shared_{folder_.path() / "shared"};
  const Sample sample_ = MakeSample("first"), second_ = MakeSample("second");
};

TEST_F(SharedRigsTest, AServerFetchesWhatAnotherHasStored) {
  const auto a = Open(a_shared_), b = Open(b_shared_);
  ASSERT_TRUE(a->Put(kCaller, sample_.hex, sample_.bytes, {}).ok());
  EXPECT_TRUE(b->MayFetch(sample_.key));
  const auto rig = b->Get(sample_.key);
  ASSERT_TRUE(rig.ok()) << rig.status();
  EXPECT_EQ((*rig)->summary.name(), RigName(sample_.hex));
  EXPECT_EQ(*b->Bytes(sample_.key), sample_.bytes);
  EXPECT_FALSE(b->MayFetch(sample_.key));
  EXPECT_EQ(b_shared_.metrics.rigs_fetched.Value(), 1);
}

TEST_F(SharedRigsTest, DownloadsFetchToo) {
  const auto a = Open(a_shared_), b = Open(b_shared_, folder_ / "b");
  ASSERT_TRUE(a->Put(kCaller, sample_.hex, sample_.bytes, {}).ok());
  EXPECT_EQ(b->Read(sample_.key, 1, 3)->bytes, sample_.bytes.substr(1, 3));
}

TEST_F(SharedRigsTest, TenantsShareNothing) {
  const auto a = Open(a_shared_), b = Open(b_shared_);
  ASSERT_TRUE(a->Put(kAcme, sample_.hex, sample_.bytes, {}).ok());
  EXPECT_EQ(b->Get(sample_.key).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(b->Get({"bravo", sample_.hex}).status().code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(b->Get({"acme", sample_.hex}).ok());
}

TEST_F(SharedRigsTest, ADamagedObjectIsRemovedAndCanBeStoredAgain) {
  const auto a = Open(a_shared_), b = Open(b_shared_);
  ASSERT_TRUE(a->Put(kCaller, sample_.hex, sample_.bytes, {}).ok());
  testing::WriteAll(ObjectOf(sample_), sample_.bytes.substr(1));
  EXPECT_EQ(b->Get(sample_.key).status().code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(ObjectOf(sample_)));
  ASSERT_TRUE(b->Put(kOther, sample_.hex, sample_.bytes, {}).ok());
  EXPECT_EQ(testing::ReadAll(ObjectOf(sample_)), sample_.bytes);
}

TEST_F(SharedRigsTest, ADeletedRigIsGoneEverywhere) {
  const auto a = Open(a_shared_), b = Open(b_shared_);
  ASSERT_TRUE(a->Put(kCaller, sample_.hex, sample_.bytes, {}).ok());
  ASSERT_TRUE(b_shared_.store->Put(SharedBoundFolder(sample_.key) + "x", "bound").ok());
  ASSERT_TRUE(b->Delete(sample_.key).ok());  // it never held the rig
  EXPECT_FALSE(std::filesystem::exists(ObjectOf(sample_)));
  EXPECT_TRUE(a_shared_.store->List(SharedBoundFolder(sample_.key), "", 9)->empty());
  const auto marks = *a_shared_.store->List(kDeletedFolder, "", 9);
  ASSERT_EQ(marks.size(), 1u);
  EXPECT_EQ(RigOfDeleted(marks[0].name)->Text(), sample_.key.Text());
  a->DropFetched(sample_.key);
  EXPECT_EQ(a->Get(sample_.key).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(b->Delete(sample_.key).code(), absl::StatusCode::kNotFound);
  ASSERT_TRUE(a->Put(kCaller, sample_.hex, sample_.bytes, {}).ok());  // again
  EXPECT_TRUE(a_shared_.store->List(kDeletedFolder, "", 9)->empty());
}

TEST_F(SharedRigsTest, AFolderIsWrittenToTheStoreUnlessItsRigsWereDeleted) {
  RigConfig alone = config_;
  alone.data_dir = folder_ / "b";
  Metrics metrics{"0", "scalar"};
  {
    const auto before = *RigStore::Open(alone, 1, nullptr, metrics, QuietLog());
    ASSERT_TRUE(before->Put(kCaller, sample_.hex, sample_.bytes, {}).ok());
    ASSERT_TRUE(before->Put(kCaller, second_.hex, second_.bytes, {}).ok());
  }
  ASSERT_TRUE(a_shared_.store->Put(DeletedName(second_.key), "now").ok());
  const auto b = Open(b_shared_, folder_ / "b");
  WaitUntil([&] { return b_shared_.store->pending() == 0; });
  EXPECT_TRUE(std::filesystem::exists(ObjectOf(sample_)));
  EXPECT_FALSE(std::filesystem::exists(ObjectOf(second_)));
  EXPECT_FALSE(b->Has(second_.key));
  b_shared_.store->Stop(std::chrono::seconds(1));
}

TEST_F(SharedRigsTest, RigsUsedLongestAgoMakeRoom) {
  config_.count = 2;
  const auto a = Open(a_shared_);
  const Sample third = MakeSample("third");
  ASSERT_TRUE(a->Put(kCaller, sample_.hex, sample_.bytes, {}).ok());
  ASSERT_TRUE(a->Put(kCaller, second_.hex, second_.bytes, {}).ok());
  ASSERT_TRUE(a->Get(sample_.key).ok());
  ASSERT_TRUE(a->Put(kCaller, third.hex, third.bytes, {}).ok());
  EXPECT_TRUE(a->Has(sample_.key));
  EXPECT_FALSE(a->Has(second_.key));
  EXPECT_TRUE(a->Get(second_.key).ok());  // fetched, and another one makes room
  EXPECT_EQ(a->count(), 2u);
}

TEST_F(SharedRigsTest, RoomIsMadeForAClientWithAShareOfTheLimits) {
  config_.stored_bytes = 4 * sample_.bytes.size();
  const auto a =
      *RigStore::Open(config_, 0.5, a_shared_.store.get(), a_shared_.metrics, QuietLog());
  for (int i = 0; i < 20; ++i) {
    const Sample sample = MakeSample("client " + std::to_string(i));
    const absl::Status put = a->Put(kCaller, sample.hex, sample.bytes, {}).status();
    ASSERT_TRUE(put.ok()) << i << put;
    ASSERT_TRUE(a->CheckRoom(kOther, sample.bytes.size()).ok());
  }
  EXPECT_LE(a->stored_bytes(), config_.stored_bytes);
  EXPECT_GE(a->count(), 2u);
  const auto b =
      *RigStore::Open(config_, 0.5, b_shared_.store.get(), b_shared_.metrics, QuietLog());
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(b->Get(MakeSample("client " + std::to_string(i)).key).ok()) << i;
  }
  EXPECT_LE(b->stored_bytes(), config_.stored_bytes);
}

TEST_F(SharedRigsTest, ARigThatIsDeletedWhileItIsFetchedIsNotKept) {
  const auto a = Open(a_shared_), b = Open(b_shared_);
  ASSERT_TRUE(a->Put(kCaller, sample_.hex, sample_.bytes, {}).ok());
  b_shared_.hooks.after_get = [&](const std::string&) {
    EXPECT_TRUE(a->Delete(sample_.key).ok());
    b->DropFetched(sample_.key);  // the mark is seen before there is anything to drop
  };
  EXPECT_EQ(b->Get(sample_.key).status().code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(b->Has(sample_.key));
}

TEST_F(SharedRigsTest, WaitersForAFetchGetItsResultUnlessTheyLeave) {
  const auto a = Open(a_shared_), b = Open(b_shared_);
  ASSERT_TRUE(a->Put(kCaller, sample_.hex, sample_.bytes, {}).ok());
  const auto wait = [&](std::vector<absl::Status>& results) {
    return b->fetches().Await(
        sample_.key.Text(), [&results](const absl::Status& status) { results.push_back(status); });
  };
  std::vector<absl::Status> stays, leaves, fails;
  EXPECT_EQ(wait(stays), 0u);  // nothing is being fetched
  b_shared_.hooks.after_get = [&](const std::string&) {
    EXPECT_NE(wait(stays), 0u);
    const std::uint64_t left = wait(leaves);
    EXPECT_NE(left, 0u);
    b->fetches().Forget(sample_.key.Text(), left);
  };
  EXPECT_TRUE(b->Fetch(sample_.key).ok());
  ASSERT_EQ(stays.size(), 1u);
  EXPECT_TRUE(stays[0].ok());
  EXPECT_TRUE(leaves.empty());
  EXPECT_EQ(wait(stays), 0u);
  // One failure is that of all.
  ASSERT_TRUE(b->Delete(sample_.key).ok());
  const int before = b_shared_.hooks.requests;
  b_shared_.hooks.after_get = [&](const std::string&) { EXPECT_NE(wait(fails), 0u); };
  EXPECT_EQ(b->Fetch(sample_.key).code(), absl::StatusCode::kNotFound);
  ASSERT_EQ(fails.size(), 1u);
  EXPECT_EQ(fails[0].code(), absl::StatusCode::kNotFound);
  EXPECT_LE(b_shared_.hooks.requests - before, 2);
}

TEST_F(SharedRigsTest, ARigThatIsDeletedWhileItIsWrittenDoesNotComeBack) {
  const auto a = Open(a_shared_);
  a_shared_.hooks.cut = true;
  ASSERT_TRUE(a->Put(kCaller, sample_.hex, sample_.bytes, {}).ok());
  std::atomic<bool> deleted{false};
  a_shared_.hooks.before_put = [&](const std::string& name) -> absl::Status {
    if (name == SharedRigName(sample_.key) && !deleted.exchange(true)) {
      EXPECT_TRUE(a->Delete(sample_.key).ok());
    }
    return absl::OkStatus();
  };
  a_shared_.hooks.cut = false;
  WaitUntil([&] { return a_shared_.store->pending() == 0; });
  WaitUntil([&] { return !std::filesystem::exists(ObjectOf(sample_)); });
  EXPECT_TRUE(deleted);
  EXPECT_FALSE(a->Has(sample_.key));
  a_shared_.store->Stop(std::chrono::seconds(0));
}

TEST_F(SharedRigsTest, AWriteThatFailsIsRepeated) {
  const auto a = Open(a_shared_);
  std::atomic<int> failures{0};
  a_shared_.hooks.before_put = [&](const std::string&) -> absl::Status {
    return ++failures < 3 ? absl::InternalError("refused") : absl::OkStatus();
  };
  ASSERT_TRUE(a->Put(kCaller, sample_.hex, sample_.bytes, {}).ok());
  WaitUntil([&] { return std::filesystem::exists(ObjectOf(sample_)); });
  a_shared_.store->Stop(std::chrono::seconds(0));
}

TEST_F(SharedRigsTest, ListsTheRigsOfAllServers) {
  const auto a = Open(a_shared_), b = Open(b_shared_);
  ASSERT_TRUE(a->Put(kCaller, sample_.hex, sample_.bytes, {}).ok());
  ASSERT_TRUE(b->Put(kCaller, second_.hex, second_.bytes, {}).ok());
  bool more = false;
  const auto both = b->List({}, {}, 10, more);
  ASSERT_EQ(both.size(), 2u);
  EXPECT_FALSE(more);
  const auto first = b->List({}, {}, 1, more);
  ASSERT_EQ(first.size(), 1u);
  EXPECT_TRUE(more);
  EXPECT_EQ(first[0]->name(), both[0]->name());
  const auto rest = b->List({}, first[0]->name().substr(sizeof("rigs/sha256-") - 1), 1, more);
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_EQ(rest[0]->name(), both[1]->name());
}

class SharedBoundTest : public DeformerCacheTest {
 protected:
  // A second server, beside the fixture's.
  void OpenBoth() {
    sharing_ = SharingOf(a_shared_);
    Open();
    other_ = *DeformerCache::Open(config_, 1, "", SharingOf(b_shared_), {shorts_, longs_}, arenas_,
                                  timers_, b_shared_.metrics, QuietLog());
  }
  ~SharedBoundTest() override {
    a_shared_.store->Stop(std::chrono::seconds(0));
    b_shared_.store->Stop(std::chrono::seconds(0));
  }
  static DeformerCache::Sharing SharingOf(Shared& shared) {
    return {.store = shared.store.get(), .take_claim = [&shared](const std::string& name) {
              return shared.store->TakeClaim(name);
            }};
  }
  DeformerCache::Use AcquireOther(const std::shared_ptr<const Rig>& rig, const std::string& text) {
    const Recipe recipe = *ParseRecipe(text);
    return *other_->Acquire(kRig, rig, recipe, DeterminismDigest(recipe), "client", {});
  }

  const testing::TemporaryFolder shared_folder_;
  Shared a_shared_{shared_folder_.path()}, b_shared_{shared_folder_.path()};
  std::unique_ptr<DeformerCache> other_;
};

TEST_F(SharedBoundTest, OneServerBindsAndTheOtherFetches) {
  OpenBoth();
  const auto rig = MakeRig(60);
  // At the same time: the one without the claim waits.
  const auto here = *Acquire(rig, "ddm");
  const auto there = AcquireOther(rig, "ddm");
  EXPECT_EQ(Wait(*here).state, BoundDeformer::State::kReady);
  EXPECT_EQ(Wait(*there).state, BoundDeformer::State::kReady);
  EXPECT_EQ(metrics_.binds_bound.Value() + b_shared_.metrics.binds_bound.Value(), 1);
  EXPECT_EQ(metrics_.binds_fetched.Value() + b_shared_.metrics.binds_fetched.Value(), 1);
  TableWriter a, b;
  here->deformer()->Save(a);
  there->deformer()->Save(b);
  EXPECT_EQ(a.Finish(), b.Finish());
}

TEST_F(SharedBoundTest, ADamagedObjectIsBoundAgain) {
  OpenBoth();
  const auto rig = MakeRig();
  Wait(**Acquire(rig, "ddm"));
  std::vector<ObjectStore::Object> objects;
  WaitUntil([&] {  // written after the session has it
    objects = *a_shared_.store->List(SharedBoundFolder(kRig), "", 9);
    return !objects.empty();
  });
  ASSERT_EQ(objects.size(), 1u);
  const std::string path = shared_folder_ / objects[0].name;
  std::string bytes = testing::ReadAll(path);
  bytes[bytes.size() / 2] ^= 1;
  testing::WriteAll(path, bytes);
  EXPECT_EQ(Wait(*AcquireOther(rig, "ddm")).state, BoundDeformer::State::kReady);
  EXPECT_EQ(b_shared_.metrics.binds_bound.Value(), 1);
  bytes[bytes.size() / 2] ^= 1;
  WaitUntil([&] {
    return std::filesystem::exists(path) && testing::ReadAll(path) == bytes;  // written again
  });
}

TEST_F(SharedBoundTest, AClaimHindersNoOneWhileTheStoreIsDown) {
  OpenBoth();
  const auto rig = MakeRig();
  const Recipe recipe = *ParseRecipe("ddm");
  const auto claim =
      *a_shared_.store->TakeClaim(Sha256Hex(BoundKey(kRig, *rig, DeterminismDigest(recipe))));
  ASSERT_NE(claim, nullptr);
  const auto waiting = AcquireOther(rig, "ddm");
  b_shared_.hooks.cut = true;  // while it waits for the claim
  EXPECT_FALSE(b_shared_.store->Has("rigs/none").ok());
  EXPECT_EQ(Wait(*waiting).state, BoundDeformer::State::kReady);
  EXPECT_EQ(b_shared_.metrics.binds_bound.Value(), 1);
}

TEST_F(SharedBoundTest, AWaitingSessionThatLeavesEndsTheWait) {
  OpenBoth();
  const auto rig = MakeRig();
  const Recipe recipe = *ParseRecipe("ddm");
  // A claim that is never given back.
  const auto claim =
      *b_shared_.store->TakeClaim(Sha256Hex(BoundKey(kRig, *rig, DeterminismDigest(recipe))));
  ASSERT_NE(claim, nullptr);
  auto use = *Acquire(rig, "ddm");
  BoundDeformer& bound = *use;
  std::promise<BoundDeformer::Snapshot> over;
  bound.WhenDone([&] { over.set_value(bound.snapshot()); });
  use.reset();
  EXPECT_EQ(over.get_future().get().error.code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(cache_->entries(), 0u);
}

}  // namespace
}  // namespace sinew::server
