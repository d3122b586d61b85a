// files.h - the few things the server does with files: whole reads, atomic writes, appends. Errors
// name the path.
#pragma once

#include <absl/status/statusor.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sinew::server {

// Makes the folder and its parents. kFailedPrecondition: it cannot be made or written to.
absl::Status MakeFolder(const std::filesystem::path& folder);

// kNotFound: no such file; kInternal: cannot be read.
absl::StatusOr<std::string> ReadWholeFile(const std::filesystem::path& path);
// Bytes [offset, offset + count), fewer at the end.
absl::StatusOr<std::string> ReadPiece(const std::filesystem::path& path, std::uint64_t offset,
                                      std::size_t count);

// Writes to a temporary name beside it, flushes to the disk and renames: the file is whole or
// absent. kResourceExhausted: the disk is full; kInternal: another failure. Nothing is left behind
// then.
absl::Status WriteAtomically(const std::filesystem::path& path, std::string_view bytes);

// Appends, then leaves the file at `size` + bytes; whatever stood behind `size` is cut off first.
absl::Status AppendAt(const std::filesystem::path& path, std::uint64_t size,
                      std::string_view bytes);

// Flushes a finished file to the disk and moves it; the new name is durable on
// return. After an error there is no file of the new name, unless an older one stood there.
absl::Status MoveDurably(const std::filesystem::path& from, const std::filesystem::path& to);

void RemoveQuietly(const std::filesystem::path& path);

struct FileFacts {
  std::string name;
  std::uint64_t bytes;
  std::chrono::system_clock::time_point modified;
};
// Regular files of a folder, by name.
std::vector<FileFacts> ListFiles(const std::filesystem::path& folder);

}  // namespace sinew::server
