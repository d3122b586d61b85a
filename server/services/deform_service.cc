#include "server/services/deform_service.h"

#include "server/calls/clip.h"
#include "server/calls/compare.h"
#include "server/calls/deform.h"
#include "server/calls/stream.h"

namespace sinew::server {

DeformService::DeformService(Runtime& runtime)
    : runtime_(runtime),
      deform_{.metrics = runtime.metrics.AddMethod("sinew.v1.DeformService/Deform"), .work = true},
      stream_{.metrics = runtime.metrics.AddMethod("sinew.v1.DeformService/StreamDeform"),
              .work = true},
      clip_{.metrics = runtime.metrics.AddMethod("sinew.v1.DeformService/DeformClip"),
            .work = true},
      compare_{.metrics = runtime.metrics.AddMethod("sinew.v1.DeformService/CompareDeformers"),
               .work = true} {}

grpc::ServerUnaryReactor* DeformService::Deform(grpc::CallbackServerContext* context,
                                                const grpc::ByteBuffer* request,
                                                grpc::ByteBuffer* response) {
  return DeformCall::Start(runtime_, deform_, context, request, response);
}

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* DeformService::StreamDeform(
    grpc::CallbackServerContext* context) {
  return StreamCall::Start(runtime_, stream_, context);
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* DeformService::DeformClip(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request) {
  return ClipCall::Start(runtime_, clip_, context, request);
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* DeformService::CompareDeformers(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request) {
  return CompareCall::Start(runtime_, compare_, context, request);
}

}  // namespace sinew::server
