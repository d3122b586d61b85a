// web_port.h - serves a page to browsers, and forwards its calls to a server.
//
//   GET  /...                      the page's files
//   GET  DOCUMENT                  what the program says about the character it shows
//   POST /character?name=NAME      a file for the program to show instead
//   POST /motion?name=NAME         a file of poses for the character that is shown
//   POST /sinew.v1.X/Method        gRPC-Web: one request message; UploadRig takes several
//   POST /frames?page=ID           the replies of the page's streams: never ends, see grpc_web.h
//   POST /poses?page=ID&call=N     a message of a stream, a serialised StreamDeformRequest
//   DELETE /poses?page=ID&call=N   ends a stream
//
// All but the page's files need the header "Authorization: Bearer TOKEN": the port's own token if
// it has one, else one of the server that calls go to, which judges it with each call. A request
// for another host or from another origin is refused, so that no other page can use the port (DNS
// rebinding).
#pragma once

#include <absl/status/statusor.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/web/forwarded_call.h"
#include "server/web/tls_context.h"

namespace sinew::server {

class WebPort {
 public:
  struct Document {
    std::string type;  // such as "application/json"
    std::string bytes;
  };
  struct Options {
    std::string host = "127.0.0.1";           // to listen on
    int port = 0;                             // 0 = a free one
    std::shared_ptr<TlsContext> tls = {};     // null: without TLS
    std::string page_folder = {};             // with index.html
    std::vector<std::string> hosts = {};      // other names of the port, which have TLS
    std::optional<std::string> token = {};    // of the port; unset: the callers' tokens are sent on
    std::size_t connections = 64;             // at a time; half of them may be pages
    std::chrono::milliseconds last_words{0};  // for replies that are being written at the end
    Upstream upstream;
    // The document of a path such as "/view.json"; kNotFound: there is none. Called by several
    // threads at once. Null: there are none, and "/view.json" is null.
    std::function<absl::StatusOr<Document>(const std::string& path)> document = nullptr;
    // Takes a file that the page sends to "/character" or "/motion"; its folder is removed
    // afterwards, and left out of error messages. One file at a time. Null: none is taken.
    std::function<absl::Status(const std::string& path, const std::string& file)> take = nullptr;
  };
  // The folder of the page: share/sinew/web beside the folder of this program, where builds and
  // installations have it, or web beside the module of the Python package. kFailedPrecondition:
  // there is none; says how to get it.
  static absl::StatusOr<std::string> PageFolder();

  // kUnavailable: the port is taken. kNotFound: page_folder has no index.html.
  static absl::StatusOr<std::unique_ptr<WebPort>> Start(Options options);
  // Ends open responses and connections.
  ~WebPort();

  int port() const;

 private:
  class State;
  explicit WebPort(std::unique_ptr<State> state);
  const std::unique_ptr<State> state_;
};

}  // namespace sinew::server
