// session_service.h - sinew.v1.SessionService over the session table and the bound data.
#pragma once

#include "server/calls/call.h"
#include "server/runtime.h"
#include "sinew/v1/session_service.grpc.pb.h"

namespace sinew::server {

class SessionService final : public v1::SessionService::CallbackService {
 public:
  explicit SessionService(Runtime& runtime);

  grpc::ServerUnaryReactor* CreateSession(grpc::CallbackServerContext* context,
                                          const v1::CreateSessionRequest* request,
                                          v1::CreateSessionResponse* response) override;
  grpc::ServerWriteReactor<v1::WatchSessionResponse>* WatchSession(
      grpc::CallbackServerContext* context, const v1::WatchSessionRequest* request) override;
  grpc::ServerUnaryReactor* GetSession(grpc::CallbackServerContext* context,
                                       const v1::GetSessionRequest* request,
                                       v1::GetSessionResponse* response) override;
  grpc::ServerUnaryReactor* ListSessions(grpc::CallbackServerContext* context,
                                         const v1::ListSessionsRequest* request,
                                         v1::ListSessionsResponse* response) override;
  grpc::ServerUnaryReactor* RenewSession(grpc::CallbackServerContext* context,
                                         const v1::RenewSessionRequest* request,
                                         v1::RenewSessionResponse* response) override;
  grpc::ServerUnaryReactor* DeleteSession(grpc::CallbackServerContext* context,
                                          const v1::DeleteSessionRequest* request,
                                          v1::DeleteSessionResponse* response) override;

 private:
  absl::Status Create(const v1::CreateSessionRequest& request, v1::CreateSessionResponse& response,
                      const Call& call);
  absl::Status ValidateOnly(const v1::SessionSource& source, v1::Session& session,
                            const Call& call);

  Runtime& runtime_;
  const RpcMethod create_, watch_, get_, list_, renew_, delete_;
};

}  // namespace sinew::server
