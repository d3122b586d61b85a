#include "client/bake/files/glb_file.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <utility>

#include "client/bake/base/quantity.h"
#include "client/bake/files/spool.h"
#include "client/bake/files/summed_file.h"
#include "client/bake/formats/glb.h"
#include "core/base/status.h"

namespace sinew::bake {
namespace {

// Players keep every target of a mesh in graphics memory, and many allow far fewer.
constexpr std::uint32_t kMaxGlbFrames = 1000;
constexpr std::uint64_t kMaxGlbBytes = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kJsonBytesOfAccessor = 320;
constexpr std::uint64_t kVectorBytes = 12;

template <class T>
void AppendRaw(std::span<const T> values, std::string& out) {
  out.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
}

std::vector<std::uint32_t> TrianglesOf(const SceneMesh& mesh) {
  std::vector<std::uint32_t> triangles;
  std::size_t corner = 0;
  for (const std::uint32_t size : mesh.face_sizes) {
    for (std::size_t k = 2; k < size; ++k) {
      triangles.insert(triangles.end(),
                       {mesh.face_vertices[corner], mesh.face_vertices[corner + k - 1],
                        mesh.face_vertices[corner + k]});
    }
    corner += size;
  }
  return triangles;
}

// Texture coordinates of vertices, v downwards; empty where the corners of a vertex differ, because
// more vertices would not be those of the cache.
std::vector<float> VertexUvs(const SceneMesh& mesh) {
  if (mesh.corner_uvs.empty()) return {};
  std::vector<float> uvs(mesh.vertices * 2, std::numeric_limits<float>::quiet_NaN());
  for (std::size_t c = 0; c < mesh.face_vertices.size(); ++c) {
    float* const uv = &uvs[mesh.face_vertices[c] * 2];
    const float u = mesh.corner_uvs[c * 2], v = 1 - mesh.corner_uvs[c * 2 + 1];
    if (!std::isnan(uv[0]) && (uv[0] != u || uv[1] != v)) return {};
    uv[0] = u;
    uv[1] = v;
  }
  for (float& value : uvs) {
    if (std::isnan(value)) value = 0;  // of a vertex without faces
  }
  return uvs;
}

class GlbFile : public CacheFile {
 public:
  GlbFile(CacheFiles files, CacheInfo info, SummedFile file, Spool spool)
      : files_(std::move(files)),
        info_(std::move(info)),
        file_(std::move(file)),
        vectors_(std::move(spool)),
        document_(files_.scene->meshes.size()) {}

  absl::Status Append(const FrameArrays& frame) override {
    for (const std::span<const float> values : {frame.points, frame.normals}) {
      if (!std::ranges::all_of(values, [](float value) { return std::isfinite(value); })) {
        return InvalidArgument("glb: frame ", info_.FrameNumber(next_),
                               " has a number that is not finite");
      }
    }
    if (next_ == 0) {
      points_.assign(frame.points.begin(), frame.points.end());
      normals_.assign(frame.normals.begin(), frame.normals.end());
    }
    for (std::size_t m = 0; m < files_.scene->meshes.size(); ++m) {
      SINEW_RETURN_IF_ERROR(AddArray(m, "POSITION", frame.points, points_));
      if (frame.normals.empty()) continue;
      SINEW_RETURN_IF_ERROR(AddArray(m, "NORMAL", frame.normals, normals_));
    }
    ++next_;
    return absl::OkStatus();
  }

  absl::Status Close() override {
    const CacheScene& source = *files_.scene;
    GlbScene scene = {.name = std::filesystem::path(files_.path).stem().string(),
                      .meters_per_unit = source.meters_per_unit,
                      .z_up = source.up_axis == "Z",
                      .meshes = {},
                      .times = {},
                      .target_names = {}};
    std::string indices, uvs;
    for (const SceneMesh& mesh : source.meshes) {
      const std::vector<std::uint32_t> triangles = TrianglesOf(mesh);
      const std::vector<float> vertex_uvs = VertexUvs(mesh);
      scene.meshes.push_back({.name = mesh.name,
                              .vertices = mesh.vertices,
                              .first_index = indices.size() / 4,
                              .indices = triangles.size(),
                              .first_uv = uvs.size() / 8,
                              .has_uvs = !vertex_uvs.empty()});
      AppendRaw(std::span<const std::uint32_t>(triangles), indices);
      AppendRaw(std::span<const float>(vertex_uvs), uvs);
    }
    // A view must not be empty; without faces nothing refers to it.
    indices.resize(std::max<std::size_t>(indices.size(), 4));
    for (std::uint32_t k = 0; k < info_.frames; ++k) {
      scene.times.push_back(
          static_cast<float>((info_.FrameNumber(k) - info_.FrameNumber(0)) / info_.fps));
      if (k > 0) {
        scene.target_names.push_back(absl::StrCat("frame ", ExactText(info_.FrameNumber(k))));
      }
    }
    scene.vector_bytes = vectors_.bytes();
    scene.index_bytes = indices.size();
    scene.motion_bytes = std::uint64_t{info_.frames} * info_.frames * sizeof(float);
    scene.uv_bytes = uvs.size();
    SINEW_ASSIGN_OR_RETURN(const std::string head, document_.Encode(scene));
    SINEW_RETURN_IF_ERROR(file_.Write(head));
    SINEW_RETURN_IF_ERROR(
        vectors_.Read([&](std::string_view piece) { return file_.Write(piece); }));
    SINEW_RETURN_IF_ERROR(file_.Write(indices));
    SINEW_RETURN_IF_ERROR(WriteMotion(scene.times));
    SINEW_RETURN_IF_ERROR(file_.Write(uvs));
    return file_.Close();
  }

  absl::Status Commit() override { return file_.Commit(); }
  std::uint64_t bytes() const override { return file_.bytes(); }
  std::vector<ManifestFile> files() const override { return {file_.Described()}; }

 private:
  // The part of `values` that mesh `m` has, less that of the first frame.
  absl::Status AddArray(std::size_t m, const char* attribute, std::span<const float> values,
                        const std::vector<float>& first) {
    const SceneMesh& mesh = files_.scene->meshes[m];
    const auto part = values.subspan(mesh.first_vertex * 3, mesh.vertices * 3);
    row_.assign(part.begin(), part.end());
    if (next_ == 0) {
      document_.AddBase(m, attribute, vectors_.bytes(), row_);
    } else {
      for (std::size_t k = 0; k < row_.size(); ++k) row_[k] -= first[mesh.first_vertex * 3 + k];
      document_.AddTarget(m, next_ - 1, attribute, vectors_.bytes(), row_);
    }
    text_.clear();
    AppendRaw(std::span<const float>(row_), text_);
    return vectors_.Write(text_);
  }

  // The times, and for each of them the weights of all targets.
  absl::Status WriteMotion(const std::vector<float>& times) {
    text_.clear();
    AppendRaw(std::span<const float>(times), text_);
    SINEW_RETURN_IF_ERROR(file_.Write(text_));
    for (std::uint32_t k = 0; k < info_.frames; ++k) {
      std::vector<float> weights(info_.frames - 1, 0);
      if (k > 0) weights[k - 1] = 1;
      text_.clear();
      AppendRaw(std::span<const float>(weights), text_);
      SINEW_RETURN_IF_ERROR(file_.Write(text_));
    }
    return absl::OkStatus();
  }

  const CacheFiles files_;
  const CacheInfo info_;
  SummedFile file_;
  Spool vectors_;  // base and targets
  GlbDocument document_;
  std::vector<float> points_, normals_;  // of the first frame
  std::vector<float> row_;               // of one array; kept to spare allocations
  std::string text_;
  std::uint32_t next_ = 0;
};

}  // namespace

std::uint64_t EstimateGlbFile(const CacheFiles& files, const CacheInfo& info) {
  const std::uint64_t frames = info.frames, arrays = files.attributes.empty() ? 1 : 2;
  std::uint64_t accessors = arrays, faces = 0;
  if (files.scene) {
    accessors *= files.scene->meshes.size();
    for (const SceneMesh& mesh : files.scene->meshes) {
      faces += TrianglesOf(mesh).size() * sizeof(std::uint32_t);
      faces += VertexUvs(mesh).size() * sizeof(float);
    }
  }
  return faces + frames * (info.vertices * kVectorBytes * arrays + frames * sizeof(float) +
                           kJsonBytesOfAccessor * accessors);
}

absl::Status CheckGlbFile(const CacheFiles& files, const CacheInfo& info) {
  SINEW_RETURN_IF_ERROR(CheckCacheInfo(info));
  if (std::ranges::find(files.attributes, kVelocities) != files.attributes.end()) {
    return InvalidArgument("glb: cannot hold velocities, need .pc2, .mdd, .npy or .usda");
  }
  if (info.frames > kMaxGlbFrames) {
    return InvalidArgument("glb: ", info.frames, " frames would be ", info.frames - 1,
                           " morph targets, need at most ", kMaxGlbFrames,
                           " frames; .usda holds any number");
  }
  const std::uint64_t bytes = EstimateGlbFile(files, info);
  if (bytes > kMaxGlbBytes) {
    return InvalidArgument("glb: ", info.frames, " frames of ", info.vertices,
                           " vertices would be ", BytesText(bytes), ", need less than ",
                           BytesText(kMaxGlbBytes), "; bake fewer frames, or .usda");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<CacheFile>> CreateGlbFile(const CacheFiles& files,
                                                         const CacheInfo& info) {
  SINEW_RETURN_IF_ERROR(CheckGlbFile(files, info));
  SINEW_ASSIGN_OR_RETURN(
      SummedFile file,
      SummedFile::Create(files.path, std::filesystem::path(files.path).filename().string(),
                         files.overwrite));
  SINEW_ASSIGN_OR_RETURN(Spool spool, Spool::Create(files.path));
  return std::make_unique<GlbFile>(files, info, std::move(file), std::move(spool));
}

}  // namespace sinew::bake
