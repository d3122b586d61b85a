// rig_service.h - sinew.v1.RigService over the rig store.
#pragma once

#include "server/calls/call.h"
#include "server/runtime.h"
#include "sinew/v1/rig_service.grpc.pb.h"

namespace sinew::server {

class RigService final : public v1::RigService::CallbackService {
 public:
  explicit RigService(Runtime& runtime);

  grpc::ServerReadReactor<v1::UploadRigRequest>* UploadRig(
      grpc::CallbackServerContext* context, v1::UploadRigResponse* response) override;
  grpc::ServerUnaryReactor* GetRig(grpc::CallbackServerContext* context,
                                   const v1::GetRigRequest* request,
                                   v1::GetRigResponse* response) override;
  grpc::ServerWriteReactor<v1::DownloadRigResponse>* DownloadRig(
      grpc::CallbackServerContext* context, const v1::DownloadRigRequest* request) override;
  grpc::ServerUnaryReactor* ListRigs(grpc::CallbackServerContext* context,
                                     const v1::ListRigsRequest* request,
                                     v1::ListRigsResponse* response) override;
  grpc::ServerUnaryReactor* DeleteRig(grpc::CallbackServerContext* context,
                                      const v1::DeleteRigRequest* request,
                                      v1::DeleteRigResponse* response) override;

  grpc::ServerWriteReactor<v1::ComputeWeightsResponse>* ComputeWeights(
      grpc::CallbackServerContext* context, const v1::ComputeWeightsRequest* request) override;

 private:
  Runtime& runtime_;
  const RpcMethod upload_, get_, download_, list_, delete_, weigh_;
};

}  // namespace sinew::server
