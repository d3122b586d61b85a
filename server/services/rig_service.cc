#include "server/services/rig_service.h"

#include "core/base/status.h"
#include "server/calls/compute_weights.h"
#include "server/calls/download.h"
#include "server/calls/unary_call.h"
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
      get_{.runtime = runtime, .name = "RigService/GetRig", .scope = Scope::kRigsRead},
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
              .lane = &runtime.storage,
              .audited = true},
      weigh_{.runtime = runtime,
             .name = "RigService/ComputeWeights",
             .scope = Scope::kRigsWrite,
             .work = true,
             .audited = true,
             .limit = &runtime.weights} {}

grpc::ServerReadReactor<grpc::ByteBuffer>* RigService::UploadRig(
    grpc::CallbackServerContext* context, grpc::ByteBuffer* response) {
  return UploadCall::Start(upload_, context, response);
}

grpc::ServerUnaryReactor* RigService::GetRig(grpc::CallbackServerContext* context,
                                             const grpc::ByteBuffer* bytes,
                                             grpc::ByteBuffer* reply) {
  // Parsing takes long; what is parsed or does not exist is answered without waiting for it.
  const auto lane = [this](const Call& call, const v1::GetRigRequest& request) {
    const auto hex = ParseRigName("", request.name());
    if (!hex.ok()) return &runtime_.control;
    const RigKey key{call.caller().tenant, *hex};
    const bool parse = runtime_.rigs->Has(key) && runtime_.rigs->Peek(key) == nullptr;
    return parse ? &runtime_.storage : &runtime_.control;
  };
  return RunUnary<v1::GetRigRequest, v1::GetRigResponse>(
      get_, context, bytes, reply, lane,
      [this](const Call& call, const v1::GetRigRequest& request,
             v1::GetRigResponse& response) -> absl::Status {
        SINEW_ASSIGN_OR_RETURN(const std::string hex, ParseRigName("name", request.name()));
        SINEW_ASSIGN_OR_RETURN(const auto rig, runtime_.rigs->Get({call.caller().tenant, hex}));
        *response.mutable_rig() = rig->summary;
        return absl::OkStatus();
      });
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* RigService::DownloadRig(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request) {
  return DownloadCall::Start(download_, context, request);
}

grpc::ServerUnaryReactor* RigService::ListRigs(grpc::CallbackServerContext* context,
                                               const grpc::ByteBuffer* bytes,
                                               grpc::ByteBuffer* reply) {
  return RunUnary<v1::ListRigsRequest, v1::ListRigsResponse>(
      list_, context, bytes, reply,
      [this](const Call& call, const v1::ListRigsRequest& request,
             v1::ListRigsResponse& response) -> absl::Status {
        SINEW_ASSIGN_OR_RETURN(const std::size_t rows,
                               PageSize(request.page_size(), runtime_.config.sessions.page));
        std::string after;
        if (!request.page_token().empty()) {
          SINEW_ASSIGN_OR_RETURN(after, ParseRigName("page_token", request.page_token()));
        }
        bool more = false;
        std::vector<v1::RigSummary> rigs =
            runtime_.rigs->List(call.caller().tenant, after, rows, more);
        response.set_next_page_token(FillPage(std::move(rigs), more, response.mutable_rigs()));
        return absl::OkStatus();
      });
}

grpc::ServerUnaryReactor* RigService::DeleteRig(grpc::CallbackServerContext* context,
                                                const grpc::ByteBuffer* bytes,
                                                grpc::ByteBuffer* reply) {
  return RunUnary<v1::DeleteRigRequest, v1::DeleteRigResponse>(
      delete_, context, bytes, reply,
      [this](Call& call, const v1::DeleteRigRequest& request,
             v1::DeleteRigResponse&) -> absl::Status {
        call.SetObject(request.name());
        SINEW_ASSIGN_OR_RETURN(const std::string hex, ParseRigName("name", request.name()));
        const RigKey rig{call.caller().tenant, hex};
        SINEW_RETURN_IF_ERROR(runtime_.rigs->Delete(rig));
        runtime_.bound->Forget(rig);
        return absl::OkStatus();
      });
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* RigService::ComputeWeights(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request) {
  return ComputeWeightsCall::Start(weigh_, context, request);
}

}  // namespace sinew::server
