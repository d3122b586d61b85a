// local.h - the service inside this process, for --local: no port, no second engine.
#pragma once

#include <absl/status/statusor.h>

#include <functional>
#include <memory>
#include <string>

#include "sinew/client.h"

namespace sinew::cli {

// A server with the defaults of sinewd and a client on it. The server stops with the last copy; no
// call may run then.
struct LocalService {
  std::shared_ptr<void> server;
  client::Client client;
};

// cache: a folder where rigs and bound data are kept for later services, also of other processes at
// the same time; empty = none. It has the permissions that the umask leaves.
// warn: takes what the service would log, such as damaged files in the cache, from a thread of its
// own; unset = stderr.
// UsageError: a URL as the folder. OutputError: it cannot be used; else errors of Server::Start.
absl::StatusOr<LocalService> StartLocalService(
    const std::string& cache = {}, const std::function<void(const std::string&)>& warn = {});

}  // namespace sinew::cli
