#include "server/process/ready_file.h"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "server/base/files.h"

namespace sinew::server {
namespace {

constexpr std::size_t kReadBytes = 64 << 10;

// The process id in the file, 0 if it has none; nullopt if there is no regular file.
std::optional<std::int64_t> PidIn(const std::string& path) {
  std::error_code ignored;
  if (path.empty() || !std::filesystem::is_regular_file(path, ignored)) return std::nullopt;
  const auto text = ReadPiece(path, 0, kReadBytes);
  if (!text.ok()) return 0;
  const auto ready = nlohmann::json::parse(*text, nullptr, false);
  const auto pid = ready.is_object() ? ready.find("pid") : ready.end();
  return pid != ready.end() && pid->is_number_integer() ? pid->get<std::int64_t>() : 0;
}

std::string ProgramOf(std::int64_t pid) {
  std::string name;
  std::ifstream file(absl::StrCat("/proc/", pid, "/comm"));
  std::getline(file, name);
  return name;
}

}  // namespace

void RemoveStaleReadyFile(const std::string& path) {
  const auto pid = PidIn(path);
  if (!pid) return;
  // The process id may have been reused by another program.
  const bool live = *pid > 0 && *pid != ::getpid() && ProgramOf(*pid) == ProgramOf(::getpid());
  if (!live) RemoveQuietly(path);
}

absl::Status CheckReadyFile(const std::string& path) {
  if (path.empty()) return absl::OkStatus();
  const std::string probe = absl::StrCat(path, ".", ::getpid(), ".probe");
  std::error_code ignored;
  int error = EISDIR;
  if (!std::filesystem::is_directory(path, ignored)) {
    const int file = ::open(probe.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    error = file >= 0 ? 0 : errno;
    if (file >= 0) ::close(file);
    RemoveQuietly(probe);
  }
  if (error == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("ready-file: cannot write ", path, ": ", std::strerror(error)));
}

absl::Status WriteReadyFile(const std::string& path, const std::vector<std::string>& addresses,
                            const std::string& http_address) {
  if (path.empty()) return absl::OkStatus();
  nlohmann::ordered_json ready;
  ready["addresses"] = addresses;
  ready["http"] = http_address;
  ready["pid"] = ::getpid();
  return WriteAtomically(path, ready.dump(2) + "\n");
}

void RemoveOwnReadyFile(const std::string& path) {
  if (PidIn(path) == ::getpid()) RemoveQuietly(path);
}

}  // namespace sinew::server
