#include "client/cli/files/cache_writer.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <utility>

#include "core/base/status.h"
#include "core/formats/obj.h"

namespace sinew::cli {
namespace {

using client::UpAxis;

const char* AxisName(UpAxis axis) {
  return axis == UpAxis::kY ? "Y" : axis == UpAxis::kZ ? "Z" : "";
}

// A quarter turn about X that makes `to` the axis that points up.
void Turn(UpAxis from, UpAxis to, std::span<float> points) {
  if (to == UpAxis::kUnspecified || from == to) return;
  for (std::size_t k = 0; k + 2 < points.size(); k += 3) {
    const float y = points[k + 1], z = points[k + 2];
    points[k + 1] = to == UpAxis::kZ ? -z : z;
    points[k + 2] = to == UpAxis::kZ ? y : -y;
  }
}

void Transform(std::span<const float> m, std::span<float> points) {
  for (std::size_t k = 0; k + 2 < points.size(); k += 3) {
    const float x = points[k], y = points[k + 1], z = points[k + 2];
    for (std::size_t row = 0; row < 3; ++row) {
      const auto at = m.subspan(row * 4, 4);
      points[k + row] = at[0] * x + at[1] * y + at[2] * z + at[3];
    }
  }
}

}  // namespace

std::string ManifestPath(const std::string& cache) {
  return cache + ".json";
}

std::string RestPath(const std::string& cache) {
  return std::filesystem::path(cache).replace_extension(".rest.obj").string();
}

CacheWriter::CacheWriter(CacheTarget target, CacheInfo info, const client::RigData& rig,
                         OutputFile cache, OutputFile manifest, std::optional<OutputFile> rest)
    : target_(std::move(target)),
      info_(info),
      rig_(&rig),
      cache_(std::move(cache)),
      manifest_(std::move(manifest)),
      rest_(std::move(rest)) {}

absl::StatusOr<CacheWriter> CacheWriter::Create(const CacheTarget& chosen, const CacheInfo& times,
                                                const client::RigData& rig) {
  CacheTarget target = chosen;
  CacheInfo info = times;
  if (target.meshes.empty()) {
    target.meshes.resize(rig.meshes.size());
    std::iota(target.meshes.begin(), target.meshes.end(), std::size_t{0});
  }
  if (target.up != UpAxis::kUnspecified && rig.up_axis == UpAxis::kUnspecified) {
    return InvalidArgument("axes: the character does not say which of its axes points up");
  }
  std::uint64_t vertices = 0;
  for (const std::size_t mesh : target.meshes) vertices += rig.meshes[mesh].vertices();
  info.vertices = static_cast<std::uint32_t>(std::min<std::uint64_t>(vertices, kMaxCacheCount));
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
  CacheWriter writer(std::move(target), info, rig, std::move(cache), std::move(manifest),
                     std::move(rest));
  SINEW_RETURN_IF_ERROR(writer.cache_.Write(header));
  writer.written_ = header.size();
  return writer;
}

// Those of the target's meshes, turned. Valid until the next call.
std::span<const float> CacheWriter::Chosen(std::span<const float> positions) {
  const bool turned = target_.up != UpAxis::kUnspecified && target_.up != rig_->up_axis;
  const bool whole = target_.meshes.size() == rig_->meshes.size();
  if (!turned && target_.space.empty() && whole) return positions;
  points_.clear();
  std::size_t first = 0, next = 0;
  for (std::size_t m = 0; m < rig_->meshes.size() && next < target_.meshes.size(); ++m) {
    const std::size_t count = rig_->meshes[m].vertices();
    if (m == target_.meshes[next]) {
      const auto mesh = positions.subspan(first * 3, count * 3);
      points_.insert(points_.end(), mesh.begin(), mesh.end());
      ++next;
    }
    first += count;
  }
  Turn(rig_->up_axis, target_.up, points_);
  if (!target_.space.empty()) Transform(target_.space, points_);
  return points_;
}

absl::Status CacheWriter::Append(std::span<const float> positions) {
  const std::span<const float> points = Chosen(positions);
  bytes_.clear();
  AppendCacheFrame(target_.format, points, bytes_);
  SINEW_RETURN_IF_ERROR(cache_.Write(bytes_));
  written_ += bytes_.size();
  hashes_.push_back(HashPositions(points));
  return absl::OkStatus();
}

// Empty if nothing says which axis points up.
std::string CacheWriter::UpAxisOfPoints() const {
  if (!target_.space.empty()) return "";
  return AxisName(target_.up == UpAxis::kUnspecified ? rig_->up_axis : target_.up);
}

absl::Status CacheWriter::WriteRest() {
  const std::span<const float> points = Chosen(target_.rest_mesh->positions);
  std::vector<ObjPart> parts;
  std::size_t first = 0;
  for (const std::size_t m : target_.meshes) {
    const client::Mesh& mesh = rig_->meshes[m];
    parts.push_back({mesh.name, points.subspan(first * 3, mesh.vertices() * 3), mesh.face_sizes,
                     mesh.face_vertices, target_.rest_mesh->corner_uvs[m]});
    first += mesh.vertices();
  }
  std::string comment;
  if (rig_->meters_per_unit > 0) {
    comment = absl::StrCat("1 unit = ", rig_->meters_per_unit, " m");
  }
  if (const std::string up = UpAxisOfPoints(); !up.empty()) {
    absl::StrAppend(&comment, comment.empty() ? "" : ", ", up, " is up");
  }
  SINEW_ASSIGN_OR_RETURN(const std::string obj, EncodeObj(rig_->label, parts, comment));
  SINEW_RETURN_IF_ERROR(rest_->Write(obj));
  return rest_->Close();
}

absl::Status CacheWriter::WriteManifest(Manifest manifest) {
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
  manifest.frame_numbers = info_.frame_numbers;
  manifest.up_axis = UpAxisOfPoints();
  manifest.frame_hashes = hashes_;
  manifest.meshes.clear();
  std::uint64_t first = 0;
  for (const std::size_t m : target_.meshes) {
    const client::Mesh& mesh = rig_->meshes[m];
    manifest.meshes.push_back({mesh.name, first, mesh.vertices()});
    first += mesh.vertices();
  }
  SINEW_ASSIGN_OR_RETURN(const std::string json, EncodeManifest(manifest));
  return manifest_.Write(json);
}

absl::Status CacheWriter::CommitData() {
  SINEW_RETURN_IF_ERROR(cache_.Commit());
  return rest_ ? rest_->Commit() : absl::OkStatus();
}

absl::StatusOr<std::uint64_t> CacheWriter::Finish(std::span<CacheWriter> writers,
                                                  const Manifest& manifest) {
  std::uint64_t written = 0;
  // All bytes are on the disk before the first name appears, so that a full disk leaves no half
  // set.
  for (CacheWriter& writer : writers) {
    SINEW_RETURN_IF_ERROR(writer.WriteManifest(manifest));
    SINEW_RETURN_IF_ERROR(writer.cache_.Close());
    SINEW_RETURN_IF_ERROR(writer.manifest_.Close());
    if (writer.rest_) SINEW_RETURN_IF_ERROR(writer.WriteRest());
    written += writer.written_;
  }
  for (CacheWriter& writer : writers) SINEW_RETURN_IF_ERROR(writer.CommitData());
  for (CacheWriter& writer : writers) SINEW_RETURN_IF_ERROR(writer.manifest_.Commit());
  return written;
}

}  // namespace sinew::cli
