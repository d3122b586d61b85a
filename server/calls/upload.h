// upload.h - UploadRig: pieces of a rig's bytes, appended on the workers.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <optional>

#include "server/calls/call_reactor.h"
#include "sinew/v1/rig_service.pb.h"

namespace sinew::server {

class UploadCall final : public CallReactor<UploadCall, grpc::ServerReadReactor<grpc::ByteBuffer>> {
 public:
  UploadCall(const RpcMethod& method, grpc::CallbackServerContext* context,
             grpc::ByteBuffer* response)
      : CallReactor(method, context), response_(response) {}

  void OnReadDone(bool ok) override;

 private:
  friend CallReactor;
  absl::Status OnStart() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnTick(Clock::Time now) override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Read() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status ReadMessage() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Ends the call with what is stored so far.
  void Reply() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Append();

  UploadTable::Sender sender_;  // constant after OnStart
  grpc::ByteBuffer* const response_ ABSL_PT_GUARDED_BY(mutex_);
  v1::UploadRigResponse reply_ ABSL_GUARDED_BY(mutex_);
  std::optional<Clock::Time> read_start_ ABSL_GUARDED_BY(mutex_);  // set while a read is pending
  Quota::Permit holding_ ABSL_GUARDED_BY(mutex_);    // the message, until it has been stored
  bool has_stored_ ABSL_GUARDED_BY(mutex_) = false;  // a rig
  // Used by gRPC, OnReadDone and the worker in turn.
  grpc::ByteBuffer read_;
  v1::UploadRigRequest request_;
  v1::UploadHeader header_;
};

}  // namespace sinew::server
