// long_work.h - binds, estimates and frames that take seconds, and calls that wait for them.
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <functional>
#include <list>
#include <string>
#include <utility>
#include <vector>

#include "tests/integration/server/stubs.h"
#include "tests/support/heavy_recipe.h"
#include "tests/support/test_rig.h"
#include "tests/support/wait_until.h"

namespace sinew::testing {

// A bind of several seconds, to be looked at, waited for and cancelled.
inline constexpr char kSlowRecipe[] =
    "ddm(smoothing=explicit, lambda=1, iterations=1000, truncation=0)";
inline constexpr TubeShape kSlowTube{.rings = 800, .segments = 50, .joints = 250};

// Recipes that differ, so that each is bound or estimated.
inline std::string SlowBind(int k) {
  return "ddm(smoothing=explicit, lambda=1, iterations=" + std::to_string(1000 - k) +
         ", truncation=0)";
}
// Every joint reaches the whole mesh, so the estimate takes seconds.
inline constexpr TubeShape kLongTube{.rings = 3000, .segments = 10, .joints = 1000};
inline std::string SlowEstimate(int k) {
  return "ddm(lambda=1000, iterations=" + std::to_string(1000 - k) + ")";
}

// With HeavyRecipe(10) a frame of this tube takes seconds.
inline constexpr TubeShape kHeavyTube{.rings = 1000, .segments = 60};

// Calls in progress, cancelled in the end.
class Calls {
 public:
  explicit Calls(Stubs& stubs) : stubs_(stubs) {}
  ~Calls() {
    for (auto& call : calls_) call.context.TryCancel();
    WaitUntil([&] { return finished_ == calls_.size(); });
  }
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;

  void Estimate(const std::string& rig, const std::string& recipe_text) {
    auto& call = calls_.emplace_back();
    call.create.mutable_source()->set_rig(rig);
    call.create.mutable_source()->set_recipe_text(recipe_text);
    call.create.set_validate_only(true);
    stubs_.sessions->async()->CreateSession(&call.context, &call.create, &call.created, Done(call));
  }
  void Deform(const std::string& session, const v1::Pose& pose) {
    auto& call = calls_.emplace_back();
    call.deform.mutable_target()->set_session(session);
    *call.deform.mutable_pose() = pose;
    stubs_.deforms->async()->Deform(&call.context, &call.deform, &call.deformed, Done(call));
  }
  void Cancel(std::size_t index) { std::next(calls_.begin(), index)->context.TryCancel(); }

  std::size_t size() const { return calls_.size(); }
  std::size_t finished() const { return finished_; }
  // Waits until all calls have finished; their status codes.
  std::vector<grpc::StatusCode> Codes() {
    WaitUntil([&] { return finished_ == calls_.size(); });
    std::vector<grpc::StatusCode> codes;
    for (const auto& call : calls_) codes.push_back(call.status.error_code());
    return codes;
  }

 private:
  struct Call {
    grpc::ClientContext context;
    v1::CreateSessionRequest create;
    v1::CreateSessionResponse created;
    v1::DeformRequest deform;
    v1::DeformResponse deformed;
    grpc::Status status;
  };
  std::function<void(grpc::Status)> Done(Call& call) {
    return [this, &call](grpc::Status status) {
      call.status = std::move(status);
      ++finished_;
    };
  }

  Stubs& stubs_;
  std::list<Call> calls_;
  std::atomic<std::size_t> finished_{0};
};

}  // namespace sinew::testing
