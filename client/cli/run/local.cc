#include "client/cli/run/local.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include <filesystem>
#include <utility>

#include "client/lib/rpc/channel.h"
#include "core/base/status.h"
#include "server/base/config.h"
#include "server/process/server.h"
#include "server/shared/object_store.h"

namespace sinew::cli {

absl::StatusOr<LocalService> StartLocalService(const std::string& cache) {
  server::Config config;
  config.network.listen.clear();
  config.network.http = "off";
  config.network.streams_per_connection = 65'535;  // all calls are on one connection
  config.log.level = "error";                      // what a caller has to know comes as a status
  if (!cache.empty()) {
    config.shared.store = "file://" + std::filesystem::absolute(cache).string();
    if (const absl::Status status = server::ObjectStore::Check(config.shared); !status.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--local-cache: ", absl::StripPrefix(status.message(), "store: ")));
    }
  }
  SINEW_ASSIGN_OR_RETURN(std::shared_ptr<server::Server> server, server::Server::Start(config));
  SINEW_ASSIGN_OR_RETURN(auto channel, server->InProcessChannel());
  SINEW_ASSIGN_OR_RETURN(client::Client client, client::FromChannel(std::move(channel), {}));
  return LocalService{.server = std::move(server), .client = std::move(client)};
}

}  // namespace sinew::cli
