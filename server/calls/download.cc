#include "server/calls/download.h"

#include <utility>

#include "core/base/status.h"
#include "server/base/status.h"
#include "server/convert/unknown_fields.h"

namespace sinew::server {
absl::Status DownloadCall::Check() {
  SINEW_RETURN_IF_ERROR(RefuseUnknownFields(*request_, ""));
  SINEW_ASSIGN_OR_RETURN(rig_.hex, ParseRigName("name", request_->name()));
  rig_.tenant = call_.caller().tenant;
  return absl::OkStatus();
}

absl::Status DownloadCall::OnStart() {
  runtime_.AddCall(Self());
  return PostNext();
}

absl::Status DownloadCall::PostNext() {
  return runtime_.workers.Post([self = Self()] { self->SendNext(); });
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
  piece_.set_offset(next_);
  piece_.set_size_bytes(piece->size);
  next_ += piece->bytes.size();
  piece_.set_data(std::move(piece->bytes));
  WriteStarted();
  StartWrite(&piece_);
}

void DownloadCall::OnWriteDone(bool ok) {
  const absl::MutexLock lock(&mutex_);
  if (!WriteDone(ok)) return;
  if (const absl::Status posted = PostNext(); !posted.ok()) End(posted);
}

}  // namespace sinew::server
