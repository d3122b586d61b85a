#include "server/services/deform_service.h"

#include "server/calls/clip.h"
#include "server/calls/compare.h"
#include "server/calls/deform.h"
#include "server/calls/stream.h"

namespace sinew::server {

DeformService::DeformService(Runtime& runtime)
    : deform_{.runtime = runtime,
              .name = "DeformService/Deform",
              .scope = Scope::kSessionsUse,
              .work = true,
              .limit = &runtime.deforms},
      stream_{.runtime = runtime,
              .name = "DeformService/StreamDeform",
              .scope = Scope::kSessionsUse,
              .work = true,
              .limit = &runtime.streams},
      clip_{.runtime = runtime,
            .name = "DeformService/DeformClip",
            .scope = Scope::kSessionsUse,
            .work = true,
            .limit = &runtime.deforms},
      compare_{.runtime = runtime,
               .name = "DeformService/CompareDeformers",
               .scope = Scope::kSessionsUse,
               .work = true,
               .limit = &runtime.compares} {}

grpc::ServerUnaryReactor* DeformService::Deform(grpc::CallbackServerContext* context,
                                                const grpc::ByteBuffer* request,
                                                grpc::ByteBuffer* response) {
  return DeformCall::Start(deform_, context, request, response);
}

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* DeformService::StreamDeform(
    grpc::CallbackServerContext* context) {
  return StreamCall::Start(stream_, context);
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* DeformService::DeformClip(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request) {
  return ClipCall::Start(clip_, context, request);
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* DeformService::CompareDeformers(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request) {
  return CompareCall::Start(compare_, context, request);
}

}  // namespace sinew::server
