#include "client/cli/run/page.h"

#include <absl/strings/str_cat.h>

#include <utility>

#include "client/cli/base/exit_code.h"
#include "client/lib/rpc/channel.h"
#include "client/lib/rpc/connection.h"
#include "core/base/status.h"
#include "server/shared/random_name.h"

namespace sinew::cli {

absl::StatusOr<Page> OpenPage(
    const client::Client& client, int port,
    std::function<absl::StatusOr<server::WebPort::Document>(const std::string&)> document,
    std::function<absl::Status(const std::string&, const std::string&)> take) {
  SINEW_ASSIGN_OR_RETURN(const std::string folder, server::WebPort::PageFolder());
  const std::shared_ptr<client::Connection> connection = client::ConnectionOf(client);
  const std::string token = server::RandomHex();
  server::WebPort::Options options;
  options.port = port;
  options.page_folder = folder;
  options.token = token;
  options.upstream.channel = connection->channel();
  options.upstream.context = [connection](const server::WebCaller&) {
    return connection->NewContext(absl::InfiniteFuture(), connection->Traceparent(), {});
  };
  options.document = std::move(document);
  options.take = std::move(take);
  absl::StatusOr<std::unique_ptr<server::WebPort>> started =
      server::WebPort::Start(std::move(options));
  if (absl::IsUnavailable(started.status())) {
    return UsageError(
        absl::StrCat("--port: got ", port, ", which is taken; need another, or leave it out"));
  }
  SINEW_ASSIGN_OR_RETURN(std::unique_ptr<server::WebPort> opened, std::move(started));
  const std::string link = absl::StrCat("http://127.0.0.1:", opened->port(), "/#token=", token);
  return Page{.port = std::move(opened), .link = link};
}

}  // namespace sinew::cli
