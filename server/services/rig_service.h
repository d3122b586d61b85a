// rig_service.h - sinew.v1.RigService over the rig store.
#pragma once

#include "server/calls/rpc_service.h"
#include "server/runtime.h"

namespace sinew::server {

// Both outlive the server.
void AddRigMethods(Runtime& runtime, RpcService& service);

}  // namespace sinew::server
