#include "server/calls/upload.h"

#include <chrono>
#include <utility>

#include "core/base/status.h"
#include "server/base/status.h"
#include "server/convert/unknown_fields.h"

namespace sinew::server {

grpc::ServerReadReactor<v1::UploadRigRequest>* UploadCall::Start(
    Runtime& runtime, const RpcMethod& method, grpc::CallbackServerContext* context,
    v1::UploadRigResponse* response) {
  auto upload = std::make_shared<UploadCall>(runtime, method, context, response);
  upload->self_ = upload;
  absl::Status status = upload->call_.Begin();
  if (status.ok()) {
    absl::StatusOr<ConcurrencyLimit::Permit> pass = runtime.transfers.Enter();
    status = pass.status();
    if (pass.ok()) upload->permit_ = *std::move(pass);
  }
  if (!status.ok()) {
    upload->End(status);
    return upload.get();
  }
  runtime.AddStream(upload);
  upload->Read();
  return upload.get();
}

void UploadCall::Read() {
  const std::lock_guard lock(mutex_);
  if (ended_) return;
  reading_ = true;
  read_start_ = std::chrono::steady_clock::now();
  StartRead(&request_);
}

void UploadCall::Tick(std::chrono::steady_clock::time_point now) {
  const std::chrono::duration<double> limit(runtime_.config.streams.stall_seconds);
  {
    const std::lock_guard lock(mutex_);
    if (!reading_ || now - read_start_ <= limit) return;
  }
  End(Stalled("nothing has been sent", limit.count()));
}

void UploadCall::OnReadDone(bool ok) {
  {
    const std::lock_guard lock(mutex_);
    reading_ = false;
    if (ended_) return;
  }
  if (!ok) {  // all was sent; what is held has been said
    End(header_.sha256().empty() ? InvalidField("header", "not set, need it in the first message")
                                 : absl::OkStatus());
    return;
  }
  absl::Status status = CatchExceptions([&] { return CheckMessage(); });
  if (status.ok()) {
    status = runtime_.workers.Post([self = shared_from_this()] { self->Append(); });
  }
  if (!status.ok()) End(status);
}

absl::Status UploadCall::CheckMessage() {
  SINEW_RETURN_IF_ERROR(RefuseUnknownFields(request_, ""));
  if (header_.sha256().empty()) {
    if (!request_.has_header()) {
      return InvalidField("header", "not set, need it in the first message");
    }
    header_ = request_.header();
  } else if (request_.has_header()) {
    return InvalidField("header", "set again, need it in the first message only");
  }
  const std::uint64_t limit = runtime_.config.network.message_bytes;
  if (request_.data().size() > limit) {
    return LimitPassed("data", request_.data().size(), limit, "bytes", "max-message-bytes");
  }
  return absl::OkStatus();
}

void UploadCall::Append() {
  auto progress = CatchExceptions([&] {
    return runtime_.uploads->Append(header_, request_.offset(), request_.data(),
                                    std::chrono::system_clock::now());
  });
  if (!progress.ok()) {
    End(progress.status());
    return;
  }
  bool complete = false;
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    response_->set_committed_bytes(progress->committed);
    complete = progress->rig != nullptr;
    if (complete) *response_->mutable_rig() = progress->rig->summary;
  }
  if (complete) {
    End(absl::OkStatus());
  } else {
    Read();
  }
}

void UploadCall::End(const absl::Status& status) {
  const std::lock_guard lock(mutex_);
  if (ended_) return;
  ended_ = true;
  permit_ = ConcurrencyLimit::Permit();  // before the client knows: it may come again at once
  Finish(call_.End(status));
}

void UploadCall::OnCancel() {
  End(absl::CancelledError("upload: cancelled"));
}

}  // namespace sinew::server
