#include "client/bake/files/cache_writer.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "client/bake/formats/obj.h"
#include "core/base/bulk_checksum.h"
#include "core/base/status.h"

namespace sinew::bake {
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

void Transform(std::span<const float> m, bool moves, std::span<float> points) {
  for (std::size_t k = 0; k + 2 < points.size(); k += 3) {
    const float x = points[k], y = points[k + 1], z = points[k + 2];
    for (std::size_t row = 0; row < 3; ++row) {
      const auto at = m.subspan(row * 4, 4);
      points[k + row] = at[0] * x + at[1] * y + at[2] * z + (moves ? at[3] : 0);
    }
  }
}

// The rows of a 3x4 matrix that turns normals where `m` turns points: its cofactors.
std::array<float, 12> NormalMatrix(std::span<const float> m) {
  std::array<float, 12> cofactors = {};
  for (std::size_t row = 0; row < 3; ++row) {
    const std::size_t r1 = (row + 1) % 3, r2 = (row + 2) % 3;
    for (std::size_t column = 0; column < 3; ++column) {
      const std::size_t c1 = (column + 1) % 3, c2 = (column + 2) % 3;
      cofactors[row * 4 + column] =
          m[r1 * 4 + c1] * m[r2 * 4 + c2] - m[r1 * 4 + c2] * m[r2 * 4 + c1];
    }
  }
  return cofactors;
}

void Normalise(std::span<float> normals) {
  for (std::size_t k = 0; k + 2 < normals.size(); k += 3) {
    const float length = std::hypot(normals[k], normals[k + 1], normals[k + 2]);
    if (length <= 0) continue;
    for (std::size_t i = k; i < k + 3; ++i) normals[i] /= length;
  }
}

void PlaceValues(std::span<const float> space, VectorKind kind, std::span<float> values) {
  if (kind != VectorKind::kNormal) return Transform(space, kind == VectorKind::kPoint, values);
  Transform(NormalMatrix(space), /*moves=*/false, values);
  Normalise(values);
}

// Empty if nothing says which axis points up.
std::string UpAxisOfPoints(const CacheTarget& target, const client::RigData& rig) {
  if (!target.space.empty()) return "";
  return AxisName(target.up == UpAxis::kUnspecified ? rig.up_axis : target.up);
}

std::vector<std::size_t> MeshesOf(const CacheTarget& target, const client::RigData& rig) {
  if (!target.meshes.empty()) return target.meshes;
  std::vector<std::size_t> all(rig.meshes.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

// Those of a mesh that the cache has; empty = all.
std::span<const std::uint32_t> SelectionOf(const CacheTarget& target, std::size_t mesh) {
  if (target.selection == nullptr) return {};
  return (*target.selection)[mesh];
}

std::size_t VerticesOf(const CacheTarget& target, const client::RigData& rig, std::size_t mesh) {
  const auto selection = SelectionOf(target, mesh);
  return selection.empty() ? rig.meshes[mesh].vertices() : selection.size();
}

// Corners of the faces, as indices of the vertices that the cache has.
std::vector<std::uint32_t> FaceVerticesOf(const CacheTarget& target, const client::RigData& rig,
                                          std::size_t mesh) {
  std::vector<std::uint32_t> corners = rig.meshes[mesh].face_vertices;
  const auto selection = SelectionOf(target, mesh);
  if (selection.empty()) return corners;
  std::vector<std::uint32_t> index(rig.meshes[mesh].vertices());
  for (std::uint32_t k = 0; k < selection.size(); ++k) index[selection[k]] = k;
  for (std::uint32_t& corner : corners) corner = index[corner];
  return corners;
}

CacheScene SceneOf(const CacheTarget& target, const client::RigData& rig) {
  CacheScene scene = {
      .meshes = {}, .meters_per_unit = rig.meters_per_unit, .up_axis = UpAxisOfPoints(target, rig)};
  std::size_t first = 0;
  for (const std::size_t m : MeshesOf(target, rig)) {
    const client::Mesh& mesh = rig.meshes[m];
    SceneMesh& added =
        scene.meshes.emplace_back(SceneMesh{.name = mesh.name,
                                            .first_vertex = first,
                                            .vertices = VerticesOf(target, rig, m),
                                            .face_sizes = mesh.face_sizes,
                                            .face_vertices = FaceVerticesOf(target, rig, m)});
    if (added.face_sizes.empty()) added.face_sizes.assign(added.face_vertices.size() / 3, 3);
    if (target.rest_mesh) added.corner_uvs = target.rest_mesh->corner_uvs[m];
    first += added.vertices;
  }
  return scene;
}

// The files of a cache; fills in info.vertices.
CacheFiles FilesOf(const CacheTarget& target, const client::RigData& rig, CacheInfo& info) {
  info.vertices =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(VerticesOf(target, rig), kMaxCacheCount));
  CacheFiles files = {.path = target.path,
                      .format = target.format,
                      .attributes = target.attributes,
                      .has_rest = target.WritesRest(),
                      .overwrite = target.overwrite,
                      .usd = target.usd};
  if (IsSceneFormat(target.format)) {
    files.scene = std::make_shared<const CacheScene>(SceneOf(target, rig));
  }
  return files;
}

}  // namespace

absl::StatusOr<CacheWriter> CacheWriter::Create(const CacheTarget& chosen, const CacheInfo& times,
                                                const client::RigData& rig) {
  CacheTarget target = chosen;
  CacheInfo info = times;
  target.meshes = MeshesOf(chosen, rig);
  if (target.up != UpAxis::kUnspecified && rig.up_axis == UpAxis::kUnspecified) {
    return InvalidArgument("axes: the character does not say which of its axes points up");
  }
  const CacheFiles files = FilesOf(target, rig, info);
  SINEW_ASSIGN_OR_RETURN(CacheOutput output, CacheOutput::Create(files, info));
  return CacheWriter(std::move(target), rig, std::move(output));
}

std::uint64_t CacheWriter::Estimate(const CacheTarget& target, const CacheInfo& times,
                                    const client::RigData& rig) {
  CacheInfo info = times;
  const CacheFiles files = FilesOf(target, rig, info);
  std::vector<float> points, directions;
  if (files.scene && target.rest_mesh) {
    CacheTarget whole = target;
    whole.meshes = MeshesOf(target, rig);
    FrameSelection selection;
    const auto rest = selection.Select(whole, rig, {.points = target.rest_mesh->positions}).points;
    // Numbers with as many digits as those of a deformed mesh have, which is not as round.
    constexpr float kNotRound = 0.98765433F;
    for (const float value : rest) points.push_back(value * kNotRound);
    for (std::size_t k = 0; k < points.size(); ++k) {
      directions.push_back(std::sin(static_cast<float>(k)));
    }
  }
  return CacheOutput::Estimate(files, info,
                               {.points = points, .normals = directions, .velocities = directions});
}

std::span<const float> ValuesOf(const CacheTarget& target, const client::RigData& rig,
                                VectorKind kind, std::span<const float> positions,
                                std::vector<float>& scratch) {
  const bool turned = target.up != UpAxis::kUnspecified && target.up != rig.up_axis;
  const std::vector<std::size_t> meshes = MeshesOf(target, rig);
  const bool whole = meshes.size() == rig.meshes.size();
  if (!turned && target.space.empty() && whole && target.selection == nullptr) return positions;
  scratch.clear();
  std::size_t first = 0, next = 0;
  for (std::size_t m = 0; m < rig.meshes.size() && next < meshes.size(); ++m) {
    const std::size_t count = rig.meshes[m].vertices();
    if (m == meshes[next]) {
      const auto mesh = positions.subspan(first * 3, count * 3);
      const auto selection = SelectionOf(target, m);
      if (selection.empty()) scratch.insert(scratch.end(), mesh.begin(), mesh.end());
      for (const std::uint32_t v : selection) {
        scratch.insert(scratch.end(), {mesh[v * 3], mesh[v * 3 + 1], mesh[v * 3 + 2]});
      }
      ++next;
    }
    first += count;
  }
  Turn(rig.up_axis, target.up, scratch);
  if (!target.space.empty()) PlaceValues(target.space, kind, scratch);
  return scratch;
}

FrameArrays FrameSelection::Select(const CacheTarget& target, const client::RigData& rig,
                                   const FrameArrays& frame) {
  FrameArrays selected = {.points =
                              ValuesOf(target, rig, VectorKind::kPoint, frame.points, points_)};
  if (!frame.normals.empty()) {
    selected.normals = ValuesOf(target, rig, VectorKind::kNormal, frame.normals, normals_);
  }
  if (!frame.velocities.empty()) {
    selected.velocities =
        ValuesOf(target, rig, VectorKind::kDirection, frame.velocities, velocities_);
  }
  return selected;
}

absl::Status CacheWriter::Append(const FrameArrays& frame) {
  return output_.Append(selection_.Select(target_, *rig_, frame));
}

absl::StatusOr<std::string> CacheWriter::RestObj() {
  const std::span<const float> points =
      selection_.Select(target_, *rig_, {.points = target_.rest_mesh->positions}).points;
  std::vector<ObjPart> parts;
  std::vector<std::vector<std::uint32_t>> corners;
  for (const std::size_t m : target_.meshes) corners.push_back(FaceVerticesOf(target_, *rig_, m));
  std::size_t first = 0;
  for (std::size_t k = 0; k < corners.size(); ++k) {
    const std::size_t m = target_.meshes[k], count = VerticesOf(target_, *rig_, m);
    const client::Mesh& mesh = rig_->meshes[m];
    parts.push_back({mesh.name, points.subspan(first * 3, count * 3), mesh.face_sizes, corners[k],
                     target_.rest_mesh->corner_uvs[m]});
    first += count;
  }
  std::string comment;
  if (rig_->meters_per_unit > 0) {
    comment = absl::StrCat("1 unit = ", rig_->meters_per_unit, " m");
  }
  if (const std::string up = UpAxisOfPoints(target_, *rig_); !up.empty()) {
    absl::StrAppend(&comment, comment.empty() ? "" : ", ", up, " is up");
  }
  return EncodeObj(rig_->label, parts, comment);
}

std::uint64_t VerticesOf(const CacheTarget& target, const client::RigData& rig) {
  std::uint64_t vertices = 0;
  for (const std::size_t mesh : MeshesOf(target, rig)) vertices += VerticesOf(target, rig, mesh);
  return vertices;
}

namespace {

// Manifest::layout_digest.
std::string LayoutDigest(const CacheTarget& target, const client::RigData& rig) {
  ContentHash hash;
  bool has_any = false;
  const auto add = [&]<class T>(std::span<const T> values) {
    const std::uint64_t count = values.size();
    hash.Update({reinterpret_cast<const char*>(&count), sizeof count});
    hash.Update({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
    has_any = has_any || count > 0;
  };
  add(std::span<const float>(target.space));
  for (const std::size_t mesh : MeshesOf(target, rig)) {
    add(SelectionOf(target, mesh));
    if (target.rest_mesh) add(std::span<const float>(target.rest_mesh->corner_uvs[mesh]));
  }
  return has_any ? absl::StrFormat("%016x", hash.Digest()) : "";
}

}  // namespace

void DescribePoints(const CacheTarget& target, const client::RigData& rig, Manifest& manifest) {
  manifest.up_axis = UpAxisOfPoints(target, rig);
  manifest.space = target.space_name;
  manifest.layout_digest = LayoutDigest(target, rig);
  manifest.usd = target.usd;
  manifest.meshes.clear();
  manifest.attributes.clear();
  for (const std::string& name : target.attributes) manifest.attributes.push_back({name, {}});
  manifest.vertices = 0;
  for (const std::size_t m : MeshesOf(target, rig)) {
    const std::size_t count = VerticesOf(target, rig, m);
    manifest.meshes.push_back({rig.meshes[m].name, manifest.vertices, count});
    manifest.vertices += count;
  }
}

absl::Status CacheWriter::Close(Manifest manifest) {
  DescribePoints(target_, *rig_, manifest);
  std::string rest;
  if (target_.WritesRest()) {
    SINEW_ASSIGN_OR_RETURN(rest, RestObj());
  }
  return output_.Close(std::move(manifest), rest).status();
}

absl::StatusOr<std::uint64_t> CacheWriter::Finish(std::span<CacheWriter> writers,
                                                  const Manifest& manifest) {
  std::uint64_t written = 0;
  // All bytes are on the disk before the first name appears, so that a full disk leaves no half
  // set.
  for (CacheWriter& writer : writers) {
    SINEW_RETURN_IF_ERROR(writer.Close(manifest));
    written += writer.output_.bytes();
  }
  for (CacheWriter& writer : writers) SINEW_RETURN_IF_ERROR(writer.output_.CommitData());
  for (CacheWriter& writer : writers) SINEW_RETURN_IF_ERROR(writer.output_.CommitManifest());
  return written;
}

}  // namespace sinew::bake
