// input_file.h - a whole file as bytes, mapped rather than read: point caches are larger than
// memory likes.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sinew::bake {

// Bytes stay valid as long as the object lives; move only.
class InputFile {
 public:
  // kNotFound: no such file. kInvalidArgument: a folder or device, not readable, or more than
  // `max_bytes`. Messages begin with `option`, which named it.
  static absl::StatusOr<InputFile> Open(const std::string& path, std::uint64_t max_bytes,
                                        const std::string& option = "file");

  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;
  ~InputFile();

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }

 private:
  InputFile(const std::byte* data, std::size_t size) : data_(data), size_(size) {}

  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

// "sha256-<hex>" of a file of any size. Errors of Open.
absl::StatusOr<std::string> FileDigest(const std::string& path, const std::string& option);

}  // namespace sinew::bake
