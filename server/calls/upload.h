// upload.h - UploadRig: pieces of a rig in, its summary or the number of bytes held out.
//
// Pieces are written on the workers, one at a time; the next is read when the last is kept, so a
// sender is slowed to what the disk takes.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <chrono>
#include <memory>
#include <mutex>

#include "server/calls/call.h"
#include "sinew/v1/rig_service.pb.h"

namespace sinew::server {

class UploadCall : public grpc::ServerReadReactor<v1::UploadRigRequest>,
                   public LiveStream,
                   public std::enable_shared_from_this<UploadCall> {
 public:
  // Takes care of itself until the call is done.
  static grpc::ServerReadReactor<v1::UploadRigRequest>* Start(Runtime& runtime,
                                                              const RpcMethod& method,
                                                              grpc::CallbackServerContext* context,
                                                              v1::UploadRigResponse* response);

  UploadCall(Runtime& runtime, const RpcMethod& method, grpc::CallbackServerContext* context,
             v1::UploadRigResponse* response)
      : runtime_(runtime), response_(response), call_(runtime, method, context) {}

  void OnReadDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override { self_.reset(); }
  void Tick(std::chrono::steady_clock::time_point now) override;
  void Drain() override {}  // answered to the end

 private:
  absl::Status CheckMessage();
  void Read();
  void Append();
  void End(const absl::Status& status);

  Runtime& runtime_;
  v1::UploadRigResponse* const response_;
  std::shared_ptr<UploadCall> self_;  // until OnDone
  std::mutex mutex_;
  Call call_;
  ConcurrencyLimit::Permit permit_;
  bool ended_ = false;
  bool reading_ = false;  // waits for the client
  std::chrono::steady_clock::time_point read_start_;
  v1::UploadRigRequest request_;  // touched by one of reader and worker at a time
  v1::UploadHeader header_;
};

}  // namespace sinew::server
