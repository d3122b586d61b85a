// info_service.h - sinew.v1.InfoService: version, limits, figures, methods and presets.
#pragma once

#include "server/calls/call.h"
#include "server/runtime.h"
#include "sinew/v1/info_service.grpc.pb.h"

namespace sinew::server {

using RawInfoService = v1::InfoService::WithRawCallbackMethod_GetServerInfo<
    v1::InfoService::WithRawCallbackMethod_ListMethods<v1::InfoService::Service>>;

class InfoService final : public RawInfoService {
 public:
  explicit InfoService(Runtime& runtime);

  grpc::ServerUnaryReactor* GetServerInfo(grpc::CallbackServerContext* context,
                                          const grpc::ByteBuffer* request,
                                          grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* ListMethods(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* response) override;

 private:
  Runtime& runtime_;
  const RpcMethod info_, methods_;
};

}  // namespace sinew::server
