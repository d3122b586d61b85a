// info_service.h - sinew.v1.InfoService: version, limits, figures, methods and presets.
#pragma once

#include "server/calls/rpc_service.h"
#include "server/runtime.h"

namespace sinew::server {

// Both outlive the server.
void AddInfoMethods(Runtime& runtime, RpcService& service);

}  // namespace sinew::server
