#include "client/cli/files/cache_writer.h"

#include <absl/strings/str_cat.h>

#include <filesystem>
#include <utility>

#include "core/base/status.h"
#include "core/formats/obj.h"

namespace sinew::cli {

std::string ManifestPath(const std::string& cache) {
  return cache + ".json";
}

std::string RestPath(const std::string& cache) {
  return std::filesystem::path(cache).replace_extension(".rest.obj").string();
}

CacheWriter::CacheWriter(CacheTarget target, CacheInfo info, OutputFile cache, OutputFile manifest,
                         std::optional<OutputFile> rest)
    : target_(std::move(target)),
      info_(info),
      cache_(std::move(cache)),
      manifest_(std::move(manifest)),
      rest_(std::move(rest)) {}

absl::StatusOr<CacheWriter> CacheWriter::Create(const CacheTarget& target, const CacheInfo& info) {
  SINEW_ASSIGN_OR_RETURN(const std::string header, EncodeCacheHeader(target.format, info));
  SINEW_ASSIGN_OR_RETURN(OutputFile cache, OutputFile::Create(target.path, target.overwrite));
  SINEW_ASSIGN_OR_RETURN(OutputFile manifest,
                         OutputFile::Create(ManifestPath(target.path), target.overwrite));
  std::optional<OutputFile> rest;
  if (target.rest_mesh) {
    SINEW_ASSIGN_OR_RETURN(OutputFile file,
                           OutputFile::Create(RestPath(target.path), target.overwrite));
    rest.emplace(std::move(file));
  }
  CacheWriter writer(target, info, std::move(cache), std::move(manifest), std::move(rest));
  SINEW_RETURN_IF_ERROR(writer.cache_.Write(header));
  writer.written_ = header.size();
  return writer;
}

absl::Status CacheWriter::Append(std::span<const float> positions) {
  bytes_.clear();
  AppendCacheFrame(target_.format, positions, bytes_);
  SINEW_RETURN_IF_ERROR(cache_.Write(bytes_));
  written_ += bytes_.size();
  hashes_.push_back(HashPositions(positions));
  return absl::OkStatus();
}

absl::Status CacheWriter::WriteRest(const client::RigData& rig) {
  std::vector<ObjPart> parts;
  for (const client::Mesh& mesh : rig.meshes) {
    parts.push_back({mesh.name, mesh.positions, mesh.face_sizes, mesh.face_vertices});
  }
  SINEW_ASSIGN_OR_RETURN(const std::string obj, EncodeObj(rig.label, parts));
  SINEW_RETURN_IF_ERROR(rest_->Write(obj));
  return rest_->Close();
}

absl::StatusOr<std::uint64_t> CacheWriter::Finish(Manifest manifest, const client::RigData& rig) {
  if (hashes_.size() != info_.frames) {
    return absl::InternalError(
        absl::StrCat("frames: wrote ", hashes_.size(), ", promised ", info_.frames));
  }
  manifest.format = CacheFormatName(target_.format);
  manifest.vertices = info_.vertices;
  manifest.frames = info_.frames;
  manifest.fps = info_.fps;
  manifest.first_frame = info_.first_frame;
  manifest.frame_step = info_.frame_step;
  manifest.frame_hashes = hashes_;
  SINEW_ASSIGN_OR_RETURN(const std::string json, EncodeManifest(manifest));
  SINEW_RETURN_IF_ERROR(manifest_.Write(json));
  // All bytes are on the disk before the first name appears, so that a full disk leaves no half
  // set.
  SINEW_RETURN_IF_ERROR(cache_.Close());
  SINEW_RETURN_IF_ERROR(manifest_.Close());
  if (rest_) SINEW_RETURN_IF_ERROR(WriteRest(rig));
  SINEW_RETURN_IF_ERROR(cache_.Commit());
  if (rest_) SINEW_RETURN_IF_ERROR(rest_->Commit());
  SINEW_RETURN_IF_ERROR(manifest_.Commit());
  return written_;
}

}  // namespace sinew::cli
