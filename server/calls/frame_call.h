// frame_call.h - calls that send frames: an outbox, one write at a time, and sessions in use.
#pragma once

#include <absl/strings/str_cat.h>
#include <grpcpp/support/byte_buffer.h>

#include <chrono>
#include <memory>
#include <vector>

#include "server/calls/call_reactor.h"
#include "server/frames/outbox.h"
#include "sinew/v1/deform_service.pb.h"

namespace sinew::server {

template <class Derived>
class FrameCall : public CallReactor<Derived> {
 public:
  void OnWriteDone(bool ok) final {
    const absl::MutexLock lock(&this->mutex_);
    message_.Clear();
    previous_send_ns_ = Observe(this->runtime_.clock.Now() - this->write_start_,
                                this->runtime_.metrics.send_seconds);
    if (this->WriteDone(ok)) Pump();
  }

 protected:
  using CallReactor<Derived>::CallReactor;

  // Starts whatever can start: a write, an evaluation, the end.
  virtual void Pump() ABSL_EXCLUSIVE_LOCKS_REQUIRED(this->mutex_) = 0;

  // Answers a pose that cannot be evaluated.
  template <class Response>
  void AddProblem(std::uint64_t frame, const absl::Status& status, Response& response) {
    v1::FrameProblem& problem = *response.add_problems();
    problem.set_frame(frame);
    *problem.mutable_problem() = ToProblem(status);
    this->runtime_.metrics.frame_problems.Increment();
  }

  // Starts a write if none is pending and something waits.
  void WriteNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(this->mutex_) {
    if (this->writing_ || this->ended_ || outbox_.empty()) return;
    const Outbox::Taken taken = outbox_.Next(previous_send_ns_, message_);
    this->runtime_.metrics.frames.Increment(static_cast<double>(taken.frames));
    this->runtime_.metrics.frame_bytes.Increment(static_cast<double>(taken.bulk_bytes));
    this->WriteStarted();
    this->StartWrite(&message_);
  }

  // An open call ends when one of its sessions is deleted.
  void OnTick(Clock::Time) override ABSL_EXCLUSIVE_LOCKS_REQUIRED(this->mutex_) {
    for (const auto& session : sessions_) {
      if (session->ended.load()) {
        this->End(absl::NotFoundError(absl::StrCat("session: ", session->name, " was deleted")));
        return;
      }
    }
  }
  void OnEnd() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(this->mutex_) { outbox_.Clear(); }

  Outbox outbox_ ABSL_GUARDED_BY(this->mutex_);
  // Not released at the end of the call: the last job may still use one.
  std::vector<std::shared_ptr<Session>> sessions_ ABSL_GUARDED_BY(this->mutex_);

 private:
  // One more reference to the buffers of the message until its write is done.
  grpc::ByteBuffer message_ ABSL_GUARDED_BY(this->mutex_);
  std::uint64_t previous_send_ns_ ABSL_GUARDED_BY(this->mutex_) = 0;
};

}  // namespace sinew::server
