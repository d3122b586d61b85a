// log.h - the server's log: one line per event on stderr, as text or JSON.
#pragma once

#include <spdlog/logger.h>

#include <memory>

#include "server/base/config.h"

namespace sinew::server {

using Log = std::shared_ptr<spdlog::logger>;

// JSON lines hold time (RFC 3339, UTC), level and message. Thread-safe.
Log MakeLog(const LogConfig& config);

}  // namespace sinew::server
