// local.h - the service inside this process, for --local: no port, no second engine.
#pragma once

#include <absl/status/statusor.h>

#include <memory>

#include "sinew/client.h"

namespace sinew::server {
class Server;
}

namespace sinew::cli {

// A server with the defaults of sinewd and a client on it. Stops with the object; no call may run
// then.
class LocalService {
 public:
  // Errors of Server::Start.
  static absl::StatusOr<std::unique_ptr<LocalService>> Start();
  ~LocalService();

  const client::Client& client() const { return client_; }

 private:
  LocalService(std::unique_ptr<server::Server> server, client::Client client);

  std::unique_ptr<server::Server> server_;
  client::Client client_;
};

}  // namespace sinew::cli
