// admin_guard.h - admits only callers with the scope `admin` to gRPC's own services that reveal
// what the server does: reflection and channelz.
#pragma once

#include <grpcpp/support/server_interceptor.h>

#include <memory>

#include "server/access/access.h"

namespace sinew::server {

// For ServerBuilder. Calls of other services are not intercepted. `access` must outlive the server.
std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> MakeAdminGuard(
    const Access& access);

}  // namespace sinew::server
