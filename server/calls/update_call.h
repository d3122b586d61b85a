// update_call.h - calls that report progress, at most ten times a second, until their work is over.
#pragma once

#include <absl/status/statusor.h>
#include <grpcpp/support/byte_buffer.h>

#include <chrono>

#include "server/calls/call_reactor.h"

namespace sinew::server {

template <class Derived, class Response>
class UpdateCall : public CallReactor<Derived> {
 public:
  void OnWriteDone(bool ok) final {
    const absl::MutexLock lock(&this->mutex_);
    if (!this->WriteDone(ok)) return;
    if (last_sent_) {
      this->End(absl::OkStatus());
    } else if (over_) {  // during this write
      Update();
    }
  }

 protected:
  using CallReactor<Derived>::CallReactor;

  enum class News { kNone, kProgress, kLast };
  // Writes the current state to `response`, if it is news. An error ends the call.
  virtual absl::StatusOr<News> Report(Response& response)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(this->mutex_) = 0;

  void StartUpdates() ABSL_EXCLUSIVE_LOCKS_REQUIRED(this->mutex_) {
    timer_ = this->runtime_.timers.Every(kPeriod, [weak = this->weak_from_this()] {
      if (const auto self = weak.lock()) {
        const absl::MutexLock lock(&self->mutex_);
        self->Update();
      }
    });
  }
  void Update() ABSL_EXCLUSIVE_LOCKS_REQUIRED(this->mutex_) {
    if (this->ended_ || this->writing_ || last_sent_) return;
    Response response;
    const absl::StatusOr<News> news = Report(response);
    if (!news.ok()) {
      this->End(news.status());
    } else if (*news != News::kNone) {
      last_sent_ = *news == News::kLast;
      message_ = ToBytes(response);
      this->WriteStarted();
      this->StartWrite(&message_);
    }
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
  Timers::Id timer_ ABSL_GUARDED_BY(this->mutex_) = 0;
  grpc::ByteBuffer message_ ABSL_GUARDED_BY(this->mutex_);
};

}  // namespace sinew::server
