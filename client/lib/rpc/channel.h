// channel.h - a client on a gRPC channel made elsewhere. Not installed: for `sinew --local` and
// tests.
#pragma once

#include <grpcpp/channel.h>

#include <memory>

#include "sinew/client.h"

namespace sinew::client {

// A client that speaks through `channel`; the address in `options` is not used.
//   in_process  the channel ends in this process: frames are copied out of the server's buffer pool
//   on arrival, because
//               there a frame kept by the caller would keep the server's buffer
//   kInvalidArgument: no channel, or an option out of range.
absl::StatusOr<Client> FromChannel(std::shared_ptr<grpc::Channel> channel,
                                   const ClientOptions& options, bool in_process);

}  // namespace sinew::client
