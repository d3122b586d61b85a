// upload.h - UploadRig: pieces of a rig's bytes, appended on the workers.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <optional>

#include "server/calls/call_reactor.h"
#include "sinew/v1/rig_service.pb.h"

namespace sinew::server {

class UploadCall final
    : public CallReactor<UploadCall, grpc::ServerReadReactor<v1::UploadRigRequest>> {
 public:
  UploadCall(const RpcMethod& method, grpc::CallbackServerContext* context,
             v1::UploadRigResponse* response)
      : CallReactor(method, context), response_(response) {}

  void OnReadDone(bool ok) override;

 private:
  friend CallReactor;
  absl::Status OnStart() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnTick(Clock::Time now) override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Read() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CheckMessage();
  void Append();

  UploadTable::Sender sender_;  // constant after OnStart
  v1::UploadRigResponse* const response_ ABSL_PT_GUARDED_BY(mutex_);
  std::optional<Clock::Time> read_start_ ABSL_GUARDED_BY(mutex_);  // set while a read is pending
  // Used by gRPC, OnReadDone and the worker in turn.
  v1::UploadRigRequest request_;
  v1::UploadHeader header_;
};

}  // namespace sinew::server
