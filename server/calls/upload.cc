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

absl::Status UploadCall::OnAdmitted() {
  SINEW_RETURN_IF_ERROR(TakePlace());
  sender_ = UploadTable::NewSender(call_.caller());
  Read();
  return absl::OkStatus();
}

void UploadCall::Read() {
  holding_.reset();
  ReadInTurn();
}

void UploadCall::OnReadDone(bool ok) {
  const absl::MutexLock lock(&mutex_);
  EndRead();
  if (ended_) return;
  if (!ok) {  // half-closed; the reply says how much is stored
    if (header_.sha256().empty()) {
      End(HeaderMissing());
    } else {
      Reply();
    }
    return;
  }
  const absl::Status status = CatchExceptions([&] {
    mutex_.AssertHeld();
    return ReadMessage();
  });
  if (status.ok()) {
    PostStep(runtime_.storage, [](UploadCall& call) { call.Append(); });
  } else {
    End(status);
  }
}

absl::Status UploadCall::ReadMessage() {
  SINEW_ASSIGN_OR_RETURN(const std::uint64_t size, CheckFields(*v1::UploadRigRequest::descriptor(),
                                                               read_, runtime_.config.network));
  SINEW_ASSIGN_OR_RETURN(holding_, runtime_.held_bytes.Take(call_.caller().client(), size));
  SINEW_RETURN_IF_ERROR(Parse(read_, request_));
  read_.Clear();
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
  if (progress.ok() && progress->rig != nullptr && !progress->existed) call_.ReportChange();
  const absl::MutexLock lock(&mutex_);
  if (ended_) return;
  if (!progress.ok()) {
    End(progress.status());
    return;
  }
  reply_.set_committed_bytes(progress->committed);
  if (progress->rig == nullptr) {
    Read();
    return;
  }
  *reply_.mutable_rig() = progress->rig->summary;
  Reply();
}

void UploadCall::Reply() {
  const absl::Status status = call_.Hold(reply_.ByteSizeLong());
  if (status.ok()) SetReply(ToBytes(reply_));
  call_.SetUnaudited();  // unless this one has stored the rig, whose line is written
  reply_.Clear();
  End(status);
}

}  // namespace sinew::server
