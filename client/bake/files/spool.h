// spool.h - bytes that wait on the disk until the file they belong to can be written.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace sinew::bake {

// A file without a name in the folder of the output, where there is room for it: it disappears with
// the process, however that ends. Move only. Errors are OutputError.
class Spool {
 public:
  // `path`: the file that the bytes are for.
  static absl::StatusOr<Spool> Create(const std::string& path);

  Spool(Spool&& other) noexcept;
  Spool& operator=(Spool&& other) = delete;
  ~Spool();

  absl::Status Write(std::string_view bytes);
  std::uint64_t bytes() const { return written_; }

  // Hands all bytes to `sink`, in order and in pieces.
  absl::Status Read(const std::function<absl::Status(std::string_view)>& sink);

 private:
  Spool(std::string path, int file) : path_(std::move(path)), file_(file) {}
  absl::Status Flush();

  std::string path_, buffer_;
  int file_ = -1;
  std::uint64_t written_ = 0;
};

}  // namespace sinew::bake
