// channel.h - a client on an existing gRPC channel. Not installed: for `sinew --local` and tests.
#pragma once

#include <grpcpp/channel.h>

#include <memory>

#include "sinew/client.h"

namespace sinew::client {

// Ignores the address in `options`. kInvalidArgument: no channel, or an option out of range.
absl::StatusOr<Client> FromChannel(std::shared_ptr<grpc::Channel> channel,
                                   const ClientOptions& options);

}  // namespace sinew::client
