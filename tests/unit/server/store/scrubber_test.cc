#include "server/store/scrubber.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <string>

#include "core/deform/engine/recipe_text.h"
#include "tests/support/fake_clock.h"
#include "tests/support/wait_until.h"
#include "tests/unit/server/store/store_fixture.h"

namespace sinew::server {
namespace {

namespace fs = std::filesystem;
using std::chrono::hours;
using std::chrono::seconds;

class ScrubberTest : public StoreTest {
 protected:
  void SetUp() override {
    rigs_ = OpenStore();
    bound_ = *DeformerCache::Open(testing::FittedConfig().binds, 1, config_.data_dir, {},
                                  {shorts_, longs_}, arenas_, timers_, metrics_, QuietLog());
  }
  ~ScrubberTest() override { timers_.Stop(); }

  void Start() {
    scrubber_ = std::make_unique<Scrubber>(
        scrub_, *rigs_, *bound_, timers_,
        [](const std::function<void()>& step) {
          step();
          return absl::OkStatus();
        },
        metrics_, QuietLog());
    scrubber_->Start();
  }
  // The clock may run far ahead of the pass, so nothing depends on when it ends.
  void FinishPass(seconds step = seconds(1)) {
    const double passes = metrics_.scrub_passes.Value();
    testing::WaitUntil([&] { return metrics_.scrub_passes.Value() > passes; },
                       [&] { clock_.Advance(step); });
  }
  // A rig's file of bound data.
  fs::path Bind(const Sample& sample) {
    const Recipe recipe = *ParseRecipe("lbs");
    const auto use = *bound_->Acquire(sample.key, (*rigs_->Get(sample.key))->rig, recipe,
                                      DeterminismDigest(recipe), {}, {});
    std::promise<void> done;
    use->WhenDone([&] { done.set_value(); });
    done.get_future().wait();
    return bound_->files().List()[0];
  }
  void Put(const Sample& sample) {
    ASSERT_TRUE(rigs_->Put(kCaller, sample.hex, sample.bytes, {}).ok());
  }
  static void FlipLastByte(const fs::path& file) {
    std::string bytes = *ReadWholeFile(file);
    bytes.back() ^= 1;
    std::ofstream(file, std::ios::binary) << bytes;
  }

  ScrubConfig scrub_;
  testing::FakeClock clock_;
  Pool shorts_{"short binds", Pool::Start::kWhenPosted},
      longs_{"long binds", Pool::Start::kWhenPosted};
  Arenas arenas_{1};
  Timers timers_{clock_};
  std::unique_ptr<RigStore> rigs_;
  std::unique_ptr<DeformerCache> bound_;
  std::unique_ptr<Scrubber> scrubber_;
};
INSTANTIATE_TEST_SUITE_P(Places, ScrubberTest, ::testing::Values(true));

TEST_P(ScrubberTest, FindsDamageOncePerDay) {
  const Sample good = MakeSample("a"), bad = MakeSample("b");
  Put(good);
  Put(bad);
  const fs::path bound = Bind(good);
  const auto start = clock_.Now();
  Start();
  FinishPass();
  EXPECT_EQ(metrics_.damaged_rigs.Value() + metrics_.damaged_bound.Value(), 0);
  EXPECT_TRUE(rigs_->Has(good.key) && rigs_->Has(bad.key) && fs::exists(bound));
  FlipLastByte(FileOf(bad));
  FlipLastByte(bound);
  FinishPass(std::chrono::minutes(1));
  EXPECT_GE(clock_.Now() - start, hours(24));
  EXPECT_EQ(metrics_.damaged_rigs.Value(), 1);
  EXPECT_EQ(metrics_.damaged_bound.Value(), 1);
  EXPECT_FALSE(rigs_->Has(bad.key));
  EXPECT_TRUE(rigs_->Has(good.key));
  EXPECT_TRUE(fs::exists(FileOf(bad) += kDamagedSuffix));
  EXPECT_TRUE(fs::exists(fs::path(bound) += kDamagedSuffix));
}

TEST_P(ScrubberTest, RestoresDamagedSummary) {
  const Sample sample = MakeSample("a");
  Put(sample);
  fs::path summary = FileOf(sample);
  summary += ".summary";
  FlipLastByte(summary);
  const auto vertices = [&] {
    bool more = false;
    return rigs_->List({}, "", 10, more)[0]->vertices();
  };
  bound_.reset();
  rigs_.reset();
  SetUp();
  ASSERT_EQ(vertices(), 0u);
  Start();
  FinishPass();
  EXPECT_EQ(vertices(), 72u);
  scrubber_.reset();
  bound_.reset();
  rigs_.reset();
  SetUp();
  EXPECT_EQ(vertices(), 72u) << "from its file";
}

TEST_P(ScrubberTest, ReadsAtBoundedRate) {
  const Sample sample = MakeSample("long", {.rings = 3000, .segments = 50});
  ASSERT_GT(sample.bytes.size(), 5 * kPieceBytes);
  Put(sample);
  scrub_.bytes_per_second = static_cast<double>(kPieceBytes) / 10;
  Start();
  const auto start = clock_.Now();
  const auto read = [&] { return metrics_.scrubbed_bytes.Value() / kPieceBytes; };
  for (int pieces = 1; pieces <= 4; ++pieces) {
    testing::WaitUntil([&] { return read() >= pieces; }, [&] { clock_.Advance(seconds(1)); });
    EXPECT_EQ(read(), pieces);
    EXPECT_GE(clock_.Now() - start, seconds(1 + 10 * (pieces - 1)));
  }
}

TEST_P(ScrubberTest, RemovesOldDamagedFiles) {
  const auto damaged = [&](const char* name, hours age) {
    const fs::path path = Folder("rigs") / name += kDamagedSuffix;
    std::ofstream(path) << "0123456789";
    const auto now = std::chrono::file_clock::now();
    const auto offset = clock_.WallNow() - std::chrono::system_clock::now();
    fs::last_write_time(path,
                        now + std::chrono::duration_cast<std::chrono::nanoseconds>(offset) - age);
    return path;
  };
  scrub_.damaged_days = 10;
  scrub_.damaged_bytes = 20;
  constexpr hours kYear(24 * 365);
  const fs::path newest = damaged("a", -10 * kYear), newer = damaged("b", -9 * kYear),
                 beyond_budget = damaged("c", -8 * kYear), old = damaged("d", hours(24 * 11));
  Start();
  FinishPass();
  EXPECT_TRUE(fs::exists(newest));
  EXPECT_TRUE(fs::exists(newer));
  EXPECT_FALSE(fs::exists(beyond_budget));
  EXPECT_FALSE(fs::exists(old));
}

TEST_P(ScrubberTest, AgeAloneRemovesDamagedFiles) {
  const fs::path path = Folder("rigs") / "a.damaged";
  std::ofstream(path) << "x";  // its time is that of the computer, years after that of the clock
  scrub_.damaged_days = 1;
  Start();
  FinishPass();
  EXPECT_TRUE(fs::exists(path));
  fs::last_write_time(path, fs::last_write_time(path) - hours(24 * 365 * 60));
  FinishPass(std::chrono::minutes(1));
  EXPECT_FALSE(fs::exists(path));
}

}  // namespace
}  // namespace sinew::server
