// own_port.h - whether this server's own port answers.
#pragma once

#include <absl/status/status.h>

#include <chrono>
#include <string>

namespace sinew::server {

// Calls grpc.health.v1.Health/Check at a listening address ("0.0.0.0:50051", "unix:/path") over a
// new connection. With TLS it is the handshake instead, which needs no certificate of a client.
// kUnavailable: the answer is not SERVING, or there is none within `timeout`.
//
// The frames are written by hand: a channel of gRPC 1.51 that is destroyed in its own callback can
// abort the process, and one that is kept would not notice that the port accepts nothing.
absl::Status CheckOwnPort(const std::string& address, bool tls, std::chrono::milliseconds timeout);

}  // namespace sinew::server
