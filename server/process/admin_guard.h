// admin_guard.h - admits only callers with the scope `admin` to gRPC's own services that reveal
// what the server does: reflection and channelz. Refusals are logged as those of other calls.
#pragma once

#include <grpcpp/support/server_interceptor.h>

#include <memory>

#include "server/runtime.h"

namespace sinew::server {

// For ServerBuilder. Calls of other services are not intercepted. `runtime` must outlive the
// server.
std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> MakeAdminGuard(
    Runtime& runtime);

}  // namespace sinew::server
