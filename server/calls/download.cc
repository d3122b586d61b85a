#include "server/calls/download.h"

#include <utility>

#include "core/base/status.h"
#include "server/base/status.h"
#include "server/convert/unknown_fields.h"

namespace sinew::server {
absl::Status DownloadCall::Check() {
  v1::DownloadRigRequest request;
  SINEW_RETURN_IF_ERROR(ParseRequest(call_, read_, request));
  SINEW_RETURN_IF_ERROR(RefuseUnknownFields(request, ""));
  SINEW_ASSIGN_OR_RETURN(rig_.hex, ParseRigName("name", request.name()));
  next_ = request.offset();
  rig_.tenant = call_.caller().tenant;
  return absl::OkStatus();
}

absl::Status DownloadCall::OnStart() {
  SINEW_RETURN_IF_ERROR(call_.Hold(2 * kPieceBytes));  // as read, and as sent
  const auto lane = [&runtime = runtime_]() -> Workers& { return runtime.storage; };
  const auto begin = [self = Self()](const absl::Status& fetched) {
    if (fetched.ok()) {
      self->SendNext();
      return;
    }
    const absl::MutexLock lock(&self->mutex_);
    if (!self->ended_) self->End(fetched);
  };
  SetStep(PostWhenFetched(call_, rig_, lane, begin, MovesStep()));
  return absl::OkStatus();
}

void DownloadCall::PostNext() {
  PostStep(runtime_.storage, [](DownloadCall& call) { call.SendNext(); });
}

void DownloadCall::SendNext() {
  auto piece = CatchExceptions([&] { return runtime_.rigs->Read(rig_, next_, kPieceBytes); });
  const absl::MutexLock lock(&mutex_);
  if (ended_) return;
  if (!piece.ok()) {
    End(piece.status());
    return;
  }
  if (piece->bytes.empty()) {
    End(absl::OkStatus());
    return;
  }
  v1::DownloadRigResponse response;
  response.set_offset(next_);
  response.set_size_bytes(piece->size);
  next_ += piece->bytes.size();
  response.set_data(std::move(piece->bytes));
  message_ = ToBytes(response);
  WriteStarted();
  StartWrite(&message_);
}

void DownloadCall::OnWriteDone(bool ok) {
  const absl::MutexLock lock(&mutex_);
  if (WriteDone(ok)) PostNext();
}

}  // namespace sinew::server
