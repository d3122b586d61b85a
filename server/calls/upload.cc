#include "server/calls/upload.h"

#include <utility>

#include "core/base/status.h"
#include "server/base/status.h"
#include "server/convert/unknown_fields.h"

namespace sinew::server {
namespace {

absl::Status HeaderMissing() {
  return InvalidField("header", "not set, need it in the first message");
}

}  // namespace

absl::Status UploadCall::OnStart() {
  sender_ = UploadTable::NewSender(call_.caller());
  runtime_.AddCall(Self());
  Read();
  return absl::OkStatus();
}

void UploadCall::Read() {
  read_start_ = runtime_.clock.Now();
  StartRead(&request_);
}

void UploadCall::OnTick(Clock::Time now) {
  if (!read_start_ || now - *read_start_ <= stall_limit()) return;
  End(Stalled("nothing has been sent", stall_limit().count()));
}

void UploadCall::OnReadDone(bool ok) {
  const absl::MutexLock lock(&mutex_);
  read_start_.reset();
  if (ended_) return;
  if (!ok) {  // half-closed; the reply says how much is stored
    End(header_.sha256().empty() ? HeaderMissing() : absl::OkStatus());
    return;
  }
  absl::Status status = CatchExceptions([&] { return CheckMessage(); });
  if (status.ok()) status = runtime_.workers.Post([self = Self()] { self->Append(); });
  if (!status.ok()) End(status);
}

absl::Status UploadCall::CheckMessage() {
  SINEW_RETURN_IF_ERROR(RefuseUnknownFields(request_, ""));
  if (header_.sha256().empty()) {
    if (!request_.has_header()) return HeaderMissing();
    header_ = request_.header();
    call_.SetObject(RigName(header_.sha256()));
  } else if (request_.has_header()) {
    return InvalidField("header", "set again, need it in the first message only");
  }
  return CheckLimit("data", request_.data().size(), runtime_.config.network.message_bytes, "bytes",
                    "max-message-bytes");
}

void UploadCall::Append() {
  const auto progress = CatchExceptions([&] {
    return runtime_.uploads->Append(sender_, header_, request_.offset(), request_.data(),
                                    runtime_.clock.Now());
  });
  const absl::MutexLock lock(&mutex_);
  if (ended_) return;
  if (!progress.ok()) {
    End(progress.status());
    return;
  }
  response_->set_committed_bytes(progress->committed);
  if (progress->rig == nullptr) {
    Read();
    return;
  }
  *response_->mutable_rig() = progress->rig->summary;
  End(absl::OkStatus());
}

}  // namespace sinew::server
