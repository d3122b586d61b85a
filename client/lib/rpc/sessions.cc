#include <absl/random/random.h>
#include <absl/strings/str_cat.h>

#include <utility>

#include "client/lib/codec/message_codec.h"
#include "client/lib/codec/status_codec.h"
#include "client/lib/rpc/connection.h"
#include "core/base/status.h"
#include "sinew/client.h"

namespace sinew::client {
namespace {

// 128 random bits. The server answers a repeated id with the session of the first request.
std::string NewRequestId() {
  absl::BitGen generator;
  return absl::StrCat(absl::Hex(absl::Uniform<std::uint64_t>(generator), absl::kZeroPad16),
                      absl::Hex(absl::Uniform<std::uint64_t>(generator), absl::kZeroPad16));
}

absl::Status BindFailure(const v1::Session& session) {
  if (session.has_problem()) return ToStatus(session.problem());
  return absl::FailedPreconditionError(absl::StrCat(session.name(), ": the bind failed"));
}

}  // namespace

absl::StatusOr<Session> Client::CreateSession(const SessionRequest& request,
                                              const CallOptions& call) const {
  v1::CreateSessionRequest message;
  SINEW_ASSIGN_OR_RETURN(*message.mutable_source(),
                         FromRecipe(request.rig, request.recipe, request.determinism_digest));
  if (request.ttl != absl::ZeroDuration()) *message.mutable_ttl() = FromDuration(request.ttl);
  message.set_request_id(NewRequestId());
  message.set_validate_only(request.validate_only);
  SINEW_ASSIGN_OR_RETURN(const auto response,
                         connection_->Call(connection_->sessions(), &SessionStub::CreateSession,
                                           message, call, RouteOfRig(request.rig)));
  connection_->routes().Remember(response.session().name(), request.rig);
  return ToSession(response.session());
}

absl::StatusOr<Session> Client::WaitSession(const std::string& name,
                                            const SessionProgress& progress,
                                            const CallOptions& call) const {
  v1::WatchSessionRequest request;
  request.set_name(name);
  v1::WatchSessionResponse last;
  const auto attempt = [&](grpc::ClientContext& context) -> absl::Status {
    const auto reader = connection_->sessions().WatchSession(&context, request);
    while (reader->Read(&last)) {
      if (progress) progress(ToSession(last.session()));
    }
    return FromGrpc(reader->Finish());
  };
  SINEW_RETURN_IF_ERROR(connection_->Run(call, connection_->routes().OfSession(name), attempt));
  switch (last.session().state()) {
    case v1::Session::STATE_READY:
      return ToSession(last.session());
    case v1::Session::STATE_FAILED:
      return BindFailure(last.session());
    default:
      return absl::InternalError(
          absl::StrCat(name, ": WatchSession ended while the session was binding"));
  }
}

absl::StatusOr<Session> Client::GetSession(const std::string& name, const CallOptions& call) const {
  v1::GetSessionRequest request;
  request.set_name(name);
  SINEW_ASSIGN_OR_RETURN(const auto response,
                         connection_->Call(connection_->sessions(), &SessionStub::GetSession,
                                           request, call, connection_->routes().OfSession(name)));
  return ToSession(response.session());
}

absl::StatusOr<Session> Client::RenewSession(const std::string& name, absl::Duration ttl,
                                             const CallOptions& call) const {
  v1::RenewSessionRequest request;
  request.set_name(name);
  if (ttl != absl::ZeroDuration()) *request.mutable_ttl() = FromDuration(ttl);
  SINEW_ASSIGN_OR_RETURN(const auto response,
                         connection_->Call(connection_->sessions(), &SessionStub::RenewSession,
                                           request, call, connection_->routes().OfSession(name)));
  return ToSession(response.session());
}

absl::Status Client::DeleteSession(const std::string& name, const CallOptions& call) const {
  v1::DeleteSessionRequest request;
  request.set_name(name);
  return connection_->Delete(connection_->sessions(), &SessionStub::DeleteSession, request, call,
                             connection_->routes().OfSession(name));
}

absl::Status Client::ForEachSession(const std::function<bool(const Session&)>& each,
                                    const CallOptions& call) const {
  v1::ListSessionsRequest request;
  do {
    SINEW_ASSIGN_OR_RETURN(
        const auto response,
        connection_->Call(connection_->sessions(), &SessionStub::ListSessions, request, call));
    for (const v1::Session& session : response.sessions()) {
      if (!each(ToSession(session))) return absl::OkStatus();
    }
    request.set_page_token(response.next_page_token());
  } while (!request.page_token().empty());
  return absl::OkStatus();
}

}  // namespace sinew::client
