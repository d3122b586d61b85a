// deformer_cache_fixture.h - a cache of bound data, in memory or under a folder.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <future>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>

#include "core/deform/engine/recipe_text.h"
#include "server/convert/rig.h"
#include "server/store/deformer_cache.h"
#include "tests/support/fitted_config.h"
#include "tests/support/test_rig.h"

namespace sinew::server {

namespace fs = std::filesystem;

inline const RigKey kRig{"acme", std::string(64, 'a')};

class DeformerCacheTest : public ::testing::Test {
 protected:
  ~DeformerCacheTest() override {
    cache_.reset();
    fs::remove_all(folder_);
  }

  void Open(bool on_disk = false) {
    cache_.reset();
    auto cache = DeformerCache::Open(config_, share_, on_disk ? folder_.string() : "", sharing_,
                                     {shorts_, longs_}, arenas_, timers_, metrics_,
                                     std::make_shared<spdlog::logger>("test"));
    ASSERT_TRUE(cache.ok()) << cache.status();
    cache_ = *std::move(cache);
  }

  static std::shared_ptr<const Rig> MakeRig(std::uint32_t rings = 9) {
    return ConvertRig(testing::TubeRig({.rings = rings}).SerializeAsString(), {})->rig;
  }

  absl::StatusOr<DeformerCache::Use> Acquire(const std::shared_ptr<const Rig>& rig,
                                             const std::string& recipe_text,
                                             const std::stop_token& stop = {},
                                             const RigKey& name = kRig,
                                             const std::string& client = "client") {
    const Recipe recipe = *ParseRecipe(recipe_text);
    return cache_->Acquire(name, rig, recipe, DeterminismDigest(recipe), client, stop);
  }
  absl::StatusOr<std::shared_ptr<const Forecast>> Foresee(const std::shared_ptr<const Rig>& rig,
                                                          const std::string& recipe_text,
                                                          const std::stop_token& stop = {}) {
    const Recipe recipe = *ParseRecipe(recipe_text);
    return cache_->Foresee(kRig, *rig, recipe, DeterminismDigest(recipe), stop);
  }

  static BoundDeformer::Snapshot Wait(BoundDeformer& bound) {
    std::promise<void> done;
    bound.WhenDone([&] { done.set_value(); });
    done.get_future().wait();
    return bound.snapshot();
  }

  // A use of data that is bound, or null.
  DeformerCache::Use Bound(const std::shared_ptr<const Rig>& rig, const std::string& recipe_text) {
    const auto use = Acquire(rig, recipe_text);
    EXPECT_TRUE(use.ok()) << use.status();
    if (!use.ok()) return nullptr;
    Wait(**use);
    return *use;
  }

  // A bind that takes many seconds, so that others wait behind it until it is cancelled.
  DeformerCache::Use Block() {
    const auto rig =
        ConvertRig(
            testing::TubeRig({.rings = 400, .segments = 50, .joints = 100}).SerializeAsString(), {})
            ->rig;
    DeformerCache::Use use =
        *Acquire(rig, "ddm(smoothing=explicit, lambda=1, iterations=1000, truncation=0)");
    while (cache_->binds_running() == 0) std::this_thread::yield();
    return use;
  }

  BindConfig config_ = testing::FittedConfig().binds;
  double share_ = 1;
  fs::path folder_ = fs::path(::testing::TempDir()) / ("bound" + std::to_string(::getpid()));
  Pool shorts_{"short binds", Pool::Start::kWhenPosted},
      longs_{"long binds", Pool::Start::kWhenPosted};
  Arenas arenas_{2};
  Timers timers_{RealClock()};
  DeformerCache::Sharing sharing_;
  Metrics metrics_{"0", "scalar"};
  std::unique_ptr<DeformerCache> cache_;
};

}  // namespace sinew::server
