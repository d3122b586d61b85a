#include "client/bake/files/spool.h"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "client/bake/base/errors.h"
#include "core/base/status.h"

namespace sinew::bake {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

absl::Status SpoolError(const std::string& path, const char* what) {
  return OutputError(absl::StrCat("out: cannot ", what, " a temporary file for ", path, ": ",
                                  std::strerror(errno)));
}

}  // namespace

absl::StatusOr<Spool> Spool::Create(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::string name =
      ((folder.empty() ? std::filesystem::path(".") : folder) / ".spool-XXXXXX").string();
  const int file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file < 0) return SpoolError(path, "create");
  ::unlink(name.c_str());
  return Spool(path, file);
}

Spool::Spool(Spool&& other) noexcept
    : path_(std::move(other.path_)),
      buffer_(std::move(other.buffer_)),
      file_(std::exchange(other.file_, -1)),
      written_(other.written_) {}

Spool::~Spool() {
  if (file_ >= 0) ::close(file_);
}

absl::Status Spool::Write(std::string_view bytes) {
  written_ += bytes.size();
  buffer_.append(bytes);
  return buffer_.size() < kPieceBytes ? absl::OkStatus() : Flush();
}

absl::Status Spool::Flush() {
  std::string_view left = buffer_;
  while (!left.empty()) {
    const ssize_t count = ::write(file_, left.data(), left.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return SpoolError(path_, "write");
    left.remove_prefix(static_cast<std::size_t>(count));
  }
  buffer_.clear();
  return absl::OkStatus();
}

absl::Status Spool::Read(const std::function<absl::Status(std::string_view)>& sink) {
  SINEW_RETURN_IF_ERROR(Flush());
  std::vector<char> piece(kPieceBytes);
  for (std::uint64_t at = 0; at < written_;) {
    const ssize_t count = ::pread(file_, piece.data(), piece.size(), static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return SpoolError(path_, "read");
    SINEW_RETURN_IF_ERROR(sink({piece.data(), static_cast<std::size_t>(count)}));
    at += static_cast<std::uint64_t>(count);
  }
  return absl::OkStatus();
}

}  // namespace sinew::bake
