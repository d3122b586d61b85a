#include "client/cli/run/local.h"

#include <utility>

#include "client/lib/rpc/channel.h"
#include "core/base/status.h"
#include "server/base/config.h"
#include "server/process/server.h"

namespace sinew::cli {

absl::StatusOr<LocalService> StartLocalService() {
  server::Config config;
  config.network.listen.clear();
  config.network.http = "off";
  config.log.level = "error";  // what a caller has to know comes as a status
  SINEW_ASSIGN_OR_RETURN(std::shared_ptr<server::Server> server, server::Server::Start(config));
  SINEW_ASSIGN_OR_RETURN(client::Client client,
                         client::FromChannel(server->InProcessChannel(), {}, /*in_process=*/true));
  return LocalService{.server = std::move(server), .client = std::move(client)};
}

}  // namespace sinew::cli
