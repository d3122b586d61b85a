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

std::string AttributePath(const std::string& cache, const std::string& attribute) {
  return std::filesystem::path(cache)
      .replace_extension(absl::StrCat(".", attribute, ".npy"))
      .string();
}

CacheOutput::CacheOutput(CacheFormat format, CacheInfo info, OutputFile cache, OutputFile manifest)
    : format_(format),
      info_(std::move(info)),
      cache_(std::move(cache)),
      manifest_(std::move(manifest)) {}

absl::StatusOr<CacheOutput> CacheOutput::Create(const CacheFiles& files, const CacheInfo& info) {
  SINEW_ASSIGN_OR_RETURN(const std::string header, EncodeCacheHeader(files.format, info));
  SINEW_ASSIGN_OR_RETURN(OutputFile cache, OutputFile::Create(files.path, files.overwrite));
  SINEW_ASSIGN_OR_RETURN(OutputFile manifest,
                         OutputFile::Create(ManifestPath(files.path), files.overwrite));
  CacheOutput output(files.format, info, std::move(cache), std::move(manifest));
  if (files.has_rest) {
    SINEW_ASSIGN_OR_RETURN(OutputFile rest,
                           OutputFile::Create(RestPath(files.path), files.overwrite));
    output.rest_.emplace(std::move(rest));
  }
  for (const std::string& name : files.attributes) {
    SINEW_ASSIGN_OR_RETURN(OutputFile file,
                           OutputFile::Create(AttributePath(files.path, name), files.overwrite));
    SINEW_ASSIGN_OR_RETURN(const std::string npy, EncodeCacheHeader(CacheFormat::kNpy, info));
    SINEW_RETURN_IF_ERROR(file.Write(npy));
    output.attributes_.push_back({{.name = name, .frame_hashes = {}}, std::move(file)});
    output.written_ += npy.size();
  }
  SINEW_RETURN_IF_ERROR(output.cache_.Write(header));
  output.written_ += header.size();
  return output;
}

absl::Status CacheOutput::Append(const FrameArrays& frame) {
  bytes_.clear();
  AppendCacheFrame(format_, frame.points, bytes_);
  SINEW_RETURN_IF_ERROR(cache_.Write(bytes_));
  written_ += bytes_.size();
  hashes_.push_back(HashPositions(frame.points));
  for (Attribute& attribute : attributes_) {
    const std::span<const float> values = frame.Attribute(attribute.described.name);
    if (values.size() != frame.points.size()) {
      return absl::InternalError(absl::StrCat(attribute.described.name, ": got ", values.size(),
                                              " values, need ", frame.points.size()));
    }
    bytes_.clear();
    AppendCacheFrame(CacheFormat::kNpy, values, bytes_);
    SINEW_RETURN_IF_ERROR(attribute.file.Write(bytes_));
    written_ += bytes_.size();
    attribute.described.frame_hashes.push_back(HashPositions(values));
  }
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
  manifest.attributes.clear();
  for (const Attribute& attribute : attributes_) manifest.attributes.push_back(attribute.described);
  SINEW_ASSIGN_OR_RETURN(json_, EncodeManifest(manifest));
  SINEW_RETURN_IF_ERROR(manifest_.Write(json_));
  SINEW_RETURN_IF_ERROR(cache_.Close());
  for (Attribute& attribute : attributes_) SINEW_RETURN_IF_ERROR(attribute.file.Close());
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
  for (Attribute& attribute : attributes_) SINEW_RETURN_IF_ERROR(attribute.file.Commit());
  return rest_ ? rest_->Commit() : absl::OkStatus();
}

absl::Status CacheOutput::CommitManifest() {
  return manifest_.Commit();
}

}  // namespace sinew::cli
