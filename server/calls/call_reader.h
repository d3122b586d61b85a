// call_reader.h - how a call receives its request: only so many messages arrive at a time.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>
#include <grpcpp/support/byte_buffer.h>

#include <chrono>
#include <optional>
#include <utility>

#include "server/base/catch_exceptions.h"
#include "server/calls/call_work.h"
#include "server/calls/rpc_service.h"
#include "server/runtime.h"

namespace sinew::server {

// Derived: the call. Most calls have one request and override Check and OnStart; calls with more
// override OnAdmitted and OnReadDone.
template <class Derived>
class CallReader : public CallWork<Derived>, public RpcReactor {
 public:
  void OnReadDone(bool ok) override {
    {
      const absl::MutexLock lock(&this->mutex_);
      EndRead();
      if (this->ended_) return;
      if (!ok) {
        this->End(InvalidField("request", "none was sent, need one"));
        return;
      }
      has_request_ = true;
      const absl::Status status = CatchExceptions([&]() -> absl::Status {
        this->mutex_.AssertHeld();
        SINEW_RETURN_IF_ERROR(Check());
        SINEW_RETURN_IF_ERROR(TakePlace());
        return OnStart();
      });
      if (!status.ok()) {
        this->End(status);
        return;
      }
    }
    OnStarted();
  }

 protected:
  using CallWork<Derived>::CallWork;

  // The caller may make this call. Default: reads its request.
  virtual absl::Status OnAdmitted() ABSL_EXCLUSIVE_LOCKS_REQUIRED(this->mutex_) {
    ReadInTurn();
    return absl::OkStatus();
  }
  // Checks the request in read_, before it takes a place.
  virtual absl::Status Check() ABSL_EXCLUSIVE_LOCKS_REQUIRED(this->mutex_) {
    return absl::OkStatus();
  }
  // It has a place.
  virtual absl::Status OnStart() ABSL_EXCLUSIVE_LOCKS_REQUIRED(this->mutex_) {
    return absl::OkStatus();
  }
  virtual void OnStarted() {}  // after OnStart, without the mutex

  // Takes a place within the method's limit until the call ends.
  absl::Status TakePlace() ABSL_EXCLUSIVE_LOCKS_REQUIRED(this->mutex_) {
    SINEW_ASSIGN_OR_RETURN(permit_, this->call_.TakePlace());
    return absl::OkStatus();
  }

  // Reads a message into read_, as soon as one more may arrive: from the start of a read until its
  // last byte, gRPC holds what it has received, up to max-message-bytes.
  void ReadInTurn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(this->mutex_) {
    const std::string client = this->call_.caller().client();
    auto turn = this->runtime_.arrivals.Take(client, [self = this->Self()](Turns::Place place) {
      // Whoever gives a place back holds the mutex of its call.
      self->runtime_.control.PostStep(self->call_.caller().client(),
                                      [self, place = std::move(place)](const absl::Status&) {
                                        const absl::MutexLock lock(&self->mutex_);
                                        if (!self->ended_) self->StartReadWith(place);
                                      });
    });
    turn_ = turn.ticket;
    if (turn.place != nullptr) StartReadWith(std::move(turn.place));
  }
  // From OnReadDone.
  void EndRead() ABSL_EXCLUSIVE_LOCKS_REQUIRED(this->mutex_) {
    arriving_.reset();
    read_start_.reset();
  }
  // The call has ended: does not wait to read any more.
  void DropRead() ABSL_EXCLUSIVE_LOCKS_REQUIRED(this->mutex_) {
    if (turn_ != 0) this->runtime_.arrivals.Remove(turn_);
  }
  void EndStalledRead(Clock::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(this->mutex_) {
    if (this->ended_ || !read_start_) return;
    if (now - *read_start_ > stall_limit()) {
      this->End(Stalled("no complete message has arrived", stall_limit()));
    } else if (now - *read_start_ > kUndisturbed && arriving_ != nullptr &&
               this->runtime_.arrivals.MustYield(this->call_.caller().client(), now)) {
      this->End(Displaced());
    }
  }
  bool has_request() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(this->mutex_) { return has_request_; }

  std::chrono::duration<double> stall_limit() const {
    return std::chrono::duration<double>(this->runtime_.config.streams.stall_seconds);
  }

  grpc::ByteBuffer read_;  // gRPC's until OnReadDone
  // A job that must count until it is done, even if the call ends before, holds a reference.
  Quota::Permit permit_ ABSL_GUARDED_BY(this->mutex_);

 private:
  // How long a message may take before it can be displaced.
  static constexpr std::chrono::seconds kUndisturbed{1};

  void StartReadWith(Turns::Place place) ABSL_EXCLUSIVE_LOCKS_REQUIRED(this->mutex_) {
    turn_ = 0;
    arriving_ = std::move(place);
    read_start_ = this->runtime_.clock.Now();
    this->StartRead(&read_);
  }

  Turns::Ticket turn_ ABSL_GUARDED_BY(this->mutex_) = 0;  // while it waits to read
  Turns::Place arriving_ ABSL_GUARDED_BY(this->mutex_);   // while it reads
  bool has_request_ ABSL_GUARDED_BY(this->mutex_) = false;
  std::optional<Clock::Time> read_start_ ABSL_GUARDED_BY(this->mutex_);
};

}  // namespace sinew::server
