// call_reactor.h - what all calls share: lifetime, access and admission, cancellation, requests
// that arrive, stalled reads and writes, and the end.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>
#include <grpcpp/support/byte_buffer.h>

#include <chrono>
#include <memory>
#include <utility>

#include "server/base/catch_exceptions.h"
#include "server/calls/call.h"
#include "server/calls/call_reader.h"
#include "server/runtime.h"

namespace sinew::server {

// Derived: the call, unary or streaming; on the wire there is no difference.
//
// Lifetime: gRPC has only a pointer to the reactor, so the call owns itself until OnDone. Jobs and
// callbacks hold references of their own while they run.
// Locking: a call's mutex may be held while locking a table or a queue, never the reverse.
template <class Derived>
class CallReactor : public CallReader<Derived>, public LiveCall {
  using Work = CallWork<Derived>;
  using Reader = CallReader<Derived>;
  friend Work;
  friend Reader;

 public:
  CallReactor(const RpcMethod& method, grpc::CallbackServerContext* context)
      : Reader(method, context), context_(context) {}

  // Makes a call, once its headers have arrived; a failure ends it. `arguments`: of its
  // constructor, after these.
  template <class... Arguments>
  static Derived* Start(const RpcMethod& method, grpc::CallbackServerContext* context,
                        Arguments... arguments) {
    auto call = std::make_shared<Derived>(method, context, arguments...);
    const absl::MutexLock lock(&call->mutex_);
    call->self_ = call;
    call->runtime_.AddCall(call);
    const absl::Status status = CatchExceptions([&]() -> absl::Status {
      call->mutex_.AssertHeld();  // for the compiler, which does not look outside a lambda
      SINEW_RETURN_IF_ERROR(call->call_.Begin());
      return call->OnAdmitted();
    });
    if (!status.ok()) call->End(status);
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
  void EndNow() final {
    const absl::MutexLock lock(&mutex_);
    if (!ended_) End(Draining());
  }

 protected:
  using Reader::read_;
  using Work::call_;
  using Work::ended_;
  using Work::mutex_;
  using Work::runtime_;

  // Several times a second.
  virtual void OnTick(Clock::Time) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {}
  // The server drains. Default: the call is answered to its end, unless that waits for a request or
  // a bind.
  virtual void OnDrain() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!this->has_request() || this->WaitsForBind()) End(Draining());
  }
  // The call has just ended: nothing may start any more.
  virtual void OnEnd() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {}

  // The result of `body`, which runs without the lock; exceptions become its status. The call may
  // have ended meanwhile.
  template <class Body>
  auto Unlocked(const Body& body) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    mutex_.Unlock();
    auto result = CatchExceptions(body);
    mutex_.Lock();
    return result;
  }

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

  // Sent with the end of the call, if that is OK.
  void SetReply(grpc::ByteBuffer reply) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    reply_ = std::move(reply);
  }

  void End(const absl::Status& status) final ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (ended_) return;
    ended_ = true;
    call_.Cancel();  // the result of work in progress would not be read
    this->DropWork();
    this->DropRead();
    OnEnd();
    this->permit_.reset();  // before finishing, so that an immediate retry is admitted
    final_ = call_.End(status);
    // A pending write goes first: the status then arrives with its details.
    if (!writing_ || absl::IsCancelled(status)) FinishOnce();
  }

  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  Clock::Time write_start_ ABSL_GUARDED_BY(mutex_);  // or Finish

 private:
  void DoTick(Clock::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    CutOffIfStalled(now);
    this->EndStalledRead(now);
    const std::chrono::duration<double> age = now - started_;
    if (age > std::chrono::duration<double>(runtime_.config.streams.seconds)) End(TooOld(age));
    if (!ended_) OnTick(now);
  }

  // A write that the reader blocks would hold back any status for ever, and a reply its own, so the
  // call is cut off. The details of the status are lost.
  void CutOffIfStalled(Clock::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!(finished_ ? !done_ : writing_) || now - write_start_ <= this->stall_limit()) return;
    done_ = true;
    const absl::Status stalled = Stalled("nothing has been read", this->stall_limit());
    End(stalled);
    FinishOnce();
    CutOff(*context_, final_.ok() ? ToGrpc(stalled) : final_);
  }

  void FinishOnce() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!ended_ || std::exchange(finished_, ended_)) return;
    write_start_ = runtime_.clock.Now();
    if (final_.ok() && reply_.Valid()) {
      this->StartWriteAndFinish(&reply_, grpc::WriteOptions(), final_);
    } else {
      this->Finish(final_);
    }
  }

  grpc::CallbackServerContext* const context_;
  const Clock::Time started_ = runtime_.clock.Now();
  std::shared_ptr<Derived> self_;  // until OnDone
  grpc::ByteBuffer reply_ ABSL_GUARDED_BY(mutex_);
  grpc::Status final_ ABSL_GUARDED_BY(mutex_);
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  bool done_ ABSL_GUARDED_BY(mutex_) = false;  // gRPC needs the context no more, or was cut off
};

}  // namespace sinew::server
