#include "server/calls/watch_session.h"

#include <chrono>
#include <utility>

#include "core/base/status.h"
#include "server/base/status.h"
#include "server/calls/session_proto.h"

namespace sinew::server {
namespace {

constexpr std::chrono::milliseconds kPeriod{100};

}  // namespace

grpc::ServerWriteReactor<v1::WatchSessionResponse>* WatchSessionCall::Start(
    Runtime& runtime, const RpcMethod& method, grpc::CallbackServerContext* context,
    const v1::WatchSessionRequest* request) {
  auto call = std::make_shared<WatchSessionCall>(runtime, method, context, request);
  Launch(call, runtime.watches);
  return call.get();
}

absl::Status WatchSessionCall::OnStart() {
  SINEW_ASSIGN_OR_RETURN(const auto lease, runtime_.sessions.Get(name_, runtime_.clock.WallNow()));
  runtime_.AddCall(Self());
  timer_ = runtime_.timers.Every(kPeriod, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self == nullptr) return;
    const absl::MutexLock lock(&self->mutex_);
    self->SendUpdate();
  });
  SendUpdate();
  // The timer alone would report the end of a short bind a period late.
  if (!last_sent_) WhenBound(lease.session, &WatchSessionCall::OnBound);
  return absl::OkStatus();
}

void WatchSessionCall::OnBound() {
  bound_ = true;
  SendUpdate();
}

void WatchSessionCall::SendUpdate() {
  if (ended_ || writing_ || last_sent_) return;
  const auto lease = runtime_.sessions.Get(name_, runtime_.clock.WallNow());
  if (!lease.ok()) {
    End(lease.status());
    return;
  }
  const BoundDeformer::Snapshot now = lease->session->bound->snapshot();
  last_sent_ = now.state != BoundDeformer::State::kBinding;
  if (!last_sent_ && now.progress == sent_progress_) return;
  sent_progress_ = now.progress;
  *response_.mutable_session() = ToProto(*lease);
  WriteStarted();
  StartWrite(&response_);
}

void WatchSessionCall::OnWriteDone(bool ok) {
  const absl::MutexLock lock(&mutex_);
  if (!WriteDone(ok)) return;
  if (last_sent_) {
    End(absl::OkStatus());
  } else if (bound_) {  // during this write
    SendUpdate();
  }
}

void WatchSessionCall::OnEnd() {
  runtime_.timers.Cancel(timer_);
}

}  // namespace sinew::server
