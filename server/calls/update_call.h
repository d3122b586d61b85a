// update_call.h - calls that report progress, at most ten times a second, until their work is over.
#pragma once

#include <absl/status/statusor.h>
#include <grpcpp/support/byte_buffer.h>

#include <chrono>
#include <utility>

#include "core/base/status.h"
#include "server/calls/call_reactor.h"

namespace sinew::server {

template <class Derived, class Response>
class UpdateCall : public CallReactor<Derived> {
 public:
  void OnWriteDone(bool ok) final {
    const absl::MutexLock lock(&this->mutex_);
    held_.reset();
    if (!this->WriteDone(ok)) return;
    if (last_sent_) {
      this->End(absl::OkStatus());
    } else if (over_) {  // during this write
      Update();
    }
  }

 protected:
  using CallReactor<Derived>::CallReactor;

  // Whether the state differs from the last update. Fast.
  virtual bool HasNews() ABSL_EXCLUSIVE_LOCKS_REQUIRED(this->mutex_) = 0;
  // Writes the current state to `response`. Returns whether it is the last one. An error ends the
  // call.
  virtual absl::StatusOr<bool> Report(Response& response)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(this->mutex_) = 0;

  void StartUpdates() ABSL_EXCLUSIVE_LOCKS_REQUIRED(this->mutex_) {
    timer_ = this->runtime_.timers.Every(kPeriod, [weak = this->weak_from_this()] {
      const auto self = weak.lock();
      // All calls share this thread: it neither waits for one nor makes messages.
      if (self == nullptr || !self->mutex_.TryLock()) return;
      if (self->MayUpdate() && !std::exchange(self->posted_, true)) {
        self->runtime_.control.PostStep(self->call_.caller().client(), [self](const absl::Status&) {
          const absl::MutexLock lock(&self->mutex_);
          self->posted_ = false;
          self->Update();
        });
      }
      self->mutex_.Unlock();
    });
  }
  void Update() ABSL_EXCLUSIVE_LOCKS_REQUIRED(this->mutex_) {
    if (!MayUpdate()) return;
    const absl::Status status = Write();
    if (!status.ok()) this->End(status);
  }
  // The last update need not wait for the timer.
  void UpdateLast() ABSL_EXCLUSIVE_LOCKS_REQUIRED(this->mutex_) {
    over_ = true;
    Update();
  }

  void OnEnd() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(this->mutex_) {
    this->runtime_.timers.Cancel(timer_);
  }

  bool over_ ABSL_GUARDED_BY(this->mutex_) = false;
  bool last_sent_ ABSL_GUARDED_BY(this->mutex_) = false;

 private:
  static constexpr std::chrono::milliseconds kPeriod{100};

  bool MayUpdate() ABSL_EXCLUSIVE_LOCKS_REQUIRED(this->mutex_) {
    return !this->ended_ && !this->writing_ && !last_sent_ && HasNews();
  }
  absl::Status Write() ABSL_EXCLUSIVE_LOCKS_REQUIRED(this->mutex_) {
    Response response;
    SINEW_ASSIGN_OR_RETURN(last_sent_, Report(response));
    SINEW_ASSIGN_OR_RETURN(held_, this->runtime_.held_bytes.Take(this->call_.caller().client(),
                                                                 response.ByteSizeLong()));
    message_ = ToBytes(response);
    this->WriteStarted();
    this->StartWrite(&message_);
    return absl::OkStatus();
  }

  Timers::Id timer_ ABSL_GUARDED_BY(this->mutex_) = 0;
  bool posted_ ABSL_GUARDED_BY(this->mutex_) = false;  // an update, to a worker
  grpc::ByteBuffer message_ ABSL_GUARDED_BY(this->mutex_);
  Quota::Permit held_ ABSL_GUARDED_BY(this->mutex_);  // memory of message_, until it has been read
};

}  // namespace sinew::server
