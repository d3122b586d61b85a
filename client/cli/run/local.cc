#include "client/cli/run/local.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include <filesystem>
#include <utility>

#include "client/lib/rpc/channel.h"
#include "core/base/status.h"
#include "server/base/config.h"
#include "server/process/server.h"

namespace sinew::cli {

absl::StatusOr<LocalService> StartLocalService(const std::string& cache) {
  server::Config config;
  config.network.listen.clear();
  config.network.http = "off";
  config.network.streams_per_connection = 65'535;  // all calls are on one connection
  config.log.level = "error";                      // what a caller has to know comes as a status
  if (!cache.empty()) {
    if (absl::StrContains(cache, "://")) {
      return absl::InvalidArgumentError(
          absl::StrCat("--local-cache: got \"", cache, "\", need the path of a folder"));
    }
    config.shared.store = "file://" + std::filesystem::absolute(cache).string();
  }
  absl::StatusOr<std::shared_ptr<server::Server>> started = server::Server::Start(config);
  if (!started.ok() && absl::StartsWith(started.status().message(), "store: ")) {
    return absl::InvalidArgumentError(
        absl::StrCat("--local-cache: ", absl::StripPrefix(started.status().message(), "store: ")));
  }
  SINEW_ASSIGN_OR_RETURN(const std::shared_ptr<server::Server> server, std::move(started));
  SINEW_ASSIGN_OR_RETURN(auto channel, server->InProcessChannel());
  SINEW_ASSIGN_OR_RETURN(client::Client client, client::FromChannel(std::move(channel), {}));
  return LocalService{.server = server, .client = std::move(client)};
}

}  // namespace sinew::cli
