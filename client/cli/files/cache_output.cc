#include "client/cli/files/cache_output.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "client/cli/files/glb_file.h"
#include "client/cli/files/input_file.h"
#include "client/cli/files/obj_sequence.h"
#include "client/cli/files/usd_file.h"
#include "core/base/status.h"

namespace sinew::cli {
namespace {

constexpr std::uint64_t kMaxOlderManifestBytes = std::uint64_t{1} << 30;

absl::StatusOr<std::unique_ptr<CacheFile>> CreateData(const CacheFiles& files,
                                                      const CacheInfo& info) {
  if (files.format == CacheFormat::kUsda) return CreateUsdFile(files, info);
  if (files.format == CacheFormat::kObj) return CreateObjSequence(files, info);
  if (files.format == CacheFormat::kGlb) return CreateGlbFile(files, info);
  return CreateArrayFile(files, info);
}

// Removes files that an older manifest lists and that are no longer in the cache.
void RemoveOlderFiles(const std::string& manifest, const std::vector<ManifestFile>& older,
                      const std::vector<ManifestFile>& files) {
  std::set<std::string> names;
  for (const ManifestFile& file : files) names.insert(file.name);
  std::error_code error;
  for (const ManifestFile& file : older) {
    if (names.contains(file.name)) continue;
    std::filesystem::remove(std::filesystem::path(manifest).parent_path() / file.name, error);
  }
}

}  // namespace

std::string ManifestPath(const std::string& cache) {
  return cache + ".json";
}

std::string RestPath(const std::string& cache) {
  return std::filesystem::path(cache).replace_extension(".rest.obj").string();
}

CacheOutput::CacheOutput(CacheFiles files, CacheInfo info, std::unique_ptr<CacheFile> data,
                         OutputFile manifest)
    : files_(std::move(files)),
      info_(std::move(info)),
      data_(std::move(data)),
      manifest_(std::move(manifest)) {
  for (const std::string& name : files_.attributes) attributes_.push_back({name, {}});
}

absl::StatusOr<CacheOutput> CacheOutput::Create(const CacheFiles& files, const CacheInfo& info) {
  SINEW_ASSIGN_OR_RETURN(std::unique_ptr<CacheFile> data, CreateData(files, info));
  SINEW_ASSIGN_OR_RETURN(OutputFile manifest,
                         OutputFile::Create(ManifestPath(files.path), files.overwrite));
  CacheOutput output(files, info, std::move(data), std::move(manifest));
  if (files.has_rest) {
    SINEW_ASSIGN_OR_RETURN(OutputFile rest,
                           OutputFile::Create(RestPath(files.path), files.overwrite));
    output.rest_.emplace(std::move(rest));
  }
  return output;
}

absl::Status CacheOutput::Check(const CacheFiles& files, const CacheInfo& info) {
  switch (files.format) {
    case CacheFormat::kObj:
      return CheckObjSequence(files, info);
    case CacheFormat::kGlb:
      return CheckGlbFile(files, info);
    case CacheFormat::kUsda:
      return CheckUsdFile(files, info);
    default:
      return EncodeCacheHeader(files.format, info).status();
  }
}

absl::Status CacheOutput::Append(const FrameArrays& frame) {
  for (ManifestAttribute& attribute : attributes_) {
    const std::span<const float> values = frame.Attribute(attribute.name);
    if (values.size() != frame.points.size()) {
      return absl::InternalError(absl::StrCat(attribute.name, ": got ", values.size(),
                                              " values, need ", frame.points.size()));
    }
    attribute.frame_hashes.push_back(HashPositions(values));
  }
  hashes_.push_back(HashPositions(frame.points));
  return data_->Append(frame);
}

absl::StatusOr<Manifest> CacheOutput::Close(Manifest manifest, std::string_view rest_obj) {
  if (hashes_.size() != info_.frames) {
    return absl::InternalError(
        absl::StrCat("frames: wrote ", hashes_.size(), ", promised ", info_.frames));
  }
  manifest.format = CacheFormatName(files_.format);
  manifest.vertices = info_.vertices;
  manifest.frames = info_.frames;
  manifest.fps = info_.fps;
  manifest.first_frame = info_.first_frame;
  manifest.frame_step = info_.frame_step;
  manifest.frame_numbers = info_.frame_numbers;
  manifest.frame_hashes = hashes_;
  manifest.attributes = attributes_;
  SINEW_RETURN_IF_ERROR(data_->Close());
  manifest.files = data_->files();
  written_files_ = manifest.files;
  SINEW_ASSIGN_OR_RETURN(json_, EncodeManifest(manifest));
  SINEW_RETURN_IF_ERROR(manifest_.Write(json_));
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
  std::vector<ManifestFile> older_files;
  {
    const absl::StatusOr<InputFile> older =
        InputFile::Open(manifest_.path(), kMaxOlderManifestBytes);
    if (!older.ok() || older->text() != json_) {
      if (const auto parsed = older.ok() ? ParseManifest(older->text()) : older.status();
          parsed.ok()) {
        older_files = parsed->files;
      }
      std::error_code error;
      std::filesystem::remove(manifest_.path(), error);
    }
  }
  SINEW_RETURN_IF_ERROR(data_->Commit());
  RemoveOlderFiles(manifest_.path(), older_files, written_files_);
  return rest_ ? rest_->Commit() : absl::OkStatus();
}

absl::Status CacheOutput::CommitManifest() {
  return manifest_.Commit();
}

}  // namespace sinew::cli
