#include "server/services/session_service.h"

#include <absl/strings/str_cat.h>

#include <chrono>

#include "core/base/status.h"
#include "core/deform/engine/deformer.h"
#include "server/calls/open_session.h"
#include "server/calls/restore_session.h"
#include "server/calls/session_proto.h"
#include "server/calls/unary_call.h"
#include "server/calls/watch_session.h"
#include "server/convert/recipe.h"
#include "server/convert/unknown_fields.h"
#include "server/services/page.h"
#include "sinew/v1/session_service.pb.h"

namespace sinew::server {
namespace {

absl::Status ValidateOnly(const v1::SessionSource& source, v1::Session& session, const Call& call) {
  Runtime& runtime = call.method().runtime;
  SINEW_ASSIGN_OR_RETURN(const ResolvedSource resolved, ResolveSource(call, source));
  SINEW_ASSIGN_OR_RETURN(const auto forecast,
                         runtime.bound->Foresee(resolved.name, *resolved.rig, resolved.recipe,
                                                resolved.determinism_digest, call.stop_token()));
  *session.mutable_source() = source;
  *session.mutable_recipe() = ToProto(resolved.recipe);
  session.set_determinism_digest(resolved.determinism_digest);
  SetForecast(*forecast, session);
  return absl::OkStatus();
}

// The session that another server has made for this request, continued here, or null.
absl::StatusOr<std::shared_ptr<Session>> FindRequestElsewhere(
    const v1::CreateSessionRequest& request, const Call& call) {
  Runtime& runtime = call.method().runtime;
  if (runtime.records == nullptr || request.request_id().empty()) return nullptr;
  const auto name = runtime.records->FindRequest(call.caller().tenant, request.request_id());
  if (!name.ok() || name->empty()) return nullptr;
  if (!RestoreIfUnknown(call, *name).ok()) return nullptr;
  return runtime.sessions.FindRequest(call.caller().tenant, request.request_id(), request.source(),
                                      runtime.clock.Now());
}

absl::Status Create(const v1::CreateSessionRequest& request, v1::CreateSessionResponse& response,
                    const Call& call) {
  Runtime& runtime = call.method().runtime;
  const SessionConfig& limits = runtime.config.sessions;
  const std::string& tenant = call.caller().tenant;
  SINEW_RETURN_IF_ERROR(RefuseUnknownFields(request, ""));
  SINEW_RETURN_IF_ERROR(CheckLimit("request_id", request.request_id().size(),
                                   limits.request_id_bytes, "bytes", "max-request-id-bytes"));
  std::chrono::nanoseconds ttl(static_cast<std::int64_t>(limits.ttl_seconds * 1e9));
  if (request.has_ttl()) {
    SINEW_ASSIGN_OR_RETURN(ttl, ReadTtl(request.ttl(), limits.max_ttl_seconds));
  }
  if (request.validate_only()) {
    return ValidateOnly(request.source(), *response.mutable_session(), call);
  }
  SINEW_ASSIGN_OR_RETURN(
      auto session, runtime.sessions.FindRequest(tenant, request.request_id(), request.source(),
                                                 runtime.clock.Now()));
  if (session == nullptr) {
    SINEW_ASSIGN_OR_RETURN(session, FindRequestElsewhere(request, call));
  }
  if (session == nullptr) {
    SINEW_ASSIGN_OR_RETURN(const ResolvedSource resolved, ResolveSource(call, request.source()));
    SINEW_ASSIGN_OR_RETURN(session, MakeSession(call, request.source(), resolved));
    session->request_id = request.request_id();
    NameSession(runtime, *session);
    SINEW_ASSIGN_OR_RETURN(const auto added,
                           runtime.sessions.Add(call.caller(), session, ttl, runtime.clock.Now()));
    session = added.session;
    // If that fails, the next renewal of leases does it.
    if (runtime.records != nullptr) {
      static_cast<void>(
          runtime.records->Keep(tenant, session->name, RecordOf(*added.session, added.ttl)));
    }
  }
  SINEW_ASSIGN_OR_RETURN(const auto lease,
                         runtime.sessions.Get(tenant, session->name, runtime.clock.Now()));
  *response.mutable_session() = ToProto(lease, runtime.clock);
  return absl::OkStatus();
}

}  // namespace

void AddSessionMethods(Runtime& runtime, RpcService& service) {
  // What another server began is continued here, which may take long. A changed lease is recorded.
  const auto is_here = [](const Call& call, const v1::GetSessionRequest& request) {
    return !MayRestore(call, request.name());
  };
  const auto renews_here = [&runtime](const Call& call, const v1::RenewSessionRequest& request) {
    const bool records = request.has_ttl() && runtime.records != nullptr;
    return !records && !MayRestore(call, request.name());
  };
  const auto restore = [&runtime](const Call& call, const auto& request, Workers::Work work,
                                  StepMoved moved) {
    Workers& lane = runtime.records == nullptr ? runtime.control : runtime.fetches;
    return PostWithSession(call, request.name(), lane, std::move(work), std::move(moved));
  };
  service.Add(
      {.runtime = runtime,
       .name = "SessionService/CreateSession",
       .scope = Scope::kSessionsUse,
       .work = true,
       .audited = true},
      PostedUnary<v1::CreateSessionRequest, v1::CreateSessionResponse>(
          [](const Call& call, const v1::CreateSessionRequest& request, Workers::Work work,
             StepMoved moved) {
            return PostWithRig(call, request.source(), std::move(work), std::move(moved));
          },
          [](Call& call, const v1::CreateSessionRequest& request,
             v1::CreateSessionResponse& response) -> absl::Status {
            if (request.validate_only()) call.SetUnaudited();
            const absl::Status status = Create(request, response, call);
            call.SetObject(status.ok() ? response.session().name() : request.source().rig());
            return status;
          }));

  service.Add({.runtime = runtime,
               .name = "SessionService/WatchSession",
               .scope = Scope::kSessionsUse,
               .limit = &runtime.watches},
              WatchSessionCall::Start<>);

  service.Add(
      {.runtime = runtime, .name = "SessionService/GetSession", .scope = Scope::kSessionsUse},
      PostedUnary<v1::GetSessionRequest, v1::GetSessionResponse>(
          restore,
          [&runtime](const Call& call, const v1::GetSessionRequest& request,
                     v1::GetSessionResponse& response) -> absl::Status {
            SINEW_ASSIGN_OR_RETURN(
                const auto lease,
                runtime.sessions.Get(call.caller().tenant, request.name(), runtime.clock.Now()));
            *response.mutable_session() = ToProto(lease, runtime.clock);
            return absl::OkStatus();
          },
          is_here));

  service.Add(
      {.runtime = runtime, .name = "SessionService/ListSessions", .scope = Scope::kSessionsUse},
      Unary<v1::ListSessionsRequest, v1::ListSessionsResponse>(
          &runtime.control,
          [&runtime](const Call& call, const v1::ListSessionsRequest& request,
                     v1::ListSessionsResponse& response) -> absl::Status {
            SINEW_ASSIGN_OR_RETURN(const std::size_t rows,
                                   PageSize(request.page_size(), runtime.config.sessions.page));
            bool more = false;
            const std::vector<SessionTable::Lease> leases =
                runtime.sessions.List(call.caller().tenant, request.page_token(), rows, more);
            response.set_next_page_token(
                FillPage(leases, more, response.mutable_sessions(),
                         [&](const auto& lease) { return ToProto(lease, runtime.clock); }));
            return absl::OkStatus();
          }));

  service.Add(
      {.runtime = runtime, .name = "SessionService/RenewSession", .scope = Scope::kSessionsUse},
      PostedUnary<v1::RenewSessionRequest, v1::RenewSessionResponse>(
          restore,
          [&runtime](const Call& call, const v1::RenewSessionRequest& request,
                     v1::RenewSessionResponse& response) -> absl::Status {
            std::chrono::nanoseconds ttl(0);
            if (request.has_ttl()) {
              SINEW_ASSIGN_OR_RETURN(
                  ttl, ReadTtl(request.ttl(), runtime.config.sessions.max_ttl_seconds));
            }
            SINEW_ASSIGN_OR_RETURN(const auto lease,
                                   runtime.sessions.Renew(call.caller().tenant, request.name(), ttl,
                                                          runtime.clock.Now()));
            if (request.has_ttl() && runtime.records != nullptr) {
              static_cast<void>(runtime.records->Keep(call.caller().tenant, request.name(),
                                                      RecordOf(*lease.session, lease.ttl)));
            }
            *response.mutable_session() = ToProto(lease, runtime.clock);
            return absl::OkStatus();
          },
          renews_here));

  service.Add({.runtime = runtime,
               .name = "SessionService/DeleteSession",
               .scope = Scope::kSessionsUse,
               .audited = true},
              Unary<v1::DeleteSessionRequest, v1::DeleteSessionResponse>(
                  runtime.records == nullptr ? nullptr : &runtime.fetches,
                  [](Call& call, const v1::DeleteSessionRequest& request,
                     v1::DeleteSessionResponse&) -> absl::Status {
                    call.SetObject(request.name());
                    return DeleteEverywhere(call, request.name());
                  }));
}

}  // namespace sinew::server
