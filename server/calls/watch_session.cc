#include "server/calls/watch_session.h"

#include <chrono>
#include <utility>

#include "server/base/status.h"
#include "server/calls/session_proto.h"

namespace sinew::server {
namespace {

constexpr std::chrono::milliseconds kPeriod{100};

}  // namespace

grpc::ServerWriteReactor<v1::WatchSessionResponse>* WatchSessionCall::Start(
    Runtime& runtime, const RpcMethod& method, grpc::CallbackServerContext* context,
    const v1::WatchSessionRequest* request) {
  auto watch = std::make_shared<WatchSessionCall>(runtime, method, context, request->name());
  watch->self_ = watch;
  absl::Status status = watch->call_.Begin();
  if (status.ok()) {
    absl::StatusOr<ConcurrencyLimit::Permit> pass = runtime.watches.Enter();
    status = pass.status();
    if (pass.ok()) watch->permit_ = *std::move(pass);
  }
  if (!status.ok()) {
    watch->End(status);
    return watch.get();
  }
  {
    const std::lock_guard lock(watch->mutex_);
    watch->timer_ = runtime.timers.Every(kPeriod, [weak = watch->weak_from_this()] {
      if (const auto self = weak.lock()) self->Look();
    });
  }
  watch->Look();
  watch->LookWhenBound();
  return watch.get();
}

// The timer alone would say the end of a short bind a period late.
void WatchSessionCall::LookWhenBound() {
  const auto lease = runtime_.sessions.Get(name_, std::chrono::system_clock::now());
  if (!lease.ok()) return;  // Look has said so, or will
  const std::uint64_t id = lease->session->bound->WhenDone([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self == nullptr) return;
    {
      const std::lock_guard lock(self->mutex_);
      self->bound_ = true;
    }
    self->Look();
  });
  const std::lock_guard lock(mutex_);
  session_ = lease->session;
  bind_wait_ = id;
}

void WatchSessionCall::Look() {
  const auto lease = runtime_.sessions.Get(name_, std::chrono::system_clock::now());
  if (!lease.ok()) {
    End(lease.status());
    return;
  }
  const std::lock_guard lock(mutex_);
  if (ended_ || writing_ || last_said_) return;
  const BoundDeformer::Snapshot now = lease->session->bound->snapshot();
  last_said_ = now.state != BoundDeformer::State::kBinding;
  if (!last_said_ && now.progress == progress_) return;
  progress_ = now.progress;
  *response_.mutable_session() = ToProto(*lease);
  writing_ = true;
  StartWrite(&response_);
}

void WatchSessionCall::OnWriteDone(bool ok) {
  bool over = false, bound = false;
  {
    const std::lock_guard lock(mutex_);
    writing_ = false;
    over = last_said_;
    bound = bound_;
  }
  if (!ok) {
    End(absl::CancelledError("watch: the client is gone"));
  } else if (over) {
    End(absl::OkStatus());
  } else if (bound) {  // it was done during this write
    Look();
  }
}

void WatchSessionCall::End(const absl::Status& status) {
  const std::lock_guard lock(mutex_);
  if (ended_) return;
  ended_ = true;
  permit_ = ConcurrencyLimit::Permit();  // before the client knows: it may come again at once
  Finish(call_.End(status));
}

void WatchSessionCall::OnCancel() {
  End(absl::CancelledError("watch: cancelled"));
}

void WatchSessionCall::OnDone() {
  runtime_.timers.Cancel(timer_);
  std::shared_ptr<Session> session;  // freed without the lock
  std::uint64_t waiting = 0;
  {
    const std::lock_guard lock(mutex_);
    session = session_.lock();
    waiting = std::exchange(bind_wait_, 0);
  }
  if (session != nullptr && waiting != 0) session->bound->Forget(waiting);
  self_.reset();
}

}  // namespace sinew::server
