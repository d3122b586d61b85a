// call_reactor.h - what all calls that outlast their first callback share: lifetime, admission,
// cancellation, stalled writes, waiting for a session's bind, and the end.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/status.h>
#include <absl/synchronization/mutex.h>
#include <grpcpp/server_context.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "core/base/status.h"
#include "server/base/catch_exceptions.h"
#include "server/base/clock.h"
#include "server/calls/call.h"
#include "server/calls/open_session.h"
#include "server/runtime.h"

namespace sinew::server {

// Derived: the call. Reactor: the gRPC reactor that it is.
//
// Lifetime: gRPC has only a pointer to the reactor, so the call owns itself until OnDone. Jobs and
// callbacks hold references of their own while they run.
// Locking: a call's mutex may be held while locking a table or a queue, never the reverse.
// Functions given as pointers to members are called with the mutex held, unless the call has ended.
template <class Derived, class Reactor>
class CallReactor : public Reactor, public LiveCall, public std::enable_shared_from_this<Derived> {
 public:
  // Makes a call and starts it; a failure ends it. `arguments`: of its constructor, after these.
  template <class... Arguments>
  static Derived* Start(const RpcMethod& method, grpc::CallbackServerContext* context,
                        Arguments... arguments) {
    auto call = std::make_shared<Derived>(method, context, arguments...);
    call->self_ = call;
    call->mutex_.Lock();
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
  void OnDone() final { self_.reset(); }
  void Tick(Clock::Time now) final {
    const absl::MutexLock lock(&mutex_);
    CutOffIfStalled(now);
    if (!ended_) OnTick(now);
  }
  void Drain() final {
    const absl::MutexLock lock(&mutex_);
    if (!ended_) OnDrain();
  }

 protected:
  CallReactor(const RpcMethod& method, grpc::CallbackServerContext* context)
      : runtime_(method.runtime), call_(method, context), context_(context) {}

  // Checks the request, before it is admitted.
  virtual absl::Status Check() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return absl::OkStatus(); }
  // The call has been admitted.
  virtual absl::Status OnStart() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) = 0;
  // After OnStart, without the mutex.
  virtual void OnStarted() {}
  // Several times a second, for calls that Runtime::AddCall knows.
  virtual void OnTick(Clock::Time) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {}
  // The server drains. Default: the call is answered to its end.
  virtual void OnDrain() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {}
  // The call has just ended: nothing may start any more.
  virtual void OnEnd() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {}

  std::shared_ptr<Derived> Self() { return this->shared_from_this(); }

  // Calls job in the pose arena.
  void Post(void (Derived::*job)()) {
    runtime_.arenas.Post([self = Self(), job] {
      const absl::MutexLock lock(&self->mutex_);
      if (!self->ended_) (self.get()->*job)();
    });
  }

  // Finds the session of `target` and calls found(session) in the pose arena. Errors, also those of
  // `found`, end the call; their paths begin with `path`.
  void FindSession(const v1::Target& target, const std::string& path,
                   absl::Status (Derived::*found)(std::shared_ptr<Session>)) {
    FindTarget(
        call_, target,
        [self = Self(), found](absl::StatusOr<std::shared_ptr<Session>> session) {
          self->runtime_.arenas.Post([self, found, session = std::move(session)] {
            const absl::MutexLock lock(&self->mutex_);
            if (self->ended_) return;
            const absl::Status status =
                session.ok() ? CatchExceptions([&] { return (self.get()->*found)(*session); })
                             : session.status();
            if (!status.ok()) self->End(status);
          });
        },
        path);
  }

  // Calls post(*this) once the bind of `session` is over: on the bind thread, or here if it is over
  // already. It must be short and must not lock the mutex.
  void WhenBound(const std::shared_ptr<Session>& session, std::function<void(Derived&)> post)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    // Weak references: a call that waits must not keep alive the session that it waits for.
    bind_wait_ = session->bound->WhenDone([weak = this->weak_from_this(), post = std::move(post)] {
      if (const auto self = weak.lock()) post(*self);
    });
    awaited_ = session;
  }
  // As above, and calls then() in the pose arena.
  void WhenBound(const std::shared_ptr<Session>& session, void (Derived::*then)())
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    WhenBound(session, [then](Derived& call) { call.Post(then); });
  }

  // Around StartWrite and from OnWriteDone, which returns if the result is false: the call has
  // ended.
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

  // Ends the call, the first time.
  void End(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (ended_) return;
    ended_ = true;
    call_.Cancel();  // the result of work in progress would not be read
    if (const auto session = awaited_.lock()) session->bound->Forget(bind_wait_);
    OnEnd();
    permit_.reset();  // before finishing, so that an immediate retry is admitted
    final_ = call_.End(status);
    // A pending write goes first: the status then arrives with its details.
    if (!writing_ || absl::IsCancelled(status)) FinishOnce();
  }

  std::chrono::duration<double> stall_limit() const {
    return std::chrono::duration<double>(runtime_.config.streams.stall_seconds);
  }

  Runtime& runtime_;
  absl::Mutex mutex_;
  Call call_;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  Clock::Time write_start_ ABSL_GUARDED_BY(mutex_);
  // A job that must count until it is done, even if the call ends before, holds a reference.
  Quota::Permit permit_ ABSL_GUARDED_BY(mutex_);

 private:
  absl::Status Begin() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    SINEW_RETURN_IF_ERROR(call_.Begin());
    SINEW_RETURN_IF_ERROR(Check());
    SINEW_ASSIGN_OR_RETURN(permit_, call_.method().limit->Take(call_.caller().client()));
    return OnStart();
  }

  // A write that the reader blocks would hold back any status for ever, so the call is cut off. The
  // details of the status are lost.
  void CutOffIfStalled(Clock::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!writing_ || now - write_start_ <= stall_limit()) return;
    End(Stalled("nothing has been read", stall_limit().count()));
    if (finished_) return;
    FinishOnce();
    CutOff(*context_, final_);
  }

  void FinishOnce() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!ended_ || std::exchange(finished_, ended_)) return;
    this->Finish(final_);
  }

  grpc::CallbackServerContext* const context_;
  std::shared_ptr<Derived> self_;  // until OnDone
  std::weak_ptr<Session> awaited_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t bind_wait_ ABSL_GUARDED_BY(mutex_) = 0;  // id of the wait for its bind
  grpc::Status final_ ABSL_GUARDED_BY(mutex_);
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace sinew::server
