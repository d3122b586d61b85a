#include "server/services/rig_service.h"

#include "core/base/status.h"
#include "server/calls/compute_weights.h"
#include "server/calls/download.h"
#include "server/calls/fit_skeleton.h"
#include "server/calls/unary_call.h"
#include "server/calls/upload.h"
#include "server/convert/unknown_fields.h"
#include "server/services/page.h"
#include "sinew/v1/rig_service.pb.h"

namespace sinew::server {

void AddRigMethods(Runtime& runtime, RpcService& service) {
  service.Add({.runtime = runtime,
               .name = "RigService/UploadRig",
               .scope = Scope::kRigsWrite,
               .work = true,
               .audited = true,
               .limit = &runtime.transfers},
              UploadCall::Start<>);

  // Parsing takes long; what is parsed or does not exist is answered without waiting for it.
  const auto post_get = [&runtime](const Call& call, const v1::GetRigRequest& request,
                                   Workers::Work work, StepMoved moved) {
    const RigKey key{call.caller().tenant, ParseRigName("", request.name()).value_or("")};
    const auto lane = [&runtime, key]() -> Workers& {
      const bool parse = runtime.rigs->Has(key) && runtime.rigs->Peek(key) == nullptr;
      return parse ? runtime.storage : runtime.control;
    };
    if (key.hex.empty()) {
      return PostStep(runtime, lane(), call.caller().client(), std::move(work));
    }
    return PostWhenFetched(call, key, lane, std::move(work), std::move(moved));
  };
  service.Add(
      {.runtime = runtime, .name = "RigService/GetRig", .scope = Scope::kRigsRead},
      PostedUnary<v1::GetRigRequest, v1::GetRigResponse>(
          post_get,
          [&runtime](const Call& call, const v1::GetRigRequest& request,
                     v1::GetRigResponse& response) -> absl::Status {
            SINEW_ASSIGN_OR_RETURN(const std::string hex, ParseRigName("name", request.name()));
            SINEW_ASSIGN_OR_RETURN(const auto rig, runtime.rigs->Get({call.caller().tenant, hex}));
            *response.mutable_rig() = rig->summary;
            return absl::OkStatus();
          }));

  service.Add({.runtime = runtime,
               .name = "RigService/DownloadRig",
               .scope = Scope::kRigsRead,
               .work = true,
               .limit = &runtime.transfers},
              DownloadCall::Start<>);

  service.Add(
      {.runtime = runtime, .name = "RigService/ListRigs", .scope = Scope::kRigsRead},
      Unary<v1::ListRigsRequest, v1::ListRigsResponse>(
          runtime.shared == nullptr ? &runtime.control : &runtime.fetches,
          [&runtime](const Call& call, const v1::ListRigsRequest& request,
                     v1::ListRigsResponse& response) -> absl::Status {
            SINEW_ASSIGN_OR_RETURN(const std::size_t rows,
                                   PageSize(request.page_size(), runtime.config.sessions.page));
            std::string after;
            if (!request.page_token().empty()) {
              SINEW_ASSIGN_OR_RETURN(after, ParseRigName("page_token", request.page_token()));
            }
            bool more = false;
            const std::vector<RigStore::Listed> rigs =
                runtime.rigs->List(call.caller().tenant, after, rows, more);
            response.set_next_page_token(FillPage(rigs, more, response.mutable_rigs(),
                                                  [](const auto& rig) { return *rig; }));
            return absl::OkStatus();
          }));

  service.Add({.runtime = runtime,
               .name = "RigService/DeleteRig",
               .scope = Scope::kRigsWrite,
               .work = true,
               .audited = true},
              Unary<v1::DeleteRigRequest, v1::DeleteRigResponse>(
                  &runtime.storage,
                  [&runtime](Call& call, const v1::DeleteRigRequest& request,
                             v1::DeleteRigResponse&) -> absl::Status {
                    call.SetObject(request.name());
                    SINEW_ASSIGN_OR_RETURN(const std::string hex,
                                           ParseRigName("name", request.name()));
                    const RigKey rig{call.caller().tenant, hex};
                    SINEW_RETURN_IF_ERROR(runtime.rigs->Delete(rig));
                    runtime.bound->Forget(rig);
                    return absl::OkStatus();
                  }));

  service.Add({.runtime = runtime,
               .name = "RigService/ComputeWeights",
               .scope = Scope::kRigsWrite,
               .work = true,
               .audited = true,
               .limit = &runtime.weights},
              ComputeWeightsCall::Start<>);

  service.Add({.runtime = runtime,
               .name = "RigService/FitSkeleton",
               .scope = Scope::kRigsWrite,
               .work = true,
               .audited = true,
               .limit = &runtime.weights},
              FitSkeletonCall::Start<>);
}

}  // namespace sinew::server
