#include "client/cli/files/cache_output.h"

#include <absl/strings/str_cat.h>

#include <filesystem>
#include <utility>

#include "client/cli/files/input_file.h"
#include "core/base/status.h"

namespace sinew::cli {

std::string ManifestPath(const std::string& cache) {
  return cache + ".json";
}

std::string RestPath(const std::string& cache) {
  return std::filesystem::path(cache).replace_extension(".rest.obj").string();
}

CacheOutput::CacheOutput(CacheFormat format, CacheInfo info, OutputFile cache, OutputFile manifest,
                         std::optional<OutputFile> rest)
    : format_(format),
      info_(std::move(info)),
      cache_(std::move(cache)),
      manifest_(std::move(manifest)),
      rest_(std::move(rest)) {}

absl::StatusOr<CacheOutput> CacheOutput::Create(const std::string& path, CacheFormat format,
                                                const CacheInfo& info, bool has_rest,
                                                bool overwrite) {
  SINEW_ASSIGN_OR_RETURN(const std::string header, EncodeCacheHeader(format, info));
  SINEW_ASSIGN_OR_RETURN(OutputFile cache, OutputFile::Create(path, overwrite));
  SINEW_ASSIGN_OR_RETURN(OutputFile manifest, OutputFile::Create(ManifestPath(path), overwrite));
  std::optional<OutputFile> rest;
  if (has_rest) {
    SINEW_ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(RestPath(path), overwrite));
    rest.emplace(std::move(file));
  }
  CacheOutput output(format, info, std::move(cache), std::move(manifest), std::move(rest));
  SINEW_RETURN_IF_ERROR(output.cache_.Write(header));
  output.written_ = header.size();
  return output;
}

absl::Status CacheOutput::Append(std::span<const float> points) {
  bytes_.clear();
  AppendCacheFrame(format_, points, bytes_);
  SINEW_RETURN_IF_ERROR(cache_.Write(bytes_));
  written_ += bytes_.size();
  hashes_.push_back(HashPositions(points));
  return absl::OkStatus();
}

absl::StatusOr<Manifest> CacheOutput::Close(Manifest manifest, std::string_view rest_obj) {
  if (hashes_.size() != info_.frames) {
    return absl::InternalError(
        absl::StrCat("frames: wrote ", hashes_.size(), ", promised ", info_.frames));
  }
  manifest.format = CacheFormatName(format_);
  manifest.vertices = info_.vertices;
  manifest.frames = info_.frames;
  manifest.fps = info_.fps;
  manifest.first_frame = info_.first_frame;
  manifest.frame_step = info_.frame_step;
  manifest.frame_numbers = info_.frame_numbers;
  manifest.frame_hashes = hashes_;
  SINEW_ASSIGN_OR_RETURN(json_, EncodeManifest(manifest));
  SINEW_RETURN_IF_ERROR(manifest_.Write(json_));
  SINEW_RETURN_IF_ERROR(cache_.Close());
  SINEW_RETURN_IF_ERROR(manifest_.Close());
  if (rest_) {
    SINEW_RETURN_IF_ERROR(rest_->Write(rest_obj));
    SINEW_RETURN_IF_ERROR(rest_->Close());
  }
  return manifest;
}

absl::Status CacheOutput::CommitData() {
  // Never beside data that it does not describe. Another process may have written the same cache:
  // then it stays, as others may look for it at any time.
  const absl::StatusOr<InputFile> older = InputFile::Open(manifest_.path(), json_.size());
  if (!older.ok() || older->text() != json_) {
    std::error_code error;
    std::filesystem::remove(manifest_.path(), error);
  }
  SINEW_RETURN_IF_ERROR(cache_.Commit());
  return rest_ ? rest_->Commit() : absl::OkStatus();
}

absl::Status CacheOutput::CommitManifest() {
  return manifest_.Commit();
}

}  // namespace sinew::cli
