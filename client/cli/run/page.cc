#include "client/cli/run/page.h"

#include <absl/strings/str_cat.h>
#include <dlfcn.h>

#include <filesystem>
#include <utility>

#include "client/cli/base/exit_code.h"
#include "client/lib/rpc/channel.h"
#include "client/lib/rpc/connection.h"
#include "core/base/status.h"
#include "server/shared/random_name.h"

namespace sinew::cli {
namespace {

// The folder of the page: share/sinew/web beside the folder of this program, where builds and
// installations have it, or web beside the module of the Python package.
std::filesystem::path PageFolder() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path installed =
      program.parent_path().parent_path() / "share" / "sinew" / "web";
  Dl_info module{};
  if (std::filesystem::exists(installed, error) ||
      ::dladdr(reinterpret_cast<void*>(&PageFolder), &module) == 0) {
    return installed;
  }
  const std::filesystem::path packaged =
      std::filesystem::path(module.dli_fname).parent_path() / "web";
  return std::filesystem::exists(packaged, error) ? packaged : installed;
}

}  // namespace

absl::StatusOr<Page> OpenPage(
    const client::Client& client, int port,
    std::function<absl::StatusOr<server::WebPort::Document>(const std::string&)> document) {
  const std::filesystem::path folder = PageFolder();
  std::error_code error;
  if (!std::filesystem::exists(folder / "index.html", error)) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the page is not installed: ", folder.string(),
        " has no index.html; `cmake --build build/release --target web_page` builds it "
        "(needs npm)"));
  }
  const std::shared_ptr<client::Connection> connection = client::ConnectionOf(client);
  const std::string token = server::RandomHex();
  server::WebPort::Options options;
  options.port = port;
  options.page_folder = folder.string();
  options.token = token;
  options.upstream.channel = connection->channel();
  options.upstream.context = [connection] {
    return connection->NewContext(absl::InfiniteFuture(), connection->Traceparent(), {});
  };
  options.document = std::move(document);
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
