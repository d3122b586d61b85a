#include "client/bake/files/cache_output.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "client/bake/base/errors.h"
#include "client/bake/files/cache_check.h"
#include "client/bake/files/glb_file.h"
#include "client/bake/files/input_file.h"
#include "client/bake/files/obj_sequence.h"
#include "client/bake/files/usd_file.h"
#include "client/import/valid_text.h"
#include "core/base/status.h"

namespace sinew::bake {
namespace {

absl::StatusOr<std::unique_ptr<CacheFile>> CreateData(const CacheFiles& files,
                                                      const CacheInfo& info) {
  if (files.format == CacheFormat::kUsda) return CreateUsdFile(files, info);
  if (files.format == CacheFormat::kObj) return CreateObjSequence(files, info);
  if (files.format == CacheFormat::kGlb) return CreateGlbFile(files, info);
  return CreateArrayFile(files, info);
}

// A manifest is JSON, so that it cannot hold other names; another file would be read or removed.
absl::Status CheckName(const CacheFiles& files) {
  const std::string name = std::filesystem::path(files.path).filename().string();
  if (!IsSceneFormat(files.format) || client::ValidText(name) == name) return absl::OkStatus();
  return RequestError(absl::StrCat("out: got ", client::ValidText(name),
                                   ", need a name in UTF-8: the manifest of a .",
                                   CacheFormatName(files.format), " lists its files by name"));
}

// Whether the array of an older cache is what its manifest says.
bool IsIntact(const std::string& path, const Manifest& older, const ManifestAttribute& attribute) {
  const absl::StatusOr<InputFile> file = InputFile::Open(path, kMaxCacheBytes);
  if (!file.ok()) return false;
  const absl::StatusOr<CacheDamage> damage =
      FindDamage(file->bytes(), ManifestOfAttribute(older, attribute),
                 [](double) { return absl::OkStatus(); });
  return damage.ok() && !damage->any();
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
  SINEW_RETURN_IF_ERROR(CheckName(files));
  SINEW_ASSIGN_OR_RETURN(std::unique_ptr<CacheFile> data, CreateData(files, info));
  SINEW_ASSIGN_OR_RETURN(OutputFile manifest,
                         OutputFile::Create(ManifestPath(files.path), files.overwrite));
  CacheOutput output(files, info, std::move(data), std::move(manifest));
  if (absl::StatusOr<Manifest> older = ReadManifest(files.path); older.ok()) {
    output.older_ = *std::move(older);
  }
  if (files.has_rest) {
    SINEW_ASSIGN_OR_RETURN(OutputFile rest,
                           OutputFile::Create(RestPath(files.path), files.overwrite));
    output.rest_.emplace(std::move(rest));
  }
  return output;
}

absl::Status CacheOutput::Check(const CacheFiles& files, const CacheInfo& info) {
  SINEW_RETURN_IF_ERROR(CheckName(files));
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

std::uint64_t CacheOutput::Estimate(const CacheFiles& files, const CacheInfo& info,
                                    const FrameArrays& frame) {
  switch (files.format) {
    case CacheFormat::kObj:
      return EstimateObjSequence(files, info, frame);
    case CacheFormat::kGlb:
      return EstimateGlbFile(files, info);
    case CacheFormat::kUsda:
      return EstimateUsdFile(files, info, frame);
    default:
      break;
  }
  const auto array = [&](CacheFormat format) {
    const absl::StatusOr<std::string> header = EncodeCacheHeader(format, info);
    return (header.ok() ? header->size() : 0) +
           std::uint64_t{info.frames} * info.vertices * 3 * sizeof(float);
  };
  return array(files.format) + files.attributes.size() * array(CacheFormat::kNpy);
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
  {
    const absl::StatusOr<InputFile> older = InputFile::Open(manifest_.path(), kMaxCacheBytes);
    if (!older.ok() || older->text() != json_) {
      std::error_code error;
      std::filesystem::remove(manifest_.path(), error);
    }
  }
  SINEW_RETURN_IF_ERROR(data_->Commit());
  RemoveOlderFiles();
  return rest_ ? rest_->Commit() : absl::OkStatus();
}

void CacheOutput::RemoveOlderFiles() const {
  // Other frames of a sequence stay: sequences are baked in ranges, also by several processes.
  if (!older_ || files_.format == CacheFormat::kObj) return;
  std::set<std::string> written;
  for (const ManifestFile& file : written_files_) written.insert(file.name);
  std::error_code error;
  for (const ManifestFile& file : older_->files) {
    const std::string path =
        (std::filesystem::path(files_.path).parent_path() / file.name).string();
    if (!written.contains(file.name)) std::filesystem::remove(path, error);
  }
  if (!older_->files.empty()) return;  // its arrays are in its files
  for (const ManifestAttribute& attribute : older_->attributes) {
    const bool is_kept =
        !IsSceneFormat(files_.format) &&
        std::ranges::find(files_.attributes, attribute.name) != files_.attributes.end();
    const std::string path = AttributePath(files_.path, attribute.name);
    if (!is_kept && IsIntact(path, *older_, attribute)) std::filesystem::remove(path, error);
  }
}

absl::Status CacheOutput::CommitManifest() {
  return manifest_.Commit();
}

}  // namespace sinew::bake
