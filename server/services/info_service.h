// info_service.h - sinew.v1.InfoService: version, limits, figures, methods and presets.
#pragma once

#include "server/calls/call.h"
#include "server/runtime.h"
#include "sinew/v1/info_service.grpc.pb.h"

namespace sinew::server {

class InfoService final : public v1::InfoService::CallbackService {
 public:
  explicit InfoService(Runtime& runtime);

  grpc::ServerUnaryReactor* GetServerInfo(grpc::CallbackServerContext* context,
                                          const v1::GetServerInfoRequest* request,
                                          v1::GetServerInfoResponse* response) override;
  grpc::ServerUnaryReactor* ListMethods(grpc::CallbackServerContext* context,
                                        const v1::ListMethodsRequest* request,
                                        v1::ListMethodsResponse* response) override;

 private:
  Runtime& runtime_;
  const RpcMethod info_, methods_;
};

}  // namespace sinew::server
