#include "client/cli/run/local.h"

#include <utility>

#include "client/lib/rpc/channel.h"
#include "core/base/status.h"
#include "server/base/config.h"
#include "server/process/server.h"

namespace sinew::cli {

absl::StatusOr<std::unique_ptr<LocalService>> LocalService::Start() {
  server::Config config;
  config.network.listen.clear();
  config.network.http = "off";
  config.log.level = "error";  // what a caller has to know comes as a status
  SINEW_ASSIGN_OR_RETURN(std::unique_ptr<server::Server> server, server::Server::Start(config));
  SINEW_ASSIGN_OR_RETURN(client::Client client,
                         client::FromChannel(server->InProcessChannel(), {}, /*in_process=*/true));
  return std::unique_ptr<LocalService>(new LocalService(std::move(server), std::move(client)));
}

LocalService::LocalService(std::unique_ptr<server::Server> server, client::Client client)
    : server_(std::move(server)), client_(std::move(client)) {}

LocalService::~LocalService() = default;

}  // namespace sinew::cli
