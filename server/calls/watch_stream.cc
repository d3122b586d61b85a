#include "server/calls/watch_stream.h"

#include <optional>
#include <utility>

#include "core/base/status.h"
#include "server/convert/unknown_fields.h"

namespace sinew::server {

static_assert(int{v1::WatchStreamResponse::kFramesFieldNumber} ==
              int{v1::StreamDeformResponse::kFramesFieldNumber});

absl::Status WatchStreamCall::OnStart() {
  v1::WatchStreamRequest request;
  SINEW_RETURN_IF_ERROR(ParseRequest(call_, read_, request));
  SINEW_RETURN_IF_ERROR(RefuseUnknownFields(request, ""));
  SINEW_ASSIGN_OR_RETURN(stream_, runtime_.broadcasts.Enter(call_.caller().tenant, request.name()));
  SINEW_ASSIGN_OR_RETURN(
      frames_held_, runtime_.frame_bytes.Take(call_.caller().client(), stream_->viewer_bytes()));
  v1::WatchStreamResponse first;
  *first.mutable_opened() = stream_->opened();
  outbox_.Push(first);
  Pump();
  return absl::OkStatus();
}

void WatchStreamCall::Wake() {
  const absl::MutexLock lock(&mutex_);
  Pump();
}

void WatchStreamCall::Pump() {
  WriteNext();
  if (ended_ || writing_) return;
  absl::StatusOr<std::optional<OutgoingFrame>> next = stream_->Take(Self(), seen_);
  if (!next.ok()) {
    End(next.status());
  } else if (*next) {
    runtime_.metrics.viewer_skipped.Increment((*next)->header.skipped());
    outbox_.Push(**std::move(next));
    WriteNext();
  }
}

void WatchStreamCall::OnEnd() {
  if (stream_ != nullptr) std::exchange(stream_, nullptr)->Leave(this);
  FrameCall::OnEnd();
}

}  // namespace sinew::server
