// local.h - the service inside this process, for --local: no port, no second engine.
#pragma once

#include <absl/status/statusor.h>

#include <memory>

#include "sinew/client.h"

namespace sinew::cli {

// A server with the defaults of sinewd and a client on it. The server stops with the last copy; no
// call may run then.
struct LocalService {
  std::shared_ptr<void> server;
  client::Client client;
};

// Errors of Server::Start.
absl::StatusOr<LocalService> StartLocalService();

}  // namespace sinew::cli
