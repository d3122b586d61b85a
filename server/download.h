// download.h - DownloadRig: the bytes of a rig as uploaded, in pieces, from any offset.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <memory>
#include <mutex>
#include <string>

#include "server/call.h"
#include "sinew/v1/rig_service.pb.h"

namespace sinew::server {

class DownloadCall : public grpc::ServerWriteReactor<v1::DownloadRigResponse>,
                     public std::enable_shared_from_this<DownloadCall> {
 public:
  // Takes care of itself until the call is done.
  static grpc::ServerWriteReactor<v1::DownloadRigResponse>* Start(
      Runtime& runtime, const RpcMethod& method, grpc::CallbackServerContext* context,
      const v1::DownloadRigRequest* request);

  DownloadCall(Runtime& runtime, const RpcMethod& method, grpc::CallbackServerContext* context)
      : runtime_(runtime), call_(runtime, method, context) {}

  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override { self_.reset(); }

 private:
  void Post();
  void SendNext();
  void End(const absl::Status& status);

  Runtime& runtime_;
  std::shared_ptr<DownloadCall> self_;  // until OnDone
  std::mutex mutex_;
  Call call_;
  bool ended_ = false;
  std::string hex_;
  std::uint64_t next_ = 0;  // offset of the piece to send
  v1::DownloadRigResponse piece_;
};

}  // namespace sinew::server
