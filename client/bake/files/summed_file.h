// summed_file.h - an output file with the checksum of its bytes, for manifests that list files.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>

#include "client/bake/files/output_file.h"
#include "client/bake/formats/manifest.h"
#include "core/base/bulk_checksum.h"

namespace sinew::bake {

// Move only. Errors of OutputFile.
class SummedFile {
 public:
  // `name`: the file as the manifest calls it, relative to the folder of the manifest.
  static absl::StatusOr<SummedFile> Create(const std::string& path, std::string name,
                                           bool overwrite);

  absl::Status Write(std::string_view bytes);
  absl::Status Close() { return file_.Close(); }
  absl::Status Commit() { return file_.Commit(); }

  std::uint64_t bytes() const { return bytes_; }
  ManifestFile Described() const {
    return {.name = name_, .bytes = bytes_, .hash = hash_.Digest()};
  }

 private:
  SummedFile(std::string name, OutputFile file) : name_(std::move(name)), file_(std::move(file)) {}

  std::string name_;
  OutputFile file_;
  ContentHash hash_;
  std::uint64_t bytes_ = 0;
};

}  // namespace sinew::bake
