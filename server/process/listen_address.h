// listen_address.h - what surrounds the binding of addresses: sockets that are files, and why one
// cannot be bound.
#pragma once

#include <absl/status/status.h>

#include <sys/types.h>
#include <string>
#include <utility>
#include <vector>

namespace sinew::server {

// "cannot bind ADDRESS: why". Tries to bind it once more, for gRPC does not say. kUnavailable.
absl::Status CannotBind(const std::string& option, const std::string& address);

// The socket files of a server. gRPC removes a file of that name before it binds and when it stops
// listening, whoever made it; this keeps other servers' sockets from that. Not thread-safe.
class SocketFiles {
 public:
  // Before binding: removes socket files that nobody listens on. kUnavailable: somebody does, or
  // that cannot be told.
  static absl::Status MakeRoom(const std::vector<std::string>& addresses);
  // After binding: remembers the files at these addresses as this server's.
  void Own(const std::vector<std::string>& addresses);
  // Around the end of listening: files that have since been replaced by another server stay.
  void SaveOthers();
  void RestoreOthers();

 private:
  struct File {
    std::string path;
    dev_t device;
    ino_t inode;
  };
  std::vector<File> own_;
  std::vector<std::pair<std::string, std::string>> saved_;  // path, its second name
};

}  // namespace sinew::server
