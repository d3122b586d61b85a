#include "server/process/ready_file.h"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "server/base/files.h"

namespace sinew::server {

std::string ReadyText(const Server& server, int indent) {
  nlohmann::ordered_json ready;
  ready["addresses"] = server.addresses();
  ready["http"] = server.http_address();
  ready["web"] = server.web_address();
  ready["pid"] = ::getpid();
  return ready.dump(indent) + "\n";
}

absl::StatusOr<ReadyFile> ReadyFile::Prepare(const std::string& path) {
  if (path.empty()) return ReadyFile(path);
  int error = ::unlink(path.c_str()) == 0 || errno == ENOENT ? 0 : errno;
  if (error == 0) {
    const std::string probe = absl::StrCat(path, ".", ::getpid(), ".probe");
    const Descriptor file(::open(probe.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (!file.ok()) error = errno;
    RemoveQuietly(probe);
  }
  if (error == 0) return ReadyFile(path);
  return absl::InvalidArgumentError(
      absl::StrCat("ready-file: cannot write ", path, ": ", std::strerror(error)));
}

absl::Status ReadyFile::Write(const Server& server) {
  if (path_.empty()) return absl::OkStatus();
  text_ = ReadyText(server, 2);
  constexpr mode_t kReadableByAll = 0644;
  return WriteAtomically(path_, text_, kReadableByAll);
}

void ReadyFile::Remove() const {
  if (const auto text = ReadPiece(path_, 0, text_.size() + 1); text.ok() && *text == text_) {
    RemoveQuietly(path_);
  }
}

}  // namespace sinew::server
