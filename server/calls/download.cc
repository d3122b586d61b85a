#include "server/calls/download.h"

#include <utility>

#include "server/base/status.h"
#include "server/convert/unknown_fields.h"

namespace sinew::server {
namespace {

constexpr std::size_t kPieceBytes = 1 << 20;

}  // namespace

grpc::ServerWriteReactor<v1::DownloadRigResponse>* DownloadCall::Start(
    Runtime& runtime, const RpcMethod& method, grpc::CallbackServerContext* context,
    const v1::DownloadRigRequest* request) {
  auto download = std::make_shared<DownloadCall>(runtime, method, context);
  download->self_ = download;
  absl::Status status = download->call_.Begin();
  if (status.ok()) status = RefuseUnknownFields(*request, "");
  absl::StatusOr<std::string> hex = ParseRigName("name", request->name());
  if (status.ok()) status = hex.status();
  if (status.ok()) {
    absl::StatusOr<ConcurrencyLimit::Permit> pass = runtime.transfers.Enter();
    status = pass.status();
    if (pass.ok()) download->permit_ = *std::move(pass);
  }
  if (!status.ok()) {
    download->End(status);
    return download.get();
  }
  download->hex_ = *std::move(hex);
  download->next_ = request->offset();
  runtime.AddStream(download);
  download->Post();
  return download.get();
}

void DownloadCall::Post() {
  const absl::Status posted =
      runtime_.workers.Post([self = shared_from_this()] { self->SendNext(); });
  if (!posted.ok()) End(posted);
}

void DownloadCall::SendNext() {
  auto piece = CatchExceptions([&] { return runtime_.rigs->Read(hex_, next_, kPieceBytes); });
  if (!piece.ok()) {
    End(piece.status());
    return;
  }
  if (piece->bytes.empty()) {
    End(next_ < piece->size ? absl::DataLossError("rig: its file ends early") : absl::OkStatus());
    return;
  }
  const std::lock_guard lock(mutex_);
  if (ended_) return;
  piece_.set_offset(next_);
  piece_.set_size_bytes(piece->size);
  next_ += piece->bytes.size();
  piece_.set_data(std::move(piece->bytes));
  writing_ = true;
  write_start_ = std::chrono::steady_clock::now();
  StartWrite(&piece_);
}

void DownloadCall::OnWriteDone(bool ok) {
  {
    const std::lock_guard lock(mutex_);
    writing_ = false;
  }
  if (ok) {
    Post();
  } else {
    End(absl::CancelledError("download: the client is gone"));
  }
}

void DownloadCall::Tick(std::chrono::steady_clock::time_point now) {
  const std::chrono::duration<double> limit(runtime_.config.streams.stall_seconds);
  const std::lock_guard lock(mutex_);
  if (ended_ || !writing_ || now - write_start_ <= limit) return;
  const absl::Status stalled = Stalled("nothing has been read", limit.count());
  EndLocked(stalled);
  CutOff(*context_, ToGrpc(stalled));
}

void DownloadCall::End(const absl::Status& status) {
  const std::lock_guard lock(mutex_);
  EndLocked(status);
}

void DownloadCall::EndLocked(const absl::Status& status) {
  if (ended_) return;
  ended_ = true;
  permit_ = ConcurrencyLimit::Permit();  // before the client knows: it may come again at once
  Finish(call_.End(status));
}

void DownloadCall::OnCancel() {
  End(absl::CancelledError("download: cancelled"));
}

}  // namespace sinew::server
