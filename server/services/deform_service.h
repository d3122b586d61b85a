// deform_service.h - sinew.v1.DeformService.
#pragma once

#include "server/calls/rpc_service.h"
#include "server/runtime.h"

namespace sinew::server {

// Both outlive the server.
void AddDeformMethods(Runtime& runtime, RpcService& service);

}  // namespace sinew::server
