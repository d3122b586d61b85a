// page.h - the page that `sinew view` shows in a browser.
#pragma once

#include <absl/status/statusor.h>

#include <functional>
#include <memory>
#include <string>

#include "server/web/web_port.h"
#include "sinew/client.h"

namespace sinew::cli {

struct Page {
  std::unique_ptr<server::WebPort> port;
  std::string link;  // with the token that the page sends
};

// Serves the page on 127.0.0.1, until the result is destroyed; its calls go the way of the
// client's. port: 0 = a free one. document, take: see WebPort::Options.
//   kFailedPrecondition: the page is not installed. UsageError: the port is taken.
absl::StatusOr<Page> OpenPage(
    const client::Client& client, int port,
    std::function<absl::StatusOr<server::WebPort::Document>(const std::string&)> document,
    std::function<absl::Status(const std::string&, const std::string&)> take);

}  // namespace sinew::cli
