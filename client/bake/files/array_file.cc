#include "client/bake/files/array_file.h"

#include <absl/strings/str_cat.h>

#include <utility>

#include "client/bake/files/output_file.h"
#include "core/base/status.h"

namespace sinew::bake {
namespace {

class ArrayFile : public CacheFile {
 public:
  // `attribute`: empty for the points.
  absl::Status Add(const std::string& path, CacheFormat format, const std::string& attribute,
                   const CacheInfo& info, bool overwrite) {
    SINEW_ASSIGN_OR_RETURN(const std::string header, EncodeCacheHeader(format, info));
    SINEW_ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(path, overwrite));
    SINEW_RETURN_IF_ERROR(file.Write(header));
    written_ += header.size();
    arrays_.push_back({format, attribute, std::move(file)});
    return absl::OkStatus();
  }

  absl::Status Append(const FrameArrays& frame) override {
    for (Array& array : arrays_) {
      const std::span<const float> values =
          array.attribute.empty() ? frame.points : frame.Attribute(array.attribute);
      bytes_.clear();
      AppendCacheFrame(array.format, values, bytes_);
      SINEW_RETURN_IF_ERROR(array.file.Write(bytes_));
      written_ += bytes_.size();
    }
    return absl::OkStatus();
  }

  absl::Status Close() override {
    for (Array& array : arrays_) SINEW_RETURN_IF_ERROR(array.file.Close());
    return absl::OkStatus();
  }

  absl::Status Commit() override {
    for (Array& array : arrays_) SINEW_RETURN_IF_ERROR(array.file.Commit());
    return absl::OkStatus();
  }

  std::uint64_t bytes() const override { return written_; }

 private:
  struct Array {
    CacheFormat format;
    std::string attribute;
    OutputFile file;
  };
  std::vector<Array> arrays_;
  std::string bytes_;  // of one frame; kept to spare allocations
  std::uint64_t written_ = 0;
};

}  // namespace

std::string AttributePath(const std::string& cache, const std::string& attribute) {
  return absl::StrCat(cache, ".", attribute, ".npy");
}

absl::StatusOr<std::unique_ptr<CacheFile>> CreateArrayFile(const CacheFiles& files,
                                                           const CacheInfo& info) {
  auto file = std::make_unique<ArrayFile>();
  SINEW_RETURN_IF_ERROR(file->Add(files.path, files.format, "", info, files.overwrite));
  for (const std::string& name : files.attributes) {
    SINEW_RETURN_IF_ERROR(
        file->Add(AttributePath(files.path, name), CacheFormat::kNpy, name, info, files.overwrite));
  }
  return file;
}

}  // namespace sinew::bake
