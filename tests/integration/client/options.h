// options.h - client options for a server that a test ends and starts again.
#pragma once

#include <string>

#include "sinew/client.h"

namespace sinew::client {

// Reaches `address`, with short waits between attempts.
inline ClientOptions QuickOptions(const std::string& address) {
  ClientOptions options;
  options.address = address;
  options.retry.initial_backoff = absl::Milliseconds(20);
  options.retry.max_backoff = absl::Milliseconds(200);
  return options;
}

}  // namespace sinew::client
