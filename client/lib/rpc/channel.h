// channel.h - a client on an existing gRPC channel, and the channel of a client. Not installed: for
// `sinew --local`, `sinew view` and tests.
#pragma once

#include <grpcpp/channel.h>

#include <memory>

#include "sinew/client.h"

namespace sinew::client {

// Ignores the address in `options`. kInvalidArgument: no channel, or an option out of range.
absl::StatusOr<Client> FromChannel(std::shared_ptr<grpc::Channel> channel,
                                   const ClientOptions& options);

// What a client and its copies share.
std::shared_ptr<Connection> ConnectionOf(const Client& client);

}  // namespace sinew::client
