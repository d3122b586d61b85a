// health_service.h - grpc.health.v1, with the limits of other calls. That of gRPC admits any number
// of Watch calls, for any time.
#pragma once

#include "server/calls/rpc_service.h"

namespace sinew::server {

// SERVING until the drain begins, for "" and each service of sinew.v1. Needs no authentication.
void AddHealthMethods(Runtime& runtime, RpcService& service);

}  // namespace sinew::server
