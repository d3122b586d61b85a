#include "server/store/deformer_cache.h"

#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <future>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "server/base/files.h"
#include "server/base/status.h"
#include "server/store/bound_data.h"
#include "tests/support/allocation_meter.h"
#include "tests/unit/server/store/deformer_cache_fixture.h"

namespace sinew::server {
namespace {

TEST_F(DeformerCacheTest, EqualRigAndRecipeShareOneBind) {
  Open();
  const auto rig = MakeRig();
  const auto first = Acquire(rig, "lbs");
  const auto second = Acquire(MakeRig(), "lbs()");
  const auto other = Acquire(rig, "dqs");
  ASSERT_TRUE(first.ok() && second.ok() && other.ok());
  EXPECT_EQ(first->get(), second->get());
  EXPECT_NE(first->get(), other->get());
  EXPECT_EQ(Wait(**first).state, BoundDeformer::State::kReady);
  EXPECT_EQ(Wait(**other).state, BoundDeformer::State::kReady);
  EXPECT_EQ((*first)->deformer()->vertices(), 72u);
  EXPECT_EQ(metrics_.binds_bound.Value(), 2);
  EXPECT_EQ(cache_->entries(), 2u);
}

TEST_F(DeformerCacheTest, EvictsUnusedDataByAgeKeepsUsed) {
  const auto rig = MakeRig();
  const Recipe recipe = *ParseRecipe("dqs");
  Task task;
  // Room for one that is bound and one that is about to be.
  config_.bound_bytes = Deformer::Bind(*rig, recipe, task)->bytes() +
                        Deformer::Estimate(*rig, recipe, task)->bound_bytes + 2 * rig->bytes();
  Open();
  const auto used = Bound(rig, "dqs");
  Bound(rig, "dqs(blend=0.5)");                  // unused at once
  auto third = Acquire(rig, "dqs(blend=0.25)");  // drops the unused one
  ASSERT_TRUE(third.ok()) << third.status();
  Wait(**third);
  EXPECT_EQ(cache_->entries(), 2u);
  EXPECT_EQ(metrics_.evicted_bound.Value(), 1);
  const auto refused = Acquire(rig, "dqs(blend=0.125)");
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(used->deformer(), nullptr);
}

TEST_F(DeformerCacheTest, LowerLimitDropsUnusedData) {
  const auto rig = MakeRig();
  Open();
  const auto used = Bound(rig, "dqs");
  Bound(rig, "dqs(blend=0.5)");  // unused at once
  cache_->Trim();
  EXPECT_EQ(cache_->entries(), 2u);
  for (Quota* quota : cache_->quotas()) {
    if (quota->name() == "max-bound-bytes") quota->SetLimit(1);
  }
  cache_->Trim();
  EXPECT_EQ(cache_->entries(), 1u);
  EXPECT_NE(used->deformer(), nullptr);
}

TEST_F(DeformerCacheTest, PartsOfRigsTakeOnlyRoomLeft) {
  const auto rig = MakeRig();
  Open();
  const auto used = Bound(rig, "dqs");
  const std::uint64_t needed = used->deformer()->bytes() + rig->bytes();
  EXPECT_EQ(cache_->bytes(), needed);
  const std::uint64_t before = cache_->parts_bytes();
  EXPECT_GT(before, 0u);
  Bound(rig, "ddm");  // adds to the parts; unused at once
  EXPECT_GT(cache_->parts_bytes(), before);
  for (Quota* quota : cache_->quotas()) {
    if (quota->name() == "max-bound-bytes") quota->SetLimit(needed);
  }
  cache_->Trim();
  EXPECT_EQ(cache_->bytes(), needed);
  EXPECT_EQ(cache_->parts_bytes(), 0u);
  EXPECT_NE(used->deformer(), nullptr);
}

TEST_F(DeformerCacheTest, ForgottenRigLeavesNoParts) {
  const auto rig = MakeRig();
  Open();
  Bound(rig, "dqs");
  EXPECT_GT(cache_->parts_bytes(), 0u);
  cache_->Forget(kRig);
  EXPECT_EQ(cache_->parts_bytes(), 0u);
}

TEST_F(DeformerCacheTest, BindsOfOneRigAtOnceShareParts) {
  const auto rig = MakeRig(60);
  Open();
  const std::vector<std::string> recipes = {
      "ddm", "lbs", "ddm(radius=0.01)", "dqs | delta_mush(laplacian=cotangent)", "ddm(variant=4)",
      "cor"};
  std::vector<DeformerCache::Use> uses(recipes.size());
  std::vector<std::jthread> threads;
  for (std::size_t k = 0; k < recipes.size(); ++k) {
    threads.emplace_back([&, k] { uses[k] = Bound(rig, recipes[k]); });
  }
  threads.clear();
  Task task;
  for (std::size_t k = 0; k < recipes.size(); ++k) {
    ASSERT_NE(uses[k]->deformer(), nullptr);
    const auto alone = Deformer::Bind(*rig, *ParseRecipe(recipes[k]), task);
    EXPECT_EQ(EncodeBound("", *uses[k]->deformer()), EncodeBound("", *alone)) << recipes[k];
  }
}

TEST_F(DeformerCacheTest, CancelsBindWithoutWaiters) {
  config_.short_seconds = 0;  // one lane
  Open();
  const auto rig = MakeRig();
  DeformerCache::Use blocking = Block();
  auto waiting = Acquire(rig, "ddm");
  auto also = Acquire(rig, "ddm");
  ASSERT_TRUE(waiting.ok() && also.ok());
  const std::stop_token stop = (*waiting)->stop_token();
  waiting = absl::CancelledError();
  EXPECT_FALSE(stop.stop_requested());
  also = absl::CancelledError();
  EXPECT_TRUE(stop.stop_requested());
  EXPECT_EQ(cache_->entries(), 1u);
  EXPECT_EQ(cache_->binds_queued(), 0u);
  // Asked for again, it is a fresh bind.
  auto again = Acquire(rig, "ddm");
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(blocking->snapshot().state, BoundDeformer::State::kBinding);
  blocking.reset();  // cancels what runs
  EXPECT_EQ(Wait(**again).state, BoundDeformer::State::kReady);
}

TEST_F(DeformerCacheTest, ShortBindsPassLongOnes) {
  Open();
  const DeformerCache::Use blocking = Block();
  const auto brief = Acquire(MakeRig(), "dqs");
  ASSERT_TRUE(brief.ok());
  EXPECT_EQ(Wait(**brief).state, BoundDeformer::State::kReady);
  EXPECT_EQ(blocking->snapshot().state, BoundDeformer::State::kBinding);
}

TEST_F(DeformerCacheTest, ReleasedBindThatWaitsEndsAtOnce) {
  config_.short_seconds = 0;
  Open();
  const DeformerCache::Use blocking = Block();
  auto waiting = Acquire(MakeRig(), "dqs");
  ASSERT_TRUE(waiting.ok());
  BoundDeformer::Snapshot end;
  (*waiting)->WhenDone([&, bound = waiting->get()] { end = bound->snapshot(); });
  waiting = absl::CancelledError();
  EXPECT_EQ(end.state, BoundDeformer::State::kFailed) << "in this thread";
  EXPECT_EQ(blocking->snapshot().state, BoundDeformer::State::kBinding);
}

TEST_F(DeformerCacheTest, LimitsQueuedBinds) {
  config_.queued = 1;
  config_.short_seconds = 0;
  Open();
  const auto rig = MakeRig();
  const DeformerCache::Use blocking = Block();
  const auto waiting = Acquire(rig, "dqs");
  EXPECT_TRUE(waiting.ok());
  EXPECT_EQ(Acquire(rig, "dqs(blend=0.5)").status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(cache_->binds_queued(), 1u);
}

TEST_F(DeformerCacheTest, WaitingBindsHoldNoPlans) {
  config_.short_seconds = 0;
  Open();
  // Keeps the bind thread in a callback, where it allocates nothing.
  std::promise<void> ended, go;
  std::optional<DeformerCache::Use> blocking = Block();
  (*blocking)->WhenDone([&] {
    ended.set_value();
    go.get_future().wait();
  });
  blocking.reset();  // cancels it
  ended.get_future().wait();
  const auto rig = MakeRig(200);
  const auto recipe = [](int tenths) { return "cor(sigma=0." + std::to_string(tenths) + ")"; };
  std::size_t plan = 0;
  {
    testing::StartPeak();
    const auto planned = Deformer::Plan(*rig, *ParseRecipe(recipe(1)), Task());
    ASSERT_TRUE(planned.ok());
    plan = testing::Held();
  }
  testing::StartPeak();
  std::vector<DeformerCache::Use> uses;
  for (int k = 1; k <= 8; ++k) uses.push_back(*Acquire(rig, recipe(k)));
  EXPECT_LT(testing::Held(), plan) << "eight that wait hold less than one plan";
  go.set_value();
  EXPECT_EQ(Wait(*uses[0]).state, BoundDeformer::State::kReady);
}

TEST_F(DeformerCacheTest, LimitsMemoryBeforeWork) {
  const auto rig = MakeRig();
  config_.memory_bytes = Deformer::Estimate(*rig, *ParseRecipe("ddm"), Task())->peak_bytes;
  Open();
  EXPECT_TRUE(Acquire(rig, "ddm").ok());
  config_.memory_bytes -= 1;
  Open();
  const absl::Status refused = Acquire(rig, "ddm").status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ReasonOf(refused), v1::REASON_LIMIT);
  EXPECT_NE(refused.message().find("max-bind-bytes"), std::string::npos) << refused;
  EXPECT_EQ(Foresee(rig, "ddm").status(), refused);
}

TEST_F(DeformerCacheTest, EstimateEndsWithItsCall) {
  Open();
  std::stop_source stop;
  EXPECT_TRUE(Foresee(MakeRig(), "ddm", stop.get_token()).ok());
  stop.request_stop();
  EXPECT_EQ(Foresee(MakeRig(10), "ddm", stop.get_token()).status().code(),
            absl::StatusCode::kCancelled);
  EXPECT_EQ(Acquire(MakeRig(10), "ddm", stop.get_token()).status().code(),
            absl::StatusCode::kCancelled);
  EXPECT_EQ(cache_->entries(), 0u);
}

TEST_F(DeformerCacheTest, ForecastsAreKept) {
  Open();
  const auto rig = MakeRig();
  EXPECT_FALSE(cache_->IsKnown(kRig, *rig, DeterminismDigest(*ParseRecipe("ddm"))));
  const auto first = Foresee(rig, "ddm");
  EXPECT_TRUE(cache_->IsKnown(kRig, *rig, DeterminismDigest(*ParseRecipe("ddm"))));
  EXPECT_EQ(*Foresee(MakeRig(), "ddm()"), *first);
  EXPECT_EQ(&(*Acquire(rig, "ddm"))->forecast(), first->get());
  EXPECT_NE(*Foresee(rig, "dqs"), *first);
}

TEST_F(DeformerCacheTest, DrainEndsForecasts) {
  Open();
  const auto known = Foresee(MakeRig(), "ddm");
  cache_->Drain();
  EXPECT_EQ(Foresee(MakeRig(10), "ddm").status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(*Foresee(MakeRig(), "ddm"), *known);
}

TEST_F(DeformerCacheTest, LimitsEstimateTime) {
  config_.seconds = 0.02;
  config_.memory_bytes = ~std::uint64_t{0};
  Open();
  // Every joint reaches the whole mesh: seconds of work.
  const auto rig =
      ConvertRig(
          testing::TubeRig({.rings = 3000, .segments = 10, .joints = 1000}).SerializeAsString(), {})
          ->rig;
  const absl::Status late = Foresee(rig, "ddm(lambda=1000, iterations=100)").status();
  EXPECT_EQ(late.code(), absl::StatusCode::kResourceExhausted) << late;
  EXPECT_NE(late.message().find("max-bind-seconds"), std::string::npos) << late;
}

TEST_F(DeformerCacheTest, FailedBindIsNotCached) {
  Open();
  const auto use = Acquire(MakeRig(), "dqs(blend_map=nowhere)");
  const absl::Status status = use.ok() ? Wait(**use).error : use.status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_EQ(cache_->entries(), 0u);
}

std::vector<float> Evaluate(const Deformer& deformer, const Rig& rig) {
  std::vector<Affine> joints;
  for (const AffineD& joint : rig.skeleton().rest_model()) joints.push_back(ToFloat(joint));
  joints.back().m[3] = 0.5f;
  std::vector<float> positions(deformer.vertices() * 3);
  FrameOut out{.positions = std::as_writable_bytes(std::span<float>(positions))};
  Workspace workspace;
  EXPECT_TRUE(deformer.Evaluate({.joints = joints, .controls = {}}, out, workspace, Task()).ok());
  return positions;
}

TEST_F(DeformerCacheTest, ReadsBoundDataFromDisk) {
  Open(true);
  const auto rig = MakeRig();
  std::vector<float> bound;
  {
    const auto use = *Acquire(rig, "ddm");
    ASSERT_EQ(Wait(*use).state, BoundDeformer::State::kReady);
    bound = Evaluate(*use->deformer(), *rig);
  }
  Open(true);
  {
    const auto use = *Acquire(rig, "ddm");
    ASSERT_EQ(Wait(*use).state, BoundDeformer::State::kReady);
    EXPECT_EQ(Evaluate(*use->deformer(), *rig), bound);
  }
  EXPECT_EQ(metrics_.binds_bound.Value(), 1);
  EXPECT_EQ(metrics_.binds_loaded.Value(), 1);
}

TEST_F(DeformerCacheTest, BindsAgainIfFileIsDamaged) {
  Open(true);
  const auto rig = MakeRig();
  { Wait(**Acquire(rig, "dqs")); }
  const auto files = ListFiles(folder_ / "bound");
  ASSERT_EQ(files.size(), 1u);
  std::string bytes = *ReadWholeFile(folder_ / "bound" / files[0].name);
  bytes[bytes.size() / 2] ^= 1;
  std::ofstream(folder_ / "bound" / files[0].name, std::ios::binary) << bytes;
  Open(true);
  const auto use = *Acquire(rig, "dqs");
  EXPECT_EQ(Wait(*use).state, BoundDeformer::State::kReady);
  EXPECT_EQ(metrics_.binds_bound.Value(), 2);
  EXPECT_EQ(metrics_.binds_loaded.Value(), 0);
}

TEST_F(DeformerCacheTest, ExchangedFilesAreNotUsed) {
  Open(true);
  const auto rig = MakeRig();
  const std::vector<std::string> recipes = {"dqs", "lbs"};
  for (const std::string& recipe : recipes) Wait(**Acquire(rig, recipe));
  const auto files = ListFiles(folder_ / "bound");
  ASSERT_EQ(files.size(), 2u);
  fs::rename(folder_ / "bound" / files[0].name, folder_ / "aside");
  fs::rename(folder_ / "bound" / files[1].name, folder_ / "bound" / files[0].name);
  fs::rename(folder_ / "aside", folder_ / "bound" / files[1].name);
  Open(true);
  for (const std::string& recipe : recipes) {
    EXPECT_EQ(Wait(**Acquire(rig, recipe)).state, BoundDeformer::State::kReady);
  }
  EXPECT_EQ(metrics_.binds_loaded.Value(), 0);
  EXPECT_EQ(metrics_.binds_bound.Value(), 4);
}

TEST_F(DeformerCacheTest, TenantsShareNothing) {
  Open(true);
  const auto rig = MakeRig();
  const auto mine = Acquire(rig, "lbs"), theirs = Acquire(rig, "lbs", {}, {"bravo", kRig.hex}),
             nobodys = Acquire(rig, "lbs", {}, {"", kRig.hex});
  ASSERT_TRUE(mine.ok() && theirs.ok() && nobodys.ok());
  EXPECT_NE(mine->get(), theirs->get());
  for (const auto& use : {mine, theirs, nobodys}) Wait(**use);
  EXPECT_EQ(metrics_.binds_bound.Value(), 3);
  EXPECT_EQ(ListFiles(folder_ / "bound").size(), 3u);
}

TEST_F(DeformerCacheTest, ForgetsWhatIsDerivedFromRig) {
  Open(true);
  const auto rig = MakeRig();
  const RigKey other{kRig.tenant, std::string(64, 'b')};
  auto used = *Acquire(rig, "lbs");
  for (const BoundDeformer::Snapshot& bound :
       {Wait(*used), Wait(**Acquire(rig, "dqs")), Wait(**Acquire(rig, "lbs", {}, other))}) {
    EXPECT_EQ(bound.state, BoundDeformer::State::kReady);
  }
  cache_->Forget(kRig);
  EXPECT_EQ(cache_->entries(), 2u);
  const auto left = ListFiles(folder_ / "bound");
  ASSERT_EQ(left.size(), 1u);
  EXPECT_NE(left[0].name.find(other.hex), std::string::npos);
  EXPECT_NE(used->deformer(), nullptr);
  used.reset();
  EXPECT_EQ(cache_->entries(), 1u);
}

TEST_F(DeformerCacheTest, BindOfForgottenRigLeavesNoFile) {
  Open(true);
  auto blocking = Block();
  const auto waiting = *Acquire(MakeRig(), "dqs");
  cache_->Forget(kRig);
  blocking.reset();
  EXPECT_EQ(Wait(*waiting).state, BoundDeformer::State::kReady);
  EXPECT_TRUE(ListFiles(folder_ / "bound").empty());
}

TEST_F(DeformerCacheTest, RemovesFilesWithoutRig) {
  Open(true);
  const auto rig = MakeRig();
  const RigKey other{"", std::string(64, 'b')};
  Wait(**Acquire(rig, "lbs"));
  Wait(**Acquire(rig, "lbs", {}, other));
  Open(true);
  const std::string orphan = absl::StrCat(std::string(64, 'c'), ".bound");
  std::ofstream(folder_ / "bound" / orphan) << "of an earlier format";
  std::ofstream(folder_ / "bound" / "notes.txt") << "mine";
  cache_->files().RemoveOrphans([&](const RigKey& name) { return name.tenant == kRig.tenant; });
  const auto files = ListFiles(folder_ / "bound");
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].name.rfind("acme." + kRig.hex, 0), 0u);
}

TEST_F(DeformerCacheTest, LoadedFileCountsAsUsed) {
  Open(true);
  const auto rig = MakeRig();
  const auto file_of = [&](const std::string& recipe_text) {
    const auto before = cache_->files().List();
    Wait(**Acquire(rig, recipe_text));
    for (const fs::path& file : cache_->files().List()) {
      if (std::ranges::find(before, file) == before.end()) return file;
    }
    return fs::path();
  };
  const fs::path older = file_of("dqs"), newer = file_of("dqs(blend=0.5)");
  const auto now = fs::file_time_type::clock::now();
  fs::last_write_time(older, now - std::chrono::hours(2));
  fs::last_write_time(newer, now - std::chrono::hours(1));
  config_.disk_bytes = fs::file_size(older) * 5 / 2;
  Open(true);
  Wait(**Acquire(rig, "dqs"));
  EXPECT_EQ(metrics_.binds_loaded.Value(), 1);
  Wait(**Acquire(rig, "dqs(blend=0.25)"));
  EXPECT_TRUE(fs::exists(older));
  EXPECT_FALSE(fs::exists(newer));
}

TEST_F(DeformerCacheTest, DeletesOldestFilesOverBudget) {
  Open(true);
  const auto rig = MakeRig();
  { Wait(**Acquire(rig, "dqs")); }
  const std::uint64_t one = ListFiles(folder_ / "bound")[0].bytes;
  config_.disk_bytes = one + one / 2;
  Open(true);
  { Wait(**Acquire(rig, "dqs(blend=0.5)")); }
  EXPECT_EQ(ListFiles(folder_ / "bound").size(), 1u);
}

TEST(BoundDeformer, NotifiesWaitersOnceAndLetsThemLeave) {
  BoundDeformer bound("key", nullptr, {}, {});
  int notified = 0;
  bound.WhenDone([&] { ++notified; });
  const auto id = bound.WhenDone([&] { notified += 100; });
  bound.Forget(id);
  EXPECT_EQ(ReasonOf(bound.CheckReady()), v1::REASON_NOT_READY);
  bound.Finish(absl::InternalError("why"));
  EXPECT_EQ(notified, 1);
  bound.WhenDone([&] { ++notified; });
  EXPECT_EQ(notified, 2);
  EXPECT_EQ(bound.snapshot().error.message(), "why");
  EXPECT_EQ(bound.CheckReady().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(CostMean, FollowsFrameCost) {
  CostMean mean;
  EXPECT_EQ(mean.seconds(), 0);
  mean.Add(1);
  EXPECT_EQ(mean.seconds(), 1);
  for (int i = 0; i < 100; ++i) mean.Add(2);
  EXPECT_NEAR(mean.seconds(), 2, 1e-3);
}

}  // namespace
}  // namespace sinew::server
