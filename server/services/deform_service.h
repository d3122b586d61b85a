// deform_service.h - sinew.v1.DeformService. Calls that send frames are raw: their messages are
// assembled from the buffers that frames were evaluated into.
#pragma once

#include "server/calls/call.h"
#include "server/runtime.h"
#include "sinew/v1/deform_service.grpc.pb.h"

namespace sinew::server {

using RawDeformService = v1::DeformService::WithRawCallbackMethod_Deform<
    v1::DeformService::WithRawCallbackMethod_StreamDeform<
        v1::DeformService::WithRawCallbackMethod_DeformClip<
            v1::DeformService::WithRawCallbackMethod_CompareDeformers<
                v1::DeformService::Service>>>>;

class DeformService final : public RawDeformService {
 public:
  explicit DeformService(Runtime& runtime);

  grpc::ServerUnaryReactor* Deform(grpc::CallbackServerContext* context,
                                   const grpc::ByteBuffer* request,
                                   grpc::ByteBuffer* response) override;
  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* StreamDeform(
      grpc::CallbackServerContext* context) override;
  grpc::ServerWriteReactor<grpc::ByteBuffer>* DeformClip(grpc::CallbackServerContext* context,
                                                         const grpc::ByteBuffer* request) override;
  grpc::ServerWriteReactor<grpc::ByteBuffer>* CompareDeformers(
      grpc::CallbackServerContext* context, const grpc::ByteBuffer* request) override;

 private:
  const RpcMethod deform_, stream_, clip_, compare_;
};

}  // namespace sinew::server
