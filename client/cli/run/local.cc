#include "client/cli/run/local.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include <filesystem>
#include <utility>

#include "client/bake/base/errors.h"
#include "client/cli/base/exit_code.h"
#include "client/lib/rpc/channel.h"
#include "core/base/status.h"
#include "server/base/config.h"
#include "server/process/server.h"

namespace sinew::cli {

namespace {

// What the server calls its store is the folder of --local-cache.
std::string InCache(absl::string_view message) {
  bool is_of_store = false;
  while (absl::ConsumePrefix(&message, "store: ")) is_of_store = true;
  return absl::StrCat(is_of_store ? "--local-cache: " : "", message);
}

// Passes on what the server logs. That the cache cannot be written makes no result wrong: one line.
class CacheWarnings {
 public:
  CacheWarnings(std::string folder, std::function<void(const std::string&)> warn)
      : folder_(std::move(folder)), warn_(std::move(warn)) {}

  void operator()(const std::string& message) {
    constexpr absl::string_view kNotWritten = " is not written: ", kFile = ".tmp: ";
    const bool later = absl::StrContains(message, " not written; ");  // when the server ends
    absl::string_view why = message;
    const std::size_t at = why.find(kNotWritten);
    if (!absl::StartsWith(message, "store: ") || (at == absl::string_view::npos && !later)) {
      return warn_(InCache(message));
    }
    if (std::exchange(warned_, true)) return;
    why.remove_prefix(later ? message.size() : at + kNotWritten.size());
    const std::size_t file = why.find(kFile);
    if (file != absl::string_view::npos) why.remove_prefix(file + kFile.size());
    absl::ConsumePrefix(&why, "cannot write: ");
    absl::ConsumeSuffix(&why, "; trying again");
    warn_(absl::StrCat("--local-cache: ", folder_, ": cannot write", why.empty() ? "" : ": ", why,
                       "; results are as without it, but what is not kept is computed again"));
  }

 private:
  const std::string folder_;
  const std::function<void(const std::string&)> warn_;
  bool warned_ = false;  // by the thread of the log
};

}  // namespace

absl::StatusOr<LocalService> StartLocalService(
    const std::string& cache, const std::function<void(const std::string&)>& warn) {
  server::Config config;
  config.network.listen.clear();
  config.network.http = "off";
  config.network.streams_per_connection = 65'535;  // all calls are on one connection
  config.access.client_share = 1;                  // and of one client
  config.log.level = "error";                      // what a caller has to know comes as a status
  if (warn) config.log.take = CacheWarnings(cache, warn);
  if (!cache.empty()) {
    if (absl::StrContains(cache, "://")) {
      return UsageError(
          absl::StrCat("--local-cache: got \"", cache, "\", need the path of a folder"));
    }
    config.shared.store_follows_umask = true;
    config.shared.store = "file://" + std::filesystem::absolute(cache).string();
  }
  absl::StatusOr<std::shared_ptr<server::Server>> started = server::Server::Start(config);
  if (!started.ok() && absl::StartsWith(started.status().message(), "store: ")) {
    return bake::OutputError(InCache(started.status().message()));
  }
  SINEW_ASSIGN_OR_RETURN(const std::shared_ptr<server::Server> server, std::move(started));
  SINEW_ASSIGN_OR_RETURN(auto channel, server->InProcessChannel());
  SINEW_ASSIGN_OR_RETURN(client::Client client, client::FromChannel(std::move(channel), {}));
  return LocalService{.server = server, .client = std::move(client)};
}

}  // namespace sinew::cli
