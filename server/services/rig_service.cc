#include "server/services/rig_service.h"

#include "core/base/status.h"
#include "server/calls/compute_weights.h"
#include "server/calls/download.h"
#include "server/calls/upload.h"
#include "server/convert/unknown_fields.h"
#include "server/services/page.h"

namespace sinew::server {

RigService::RigService(Runtime& runtime)
    : runtime_(runtime),
      upload_{.runtime = runtime,
              .name = "RigService/UploadRig",
              .scope = Scope::kRigsWrite,
              .work = true,
              .audited = true,
              .limit = &runtime.transfers},
      get_{.runtime = runtime,
           .name = "RigService/GetRig",
           .scope = Scope::kRigsRead,
           .blocking = true},
      download_{.runtime = runtime,
                .name = "RigService/DownloadRig",
                .scope = Scope::kRigsRead,
                .work = true,
                .limit = &runtime.transfers},
      list_{.runtime = runtime, .name = "RigService/ListRigs", .scope = Scope::kRigsRead},
      delete_{.runtime = runtime,
              .name = "RigService/DeleteRig",
              .scope = Scope::kRigsWrite,
              .work = true,
              .blocking = true,
              .audited = true},
      weigh_{.runtime = runtime,
             .name = "RigService/ComputeWeights",
             .scope = Scope::kRigsWrite,
             .work = true,
             .audited = true,
             .limit = &runtime.weights} {}

grpc::ServerReadReactor<v1::UploadRigRequest>* RigService::UploadRig(
    grpc::CallbackServerContext* context, v1::UploadRigResponse* response) {
  return UploadCall::Start(upload_, context, response);
}

grpc::ServerUnaryReactor* RigService::GetRig(grpc::CallbackServerContext* context,
                                             const v1::GetRigRequest* request,
                                             v1::GetRigResponse* response) {
  return RunUnary(get_, context, [=, this](const Call& call) -> absl::Status {
    SINEW_ASSIGN_OR_RETURN(const std::string hex, ParseRigName("name", request->name()));
    SINEW_ASSIGN_OR_RETURN(const auto rig, runtime_.rigs->Get({call.caller().tenant, hex}));
    *response->mutable_rig() = rig->summary;
    return absl::OkStatus();
  });
}

grpc::ServerWriteReactor<v1::DownloadRigResponse>* RigService::DownloadRig(
    grpc::CallbackServerContext* context, const v1::DownloadRigRequest* request) {
  return DownloadCall::Start(download_, context, request);
}

grpc::ServerUnaryReactor* RigService::ListRigs(grpc::CallbackServerContext* context,
                                               const v1::ListRigsRequest* request,
                                               v1::ListRigsResponse* response) {
  return RunUnary(list_, context, [=, this](const Call& call) -> absl::Status {
    SINEW_ASSIGN_OR_RETURN(const std::size_t rows,
                           PageSize(request->page_size(), runtime_.config.sessions.page));
    std::string after;
    if (!request->page_token().empty()) {
      SINEW_ASSIGN_OR_RETURN(after, ParseRigName("page_token", request->page_token()));
    }
    bool more = false;
    std::vector<v1::RigSummary> rigs = runtime_.rigs->List(call.caller().tenant, after, rows, more);
    response->set_next_page_token(FillPage(std::move(rigs), more, response->mutable_rigs()));
    return absl::OkStatus();
  });
}

grpc::ServerUnaryReactor* RigService::DeleteRig(grpc::CallbackServerContext* context,
                                                const v1::DeleteRigRequest* request,
                                                v1::DeleteRigResponse*) {
  return RunUnary(delete_, context, [=, this](Call& call) -> absl::Status {
    call.SetObject(request->name());
    SINEW_ASSIGN_OR_RETURN(const std::string hex, ParseRigName("name", request->name()));
    const RigKey rig{call.caller().tenant, hex};
    SINEW_RETURN_IF_ERROR(runtime_.rigs->Delete(rig));
    runtime_.bound->Forget(rig);
    return absl::OkStatus();
  });
}

grpc::ServerWriteReactor<v1::ComputeWeightsResponse>* RigService::ComputeWeights(
    grpc::CallbackServerContext* context, const v1::ComputeWeightsRequest* request) {
  return ComputeWeightsCall::Start(weigh_, context, request);
}

}  // namespace sinew::server
