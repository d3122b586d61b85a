// call_work.h - the work of a call: where it runs, what it waits for, and how it leaves the queues.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/status.h>
#include <absl/synchronization/mutex.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "server/base/catch_exceptions.h"
#include "server/base/status.h"
#include "server/calls/call.h"
#include "server/calls/open_session.h"
#include "server/runtime.h"

namespace sinew::server {

// Derived: the call. What is posted holds a reference to it. Functions given as pointers to members
// are called with the mutex held, unless the call has ended.
template <class Derived>
class CallWork : public std::enable_shared_from_this<Derived> {
 protected:
  CallWork(const RpcMethod& method, grpc::CallbackServerContext* context)
      : runtime_(method.runtime), call_(method, context) {}
  ~CallWork() = default;

  // Ends the call, the first time.
  virtual void End(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) = 0;

  std::shared_ptr<Derived> Self() { return this->shared_from_this(); }

  // Calls job(*this) on a thread for frames, with the mutex, unless the call ends before.
  template <class Job>
  void PostFrame(Arenas::Frames lane, Job job) {
    frame_ =
        runtime_.arenas.Post(lane, call_.caller().client(), [self = Self(), job = std::move(job)] {
          const absl::MutexLock lock(&self->mutex_);
          if (!self->ended_) std::invoke(job, *self);
        });
  }

  // Finds the session of `target` and calls found(session) on a worker. Errors, also those of
  // `found`, end the call; their paths begin with `path`.
  void FindSession(const v1::Target& target, const std::string& path,
                   absl::Status (Derived::*found)(std::shared_ptr<Session>))
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto done = [self = Self(), found](absl::StatusOr<std::shared_ptr<Session>> session) {
      const absl::MutexLock lock(&self->mutex_);
      if (self->ended_) return;
      const absl::Status status =
          session.ok() ? CatchExceptions([&] { return (self.get()->*found)(*std::move(session)); })
                       : session.status();
      if (!status.ok()) self->End(status);
    };
    if (target.has_source()) {
      SetStep(FindTarget(call_, target, done, MovesStep(), path));
      return;
    }
    PostStep(runtime_.control, [target, path, done](Derived& call) {
      const StepMoved moved = call.MovesStep();
      moved(FindTarget(call.call_, target, done, moved, path));
    });
  }

  // Keeps the step when the work moves to another lane.
  StepMoved MovesStep() {
    return [self = Self()](const Step& step) {
      const absl::MutexLock lock(&self->mutex_);
      self->SetStep(step);
    };
  }

  // Drops the step when the call ends, if it waits then. One that a later step has followed already
  // is over.
  void SetStep(const Step& step) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (step.number < step_.number) return;
    step_ = step;
    if (ended_) step_.Remove();
  }

  // Calls work(*this) on a worker of the lane, without the mutex, unless the call ends before.
  template <class Work>
  void PostStep(Workers& lane, Work work) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    SetStep(server::PostStep(
        runtime_, lane, call_.caller().client(),
        [self = Self(), work = std::move(work)](const absl::Status&) { work(*self); }));
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
    if (runtime_.work.closed() && WaitsForBind()) End(Draining());
  }
  // Calls then() on a worker once the bind of `session` is over: it must not take long.
  void WhenBound(const std::shared_ptr<Session>& session, void (Derived::*then)())
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    WhenBound(session, [then](Derived& call) {
      call.runtime_.control.PostStep(call.call_.caller().client(),
                                     [self = call.Self(), then](const absl::Status&) {
                                       const absl::MutexLock lock(&self->mutex_);
                                       if (!self->ended_) (self.get()->*then)();
                                     });
    });
  }

  // Whether the session of WhenBound still binds, and a drain need not wait for that.
  bool WaitsForBind() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto session = awaited_.lock();
    return call_.method().work && session &&
           session->bound->snapshot().state == BoundDeformer::State::kBinding;
  }

  // The call has ended: takes out what waits.
  void DropWork() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (const auto session = awaited_.lock()) session->bound->Forget(bind_wait_);
    step_.Remove();
    if (const Arenas::Ticket frame = frame_.load(); frame != 0) runtime_.arenas.Remove(frame);
  }

  Runtime& runtime_;
  absl::Mutex mutex_;
  Call call_;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;

 private:
  Step step_ ABSL_GUARDED_BY(mutex_);
  std::atomic<Arenas::Ticket> frame_{0};
  std::weak_ptr<Session> awaited_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t bind_wait_ ABSL_GUARDED_BY(mutex_) = 0;  // id of the wait for its bind
};

}  // namespace sinew::server
