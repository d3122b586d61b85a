// probe.h - health checks: of another server for containers and scripts, and of this one.
#pragma once

#include <absl/status/status.h>
#include <grpcpp/channel.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace sinew::server {

// Calls grpc.health.v1.Health/Check and then done(status), on a thread of gRPC. kUnavailable: the
// answer is not SERVING, or there is none within `timeout`.
void CheckHealth(const std::shared_ptr<grpc::Channel>& channel, std::chrono::milliseconds timeout,
                 std::function<void(const absl::Status&)> done);

// The health of the server at `address`, without TLS. Waits up to 5 s.
absl::Status ProbeHealth(const std::string& address);

}  // namespace sinew::server
