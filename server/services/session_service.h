// session_service.h - sinew.v1.SessionService over the session table and the bound data.
#pragma once

#include "server/calls/call.h"
#include "server/runtime.h"
#include "sinew/v1/session_service.grpc.pb.h"

namespace sinew::server {

using RawSessionService = v1::SessionService::WithRawCallbackMethod_CreateSession<
    v1::SessionService::WithRawCallbackMethod_WatchSession<
        v1::SessionService::WithRawCallbackMethod_GetSession<
            v1::SessionService::WithRawCallbackMethod_ListSessions<
                v1::SessionService::WithRawCallbackMethod_RenewSession<
                    v1::SessionService::WithRawCallbackMethod_DeleteSession<
                        v1::SessionService::Service>>>>>>;

class SessionService final : public RawSessionService {
 public:
  explicit SessionService(Runtime& runtime);

  grpc::ServerUnaryReactor* CreateSession(grpc::CallbackServerContext* context,
                                          const grpc::ByteBuffer* request,
                                          grpc::ByteBuffer* response) override;
  grpc::ServerWriteReactor<grpc::ByteBuffer>* WatchSession(
      grpc::CallbackServerContext* context, const grpc::ByteBuffer* request) override;
  grpc::ServerUnaryReactor* GetSession(grpc::CallbackServerContext* context,
                                       const grpc::ByteBuffer* request,
                                       grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* ListSessions(grpc::CallbackServerContext* context,
                                         const grpc::ByteBuffer* request,
                                         grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* RenewSession(grpc::CallbackServerContext* context,
                                         const grpc::ByteBuffer* request,
                                         grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* DeleteSession(grpc::CallbackServerContext* context,
                                          const grpc::ByteBuffer* request,
                                          grpc::ByteBuffer* response) override;

 private:
  absl::Status Create(const v1::CreateSessionRequest& request, v1::CreateSessionResponse& response,
                      const Call& call);
  absl::Status ValidateOnly(const v1::SessionSource& source, v1::Session& session,
                            const Call& call);

  Runtime& runtime_;
  const RpcMethod create_, watch_, get_, list_, renew_, delete_;
};

}  // namespace sinew::server
