// ready_file.h - a file with the addresses of a server, which exists while it listens.
#pragma once

#include <absl/status/statusor.h>

#include <string>

#include "server/process/server.h"

namespace sinew::server {

// What a server says once it listens, as JSON: addresses, http, web, pid. indent: -1 = one line.
std::string ReadyText(const Server& server, int indent);

class ReadyFile {
 public:
  // Before listening: removes a file that an earlier server left and checks that one can be
  // written. An empty path means no file. kInvalidArgument: it cannot be written.
  static absl::StatusOr<ReadyFile> Prepare(const std::string& path);
  // Writes ReadyText. Errors as WriteAtomically.
  absl::Status Write(const Server& server);
  // Removes the file if this process was the last to write it.
  void Remove() const;

 private:
  explicit ReadyFile(std::string path) : path_(std::move(path)) {}
  std::string path_, text_;
};

}  // namespace sinew::server
