// download.h - DownloadRig: the bytes of a rig as uploaded, in pieces, from any offset.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <string>

#include "server/calls/call.h"
#include "sinew/v1/rig_service.pb.h"

namespace sinew::server {

class DownloadCall : public grpc::ServerWriteReactor<v1::DownloadRigResponse>,
                     public LiveStream,
                     public std::enable_shared_from_this<DownloadCall> {
 public:
  // Takes care of itself until the call is done.
  static grpc::ServerWriteReactor<v1::DownloadRigResponse>* Start(
      Runtime& runtime, const RpcMethod& method, grpc::CallbackServerContext* context,
      const v1::DownloadRigRequest* request);

  DownloadCall(Runtime& runtime, const RpcMethod& method, grpc::CallbackServerContext* context)
      : runtime_(runtime), context_(context), call_(runtime, method, context) {}

  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override { self_.reset(); }
  void Tick(std::chrono::steady_clock::time_point now) override;
  void Drain() override {}  // answered to the end

 private:
  void Post();
  void SendNext();
  void End(const absl::Status& status);
  void EndLocked(const absl::Status& status);

  Runtime& runtime_;
  grpc::CallbackServerContext* const context_;
  std::shared_ptr<DownloadCall> self_;  // until OnDone
  std::mutex mutex_;
  Call call_;
  ConcurrencyLimit::Permit permit_;
  bool ended_ = false, writing_ = false;
  std::chrono::steady_clock::time_point write_start_;
  std::string hex_;
  std::uint64_t next_ = 0;  // offset of the piece to send
  v1::DownloadRigResponse piece_;
};

}  // namespace sinew::server
