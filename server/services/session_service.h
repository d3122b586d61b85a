// session_service.h - sinew.v1.SessionService over the session table and the bound data.
#pragma once

#include "server/calls/rpc_service.h"
#include "server/runtime.h"

namespace sinew::server {

// Both outlive the server.
void AddSessionMethods(Runtime& runtime, RpcService& service);

}  // namespace sinew::server
