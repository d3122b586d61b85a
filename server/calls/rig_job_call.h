// rig_job_call.h - calls that compute a new rig from the bytes of a stored one, with progress.
//
// Computed one at a time, on a thread of its own.
#pragma once

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include <atomic>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/digest.h"
#include "core/base/status.h"
#include "core/parallel/task.h"
#include "server/base/status.h"
#include "server/calls/update_call.h"
#include "server/convert/rig.h"
#include "server/threads/time_limit.h"

namespace sinew::server {

// Response has `progress` and `rig`. Derived has a name kJob, such as "weights", for messages, and
//
//   // The rig as it becomes, and what the response says besides. Errors of core are passed on.
//   absl::Status Compute(const Task::Options& task, v1::Rig& rig, Response& response);
template <class Derived, class Response>
class RigJobCall : public UpdateCall<Derived, Response> {
 public:
  using UpdateCall<Derived, Response>::UpdateCall;

 protected:
  // From OnStart, with a valid request.
  absl::Status StartJob(const std::string& rig) ABSL_EXCLUSIVE_LOCKS_REQUIRED(this->mutex_) {
    SINEW_ASSIGN_OR_RETURN(hex_, ParseRigName("rig", rig));
    this->call_.SetObject(rig);
    if (!this->runtime_.rigs->Has({this->call_.caller().tenant, hex_})) return UnknownRig(hex_);
    this->PostStep(this->runtime_.weighing, [](Derived& call) {
      call.runtime_.arenas.Bind(Arenas::Binds::kWeights, [&call] { call.Run(); });
    });
    this->StartUpdates();
    return absl::OkStatus();
  }

 private:
  friend Derived;

  // It may take long: it is not finished.
  void OnDrain() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(this->mutex_) { this->End(Draining()); }
  bool HasNews() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(this->mutex_) {
    return this->over_ || progress_.load() != sent_progress_;
  }
  absl::StatusOr<bool> Report(Response& response) override
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(this->mutex_) {
    if (this->over_) {
      response = std::move(last_);
    } else {
      sent_progress_ = progress_.load();
      response.set_progress(sent_progress_);
    }
    return this->over_;
  }

  void Run() {
    // A job counts against the limit until it is done, even if the client is gone before.
    Quota::Permit permit;
    {
      const absl::MutexLock lock(&this->mutex_);
      if (this->ended_) return;
      permit = this->permit_;
    }
    absl::StatusOr<Response> response = CatchExceptions([&] { return ComputeAndStore(); });
    const absl::MutexLock lock(&this->mutex_);
    permit.reset();
    if (this->ended_) return;
    if (!response.ok()) {
      this->End(response.status());
      return;
    }
    last_ = *std::move(response);
    this->UpdateLast();
  }

  absl::StatusOr<Response> ComputeAndStore() {
    auto& runtime = this->runtime_;
    const WeightsConfig& limits = runtime.config.weights;
    const TimeLimit time(runtime.timers, limits.seconds, Derived::kJob, "max-weight-seconds",
                         [weak = this->weak_from_this()] {
                           if (const auto self = weak.lock()) self->call_.Cancel();
                         });
    SINEW_ASSIGN_OR_RETURN(RigStore::Message message,
                           runtime.rigs->GetMessage({this->call_.caller().tenant, hex_}));
    const auto start = std::chrono::steady_clock::now();
    Response response;
    const absl::Status status = static_cast<Derived*>(this)->Compute(
        {.stop = this->call_.stop_token(),
         .memory_limit = limits.memory_bytes,
         .progress = [this](double done) { progress_.store(static_cast<float>(done)); }},
        message.rig, response);
    message.held.reset();  // storing the result takes one of its own
    if (absl::IsResourceExhausted(status) && absl::StartsWith(status.message(), kNoMemory)) {
      return LimitExceeded(Derived::kJob, StdView(absl::StripPrefix(status.message(), kNoMemory)),
                           "max-weight-bytes");
    }
    if (!status.ok()) return time.Named(WithDetails(status));
    runtime.log->info("{} of rigs/sha256-{} took {:.3f} s", Derived::kJob, hex_,
                      SecondsSince(start));
    const std::string bytes = SerialiseRig(message.rig);
    SINEW_RETURN_IF_ERROR(
        CheckLimit("rig", bytes.size(), runtime.config.rigs.bytes, "bytes", "max-rig-bytes"));
    if (this->call_.stop_token().stop_requested()) {
      return absl::CancelledError(absl::StrCat(Derived::kJob, ": cancelled"));
    }
    SINEW_ASSIGN_OR_RETURN(const auto stored,
                           runtime.rigs->Put(this->call_.caller(), Sha256Hex(bytes), bytes, {}));
    this->call_.ReportChange();
    response.set_progress(1);
    *response.mutable_rig() = stored->summary;
    return response;
  }

  std::string hex_;  // constant once the job is posted
  std::atomic<float> progress_{0};
  float sent_progress_ ABSL_GUARDED_BY(this->mutex_) = -1;
  Response last_ ABSL_GUARDED_BY(this->mutex_);  // once over_
};

}  // namespace sinew::server
