// listen_address.h - socket files, and the reason why an address cannot be bound.
#pragma once

#include <absl/status/status.h>

#include <sys/types.h>
#include <string>
#include <utility>
#include <vector>

namespace sinew::server {

// kUnavailable: "cannot bind ADDRESS: why". Binds it once more to find the reason, which gRPC does
// not report.
absl::Status CannotBind(const std::string& option, const std::string& address);

// The socket files of a server. gRPC removes a file of that name before it binds and when it stops
// listening, even if another server created it; this class protects the sockets of other servers.
// Not thread-safe.
class SocketFiles {
 public:
  // Before binding: removes socket files without a listener. kUnavailable: there is a listener, or
  // this cannot be determined.
  static absl::Status MakeRoom(const std::vector<std::string>& addresses);
  // After binding: remembers the files at these addresses as this server's.
  void Own(const std::vector<std::string>& addresses);
  // Before and after gRPC stops listening: keep files that another server has since replaced.
  void SaveOthers();
  void RestoreOthers();

 private:
  struct File {
    std::string path;
    dev_t device;
    ino_t inode;
  };
  std::vector<File> own_;
  std::vector<std::pair<std::string, std::string>> saved_;  // path and a temporary second link
};

}  // namespace sinew::server
