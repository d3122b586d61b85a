// web_port.h - serves a page to browsers on this machine, and forwards its calls to a server.
//
//   GET  /...                      the page's files
//   GET  DOCUMENT                  what the program says about the character it shows
//   POST /sinew.v1.X/Method        gRPC-Web, with one request message
//   POST /frames?page=ID           the replies of the page's streams: never ends, see grpc_web.h
//   POST /poses?page=ID&call=N     a message of a stream, a serialised StreamDeformRequest
//   DELETE /poses?page=ID&call=N   ends a stream
//
// All but the page's files need the header "Authorization: Bearer TOKEN". A request for another
// host or from another origin is refused, so that no other page can use the port (DNS rebinding).
// Only programs of this machine reach it: the HTTP library bounds neither the number of headers nor
// their length.
#pragma once

#include <absl/status/statusor.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "server/web/forwarded_call.h"

namespace sinew::server {

class WebPort {
 public:
  struct Document {
    std::string type;  // such as "application/json"
    std::string bytes;
  };
  struct Options {
    int port = 0;             // of 127.0.0.1; 0 = a free one
    std::string page_folder;  // with index.html
    std::string token;
    Upstream upstream;
    // The document of a path such as "/view.json"; kNotFound: there is none. Called by several
    // threads at once.
    std::function<absl::StatusOr<Document>(const std::string& path)> document;
  };
  // kUnavailable: the port is taken. kNotFound: page_folder has no index.html.
  static absl::StatusOr<std::unique_ptr<WebPort>> Start(Options options);
  // Ends open responses, and waits for them.
  ~WebPort();

  int port() const;

 private:
  class State;
  explicit WebPort(std::unique_ptr<State> state);
  const std::unique_ptr<State> state_;
};

}  // namespace sinew::server
