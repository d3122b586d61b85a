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
      upload_{.metrics = runtime.metrics.AddMethod("sinew.v1.RigService/UploadRig"), .work = true},
      get_{.metrics = runtime.metrics.AddMethod("sinew.v1.RigService/GetRig"), .blocking = true},
      download_{.metrics = runtime.metrics.AddMethod("sinew.v1.RigService/DownloadRig"),
                .work = true},
      list_{.metrics = runtime.metrics.AddMethod("sinew.v1.RigService/ListRigs")},
      delete_{.metrics = runtime.metrics.AddMethod("sinew.v1.RigService/DeleteRig"),
              .work = true,
              .blocking = true},
      weigh_{.metrics = runtime.metrics.AddMethod("sinew.v1.RigService/ComputeWeights"),
             .work = true} {}

grpc::ServerReadReactor<v1::UploadRigRequest>* RigService::UploadRig(
    grpc::CallbackServerContext* context, v1::UploadRigResponse* response) {
  return UploadCall::Start(runtime_, upload_, context, response);
}

grpc::ServerUnaryReactor* RigService::GetRig(grpc::CallbackServerContext* context,
                                             const v1::GetRigRequest* request,
                                             v1::GetRigResponse* response) {
  return RunUnary(
      runtime_, get_, context, request, response,
      [this](const v1::GetRigRequest& asked, v1::GetRigResponse& answer) -> absl::Status {
        SINEW_ASSIGN_OR_RETURN(const std::string hex, ParseRigName("name", asked.name()));
        SINEW_ASSIGN_OR_RETURN(const auto rig, runtime_.rigs->Get(hex));
        *answer.mutable_rig() = rig->summary;
        return absl::OkStatus();
      });
}

grpc::ServerWriteReactor<v1::DownloadRigResponse>* RigService::DownloadRig(
    grpc::CallbackServerContext* context, const v1::DownloadRigRequest* request) {
  return DownloadCall::Start(runtime_, download_, context, request);
}

grpc::ServerUnaryReactor* RigService::ListRigs(grpc::CallbackServerContext* context,
                                               const v1::ListRigsRequest* request,
                                               v1::ListRigsResponse* response) {
  return RunUnary(
      runtime_, list_, context, request, response,
      [this](const v1::ListRigsRequest& asked, v1::ListRigsResponse& answer) -> absl::Status {
        SINEW_ASSIGN_OR_RETURN(const std::size_t rows,
                               PageSize(asked.page_size(), runtime_.config.sessions.page));
        std::string after;
        if (!asked.page_token().empty()) {
          SINEW_ASSIGN_OR_RETURN(after, ParseRigName("page_token", asked.page_token()));
        }
        bool more = false;
        std::size_t bytes = 0;
        for (v1::RigSummary& rig : runtime_.rigs->List(after, rows, more)) {
          bytes += rig.ByteSizeLong();
          if (answer.rigs_size() > 0 && PageIsFull(bytes)) {
            more = true;
            break;
          }
          *answer.add_rigs() = std::move(rig);
        }
        if (more) answer.set_next_page_token(answer.rigs(answer.rigs_size() - 1).name());
        return absl::OkStatus();
      });
}

grpc::ServerUnaryReactor* RigService::DeleteRig(grpc::CallbackServerContext* context,
                                                const v1::DeleteRigRequest* request,
                                                v1::DeleteRigResponse* response) {
  return RunUnary(
      runtime_, delete_, context, request, response,
      [this](const v1::DeleteRigRequest& asked, v1::DeleteRigResponse&) -> absl::Status {
        SINEW_ASSIGN_OR_RETURN(const std::string hex, ParseRigName("name", asked.name()));
        return runtime_.rigs->Delete(hex);
      });
}

grpc::ServerWriteReactor<v1::ComputeWeightsResponse>* RigService::ComputeWeights(
    grpc::CallbackServerContext* context, const v1::ComputeWeightsRequest* request) {
  return ComputeWeightsCall::Start(runtime_, weigh_, context, request);
}

}  // namespace sinew::server
