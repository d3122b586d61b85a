#include "client/bake/files/obj_sequence.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "client/bake/files/cache_output.h"
#include "client/bake/files/input_file.h"
#include "client/bake/files/name_pattern.h"
#include "client/bake/files/output_file.h"
#include "client/bake/formats/obj.h"
#include "core/base/bulk_checksum.h"
#include "core/base/status.h"

namespace sinew::bake {
namespace {

// The whole file of a frame.
absl::StatusOr<std::string> ObjText(const CacheScene& scene, const FrameArrays& frame) {
  std::vector<ObjPart> parts;
  for (const SceneMesh& mesh : scene.meshes) {
    const auto part_of = [&](std::span<const float> values) {
      return values.empty() ? values : values.subspan(mesh.first_vertex * 3, mesh.vertices * 3);
    };
    parts.push_back({.name = mesh.name,
                     .positions = part_of(frame.points),
                     .face_sizes = mesh.face_sizes,
                     .face_vertices = mesh.face_vertices,
                     .corner_uvs = mesh.corner_uvs,
                     .normals = part_of(frame.normals)});
  }
  const std::string up = scene.up_axis.empty() ? "" : absl::StrCat(", ", scene.up_axis, " is up");
  return EncodeObj(scene.meshes[0].name, parts,
                   absl::StrCat("1 unit = ", scene.meters_per_unit, " m", up));
}

class ObjSequence : public CacheFile {
 public:
  ObjSequence(const CacheFiles& files, const CacheInfo& info) : files_(files), info_(info) {}

  absl::Status Append(const FrameArrays& frame) override {
    if (head_.empty()) SINEW_RETURN_IF_ERROR(MakeTemplate(frame));
    text_ = head_;
    SINEW_RETURN_IF_ERROR(AppendObjPoints(frame.points, text_));
    SINEW_RETURN_IF_ERROR(AppendObjNormals(frame.normals, text_));
    text_ += faces_;
    const std::string path =
        FrameName(files_.path, static_cast<std::int64_t>(info_.FrameNumber(next_++)));
    written_.push_back({.name = std::filesystem::path(path).filename().string(),
                        .bytes = text_.size(),
                        .hash = BulkChecksum({std::as_bytes(std::span(text_))})});
    bytes_ += text_.size();
    const absl::StatusOr<InputFile> older = InputFile::Open(path, text_.size());
    if (older.ok() && older->text() == text_) return absl::OkStatus();
    if (!std::exchange(has_replaced_, true)) {
      // A manifest never vouches for files that are replaced.
      std::error_code error;
      std::filesystem::remove(ManifestPath(files_.path), error);
    }
    SINEW_ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(path, files_.overwrite));
    SINEW_RETURN_IF_ERROR(file.Write(text_));
    return file.Commit();
  }
  absl::Status Close() override { return absl::OkStatus(); }
  absl::Status Commit() override { return absl::OkStatus(); }
  std::uint64_t bytes() const override { return bytes_; }
  std::vector<ManifestFile> files() const override { return written_; }

 private:
  // Everything but the lines of points and normals.
  absl::Status MakeTemplate(const FrameArrays& frame) {
    SINEW_ASSIGN_OR_RETURN(const std::string text, ObjText(*files_.scene, frame));
    const std::size_t begin = text.find("\nv ") + 1;
    const std::size_t end = std::min(text.find("\nvt ", begin), text.find("\ng ", begin)) + 1;
    head_ = text.substr(0, begin);
    faces_ = text.substr(end);
    return absl::OkStatus();
  }

  const CacheFiles files_;
  const CacheInfo info_;
  std::string head_, faces_;  // the text before and after the points
  std::string text_;          // of one frame; kept to spare allocations
  std::vector<ManifestFile> written_;
  std::uint64_t bytes_ = 0;
  std::uint32_t next_ = 0;
  bool has_replaced_ = false;
};

}  // namespace

absl::Status CheckObjSequence(const CacheFiles& files, const CacheInfo& info) {
  SINEW_RETURN_IF_ERROR(CheckCacheInfo(info));
  if (std::ranges::find(files.attributes, kVelocities) != files.attributes.end()) {
    return InvalidArgument("obj: cannot hold velocities, need .pc2, .mdd, .npy or .usda");
  }
  for (std::uint32_t k = 0; k < info.frames; ++k) {
    const double number = info.FrameNumber(k);
    if (number != std::floor(number)) {
      return InvalidArgument("obj: frame ", number,
                             ", need whole frames in a sequence of files; .usda and .npy hold "
                             "samples between frames");
    }
    SINEW_RETURN_IF_ERROR(OutputFile::Check(
        FrameName(files.path, static_cast<std::int64_t>(number)), files.overwrite));
  }
  return absl::OkStatus();
}

std::uint64_t EstimateObjSequence(const CacheFiles& files, const CacheInfo& info,
                                  const FrameArrays& frame) {
  FrameArrays written = frame;
  if (files.attributes.empty()) written.normals = {};
  const absl::StatusOr<std::string> text = ObjText(*files.scene, written);
  return text.ok() ? info.frames * std::uint64_t{text->size()} : 0;
}

absl::StatusOr<std::unique_ptr<CacheFile>> CreateObjSequence(const CacheFiles& files,
                                                             const CacheInfo& info) {
  SINEW_RETURN_IF_ERROR(CheckObjSequence(files, info));
  return std::make_unique<ObjSequence>(files, info);
}

}  // namespace sinew::bake
