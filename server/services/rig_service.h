// rig_service.h - sinew.v1.RigService over the rig store.
#pragma once

#include "server/calls/call.h"
#include "server/runtime.h"
#include "sinew/v1/rig_service.grpc.pb.h"

namespace sinew::server {

using RawRigService = v1::RigService::WithRawCallbackMethod_UploadRig<
    v1::RigService::WithRawCallbackMethod_GetRig<v1::RigService::WithRawCallbackMethod_DownloadRig<
        v1::RigService::WithRawCallbackMethod_ListRigs<
            v1::RigService::WithRawCallbackMethod_DeleteRig<
                v1::RigService::WithRawCallbackMethod_ComputeWeights<v1::RigService::Service>>>>>>;

class RigService final : public RawRigService {
 public:
  explicit RigService(Runtime& runtime);

  grpc::ServerReadReactor<grpc::ByteBuffer>* UploadRig(grpc::CallbackServerContext* context,
                                                       grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* GetRig(grpc::CallbackServerContext* context,
                                   const grpc::ByteBuffer* request,
                                   grpc::ByteBuffer* response) override;
  grpc::ServerWriteReactor<grpc::ByteBuffer>* DownloadRig(grpc::CallbackServerContext* context,
                                                          const grpc::ByteBuffer* request) override;
  grpc::ServerUnaryReactor* ListRigs(grpc::CallbackServerContext* context,
                                     const grpc::ByteBuffer* request,
                                     grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* DeleteRig(grpc::CallbackServerContext* context,
                                      const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* response) override;

  grpc::ServerWriteReactor<grpc::ByteBuffer>* ComputeWeights(
      grpc::CallbackServerContext* context, const grpc::ByteBuffer* request) override;

 private:
  Runtime& runtime_;
  const RpcMethod upload_, get_, download_, list_, delete_, weigh_;
};

}  // namespace sinew::server
