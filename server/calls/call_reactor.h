// call_reactor.h - what all calls share: lifetime, admission, cancellation, stalled writes and
// replies, and the end.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>

#include <chrono>
#include <memory>
#include <utility>

#include "server/base/catch_exceptions.h"
#include "server/calls/call.h"
#include "server/calls/call_work.h"
#include "server/runtime.h"

namespace sinew::server {

// Derived: the call. Reactor: the gRPC reactor that it is.
//
// Lifetime: gRPC has only a pointer to the reactor, so the call owns itself until OnDone. Jobs and
// callbacks hold references of their own while they run.
// Locking: a call's mutex may be held while locking a table or a queue, never the reverse.
template <class Derived, class Reactor>
class CallReactor : public CallWork<Derived>, public Reactor, public LiveCall {
  using Work = CallWork<Derived>;
  friend Work;

 public:
  // Makes a call and starts it; a failure ends it. `arguments`: of its constructor, after these.
  template <class... Arguments>
  static Derived* Start(const RpcMethod& method, grpc::CallbackServerContext* context,
                        Arguments... arguments) {
    auto call = std::make_shared<Derived>(method, context, arguments...);
    call->self_ = call;
    call->mutex_.Lock();
    call->runtime_.AddCall(call);
    const absl::Status status = CatchExceptions([&] {
      call->mutex_.AssertHeld();  // for the compiler, which does not look outside a lambda
      return call->Begin();
    });
    if (!status.ok()) call->End(status);
    call->mutex_.Unlock();
    if (status.ok()) call->OnStarted();
    return call.get();
  }

  void OnCancel() final {
    const absl::MutexLock lock(&mutex_);
    End(absl::CancelledError("call: cancelled by the client"));
  }
  void OnDone() final {
    runtime_.RemoveCall(this);
    const auto self = std::move(self_);
    const absl::MutexLock lock(&mutex_);
    done_ = true;
  }
  bool TryTick(Clock::Time now) final {
    if (!mutex_.TryLock()) return false;
    DoTick(now);
    mutex_.Unlock();
    return true;
  }
  void Tick(Clock::Time now) final {
    const absl::MutexLock lock(&mutex_);
    DoTick(now);
  }
  void Drain() final {
    const absl::MutexLock lock(&mutex_);
    if (!ended_) OnDrain();
  }

 protected:
  using Work::call_;
  using Work::ended_;
  using Work::mutex_;
  using Work::runtime_;

  CallReactor(const RpcMethod& method, grpc::CallbackServerContext* context)
      : Work(method, context), context_(context) {}

  // Checks the request, before it is admitted.
  virtual absl::Status Check() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return absl::OkStatus(); }
  // The call has been admitted.
  virtual absl::Status OnStart() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) = 0;
  virtual void OnStarted() {}  // after OnStart, without the mutex
  // Several times a second.
  virtual void OnTick(Clock::Time) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {}
  // The server drains. Default: the call is answered to its end, unless that waits for a bind.
  virtual void OnDrain() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (this->WaitsForBind()) End(Draining());
  }
  // The call has just ended: nothing may start any more.
  virtual void OnEnd() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {}

  // Around StartWrite, and from OnWriteDone; false: the call has ended.
  void WriteStarted() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    writing_ = true;
    write_start_ = runtime_.clock.Now();
  }
  bool WriteDone(bool ok) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    writing_ = false;
    if (!ok) End(absl::CancelledError("call: the client has disconnected"));
    FinishOnce();
    return !ended_;
  }

  void End(const absl::Status& status) final ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (ended_) return;
    ended_ = true;
    call_.Cancel();  // the result of work in progress would not be read
    this->DropWork();
    OnEnd();
    permit_.reset();  // before finishing, so that an immediate retry is admitted
    final_ = call_.End(status);
    // A pending write goes first: the status then arrives with its details.
    if (!writing_ || absl::IsCancelled(status)) FinishOnce();
  }

  std::chrono::duration<double> stall_limit() const {
    return std::chrono::duration<double>(runtime_.config.streams.stall_seconds);
  }

  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  Clock::Time write_start_ ABSL_GUARDED_BY(mutex_);  // or Finish
  // A job that must count until it is done, even if the call ends before, holds a reference.
  Quota::Permit permit_ ABSL_GUARDED_BY(mutex_);

 private:
  absl::Status Begin() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    SINEW_RETURN_IF_ERROR(call_.Begin());
    SINEW_RETURN_IF_ERROR(Check());
    SINEW_ASSIGN_OR_RETURN(permit_, call_.TakePlace());
    return OnStart();
  }

  void DoTick(Clock::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    CutOffIfStalled(now);
    if (!ended_) OnTick(now);
  }

  // A write that the reader blocks would hold back any status for ever, and a reply its own, so the
  // call is cut off. The details of the status are lost.
  void CutOffIfStalled(Clock::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!(finished_ ? !done_ : writing_) || now - write_start_ <= stall_limit()) return;
    done_ = true;
    const absl::Status stalled = Stalled("nothing has been read", stall_limit().count());
    End(stalled);
    FinishOnce();
    CutOff(*context_, final_.ok() ? ToGrpc(stalled) : final_);
  }

  void FinishOnce() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!ended_ || std::exchange(finished_, ended_)) return;
    write_start_ = runtime_.clock.Now();
    this->Finish(final_);
  }

  grpc::CallbackServerContext* const context_;
  std::shared_ptr<Derived> self_;  // until OnDone
  grpc::Status final_ ABSL_GUARDED_BY(mutex_);
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  bool done_ ABSL_GUARDED_BY(mutex_) = false;  // gRPC needs the context no more, or was cut off
};

}  // namespace sinew::server
