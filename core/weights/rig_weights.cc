#include "core/weights/rig_weights.h"

#include <absl/strings/str_cat.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/base/status.h"

namespace sinew {
namespace {

// Bind poses whose joints differ by less, relative to the mesh's size, are the same.
constexpr double kSamePlace = 1e-4;
constexpr std::size_t kRowBytes = 40;  // bytes per vertex for its row index and reports
// Bytes per joint for skeletons and bones under construction.
constexpr std::size_t kJointBytes = 1024;

AffineD Translated(const Vec3d& by) {
  AffineD motion;
  motion.m[3] = by.x;
  motion.m[7] = by.y;
  motion.m[11] = by.z;
  return motion;
}

double Diagonal(std::span<const Vec3f> points) {
  Eigen::AlignedBox3f box;
  for (const Vec3f& p : points) box.extend(Eigen::Vector3f(p.x, p.y, p.z));
  return points.empty() ? 0 : box.diagonal().cast<double>().norm();
}

// Mesh parts with the same bind pose.
struct Group {
  bool bound = false;  // false: at rest
  std::vector<std::size_t> parts;
  BindFrameList frames;  // of every joint that one of them binds
};

// Whether the part's joints, with the frames `frames`, have the same bind positions as the group's.
bool Fits(const Group& group, std::span<const Binding> part, const BindFrameList& frames,
          double tolerance) {
  if (group.bound == part.empty()) return false;
  for (std::size_t k = 0; k < part.size(); ++k) {
    const std::optional<AffineD>& known = group.frames[part[k].joint];
    if (!known || !frames[k]) continue;
    const Vec3d apart = Translation(*known) - Translation(*frames[k]);
    if (!(Dot(apart, apart) <= tolerance * tolerance)) return false;
  }
  return true;
}

// Bytes of the groups and their inverse bind matrices.
std::size_t GroupBytes(std::size_t groups, std::size_t joints) {
  return groups * joints * 2 * sizeof(std::optional<AffineD>);
}

absl::StatusOr<std::vector<Group>> MakeGroups(const RigWeightsInput& input, const Task& task) {
  const std::size_t joints = input.skeleton.joints();
  const double tolerance = kSamePlace * Diagonal(input.mesh.positions);
  std::vector<Group> groups;
  for (std::size_t p = 0; p < input.mesh.parts.size(); ++p) {
    const std::vector<Binding>& part = input.bindings[p];
    BindFrameList frames;
    for (const Binding& binding : part) frames.push_back(TryInverse(binding.inverse_bind));
    auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& known) {
      return task.cancelled() || Fits(known, part, frames, tolerance);
    });
    SINEW_RETURN_IF_ERROR(task.CheckCancelled());
    if (group == groups.end()) {
      SINEW_RETURN_IF_ERROR(task.CheckMemory(GroupBytes(groups.size() + 1, joints)));
      group = groups.insert(groups.end(), {.bound = !part.empty(), .parts = {}, .frames = {}});
      group->frames.resize(joints);
    }
    group->parts.push_back(p);
    for (std::size_t k = 0; k < part.size(); ++k) {
      std::optional<AffineD>& frame = group->frames[part[k].joint];
      if (!frame) frame = frames[k];
    }
  }
  return groups;
}

struct Extent {
  std::size_t vertices = 0, faces = 0, corners = 0;
};

Extent ExtentOf(const MeshSource& mesh, std::span<const std::size_t> parts) {
  Extent extent;
  for (const std::size_t p : parts) {
    const MeshPart& part = mesh.parts[p];
    extent.vertices += part.vertex_count;
    extent.faces += part.face_count;
    extent.corners +=
        mesh.face_offsets[part.face_offset + part.face_count] - mesh.face_offsets[part.face_offset];
  }
  return extent;
}

// Bytes of one group while its weights are computed: its mesh, its skeleton and its vertex indices.
std::size_t ExtractBytes(const RigWeightsInput& input, std::span<const std::size_t> parts) {
  const Extent extent = ExtentOf(input.mesh, parts);
  return extent.vertices * (sizeof(Vec3f) + 2 * sizeof(std::uint32_t)) +
         (extent.faces + extent.corners + input.mesh.positions.size()) * sizeof(std::uint32_t) +
         parts.size() * 2 * sizeof(MeshPart) + input.skeleton.joints() * kJointBytes;
}

// The parts of a group as one mesh; `vertices` [n] are their indices in the rig.
MeshSource Extract(const MeshSource& from, std::span<const std::size_t> parts,
                   std::vector<std::uint32_t>& vertices) {
  const Extent extent = ExtentOf(from, parts);
  MeshSource to;
  to.positions.reserve(extent.vertices);
  if (!from.weld.empty()) to.weld.reserve(extent.vertices);
  to.face_offsets.reserve(extent.faces + 1);
  to.face_vertices.reserve(extent.corners);
  vertices.reserve(extent.vertices);
  to.face_offsets.push_back(0);
  std::vector<std::uint32_t> place(from.positions.size());
  for (const std::size_t p : parts) {
    const MeshPart& part = from.parts[p];
    MeshPart moved = part;
    moved.vertex_offset = static_cast<std::uint32_t>(vertices.size());
    moved.face_offset = static_cast<std::uint32_t>(to.face_offsets.size() - 1);
    for (std::uint32_t v = part.vertex_offset; v < part.vertex_offset + part.vertex_count; ++v) {
      place[v] = static_cast<std::uint32_t>(vertices.size());
      vertices.push_back(v);
      to.positions.push_back(from.positions[v]);
      // Welded vertices are in one part, after the vertex that represents them.
      if (!from.weld.empty()) to.weld.push_back(place[from.weld[v]]);
    }
    for (std::uint32_t f = part.face_offset; f < part.face_offset + part.face_count; ++f) {
      for (std::uint32_t c = from.face_offsets[f]; c < from.face_offsets[f + 1]; ++c) {
        to.face_vertices.push_back(place[from.face_vertices[c]]);
      }
      to.face_offsets.push_back(static_cast<std::uint32_t>(to.face_vertices.size()));
    }
    to.parts.push_back(std::move(moved));
  }
  return to;
}

std::size_t BytesOf(const InfluenceSource& influences) {
  return influences.offsets.capacity() * sizeof influences.offsets[0] +
         influences.bindings.capacity() * sizeof influences.bindings[0] +
         influences.weights.capacity() * sizeof influences.weights[0];
}

// A vertex's row in the results of its group.
struct Row {
  std::size_t group, vertex;
};

// The results of all groups in the rig's vertex order.
InfluenceSource Merged(std::span<const InfluenceSource> groups, std::span<const Row> rows) {
  InfluenceSource merged;
  std::size_t size = 0;
  for (const InfluenceSource& group : groups) size += group.bindings.size();
  merged.offsets.reserve(rows.size() + 1);
  merged.bindings.reserve(size);
  merged.weights.reserve(size);
  merged.offsets.push_back(0);
  for (const Row& row : rows) {
    const InfluenceSource& from = groups[row.group];
    for (std::uint64_t i = from.offsets[row.vertex]; i < from.offsets[row.vertex + 1]; ++i) {
      merged.bindings.push_back(from.bindings[i]);
      merged.weights.push_back(from.weights[i]);
    }
    merged.offsets.push_back(merged.bindings.size());
  }
  return merged;
}

// A note on carrier joints that got no bone, or empty.
std::string NoteOnBoneless(const Skeleton& skeleton, std::span<const Bone> bones,
                           std::span<const std::uint8_t> carriers) {
  std::vector<bool> owns(skeleton.joints(), false);
  for (const Bone& bone : bones) owns[bone.joint] = true;
  std::size_t count = 0;
  std::uint32_t first = 0;
  for (std::uint32_t j = 0; j < skeleton.joints(); ++j) {
    if (carriers[j] == 0 || owns[j]) continue;
    if (count++ == 0) first = j;
  }
  if (count == 0) return {};
  return absl::StrCat(count, count == 1 ? " joint has" : " joints have", " no bone, the first '",
                      skeleton.joint(first).name,
                      "': it coincides with its parent, or with the only joints below it");
}

}  // namespace

std::vector<AffineD> BindFrames(const Skeleton& skeleton, const BindFrameList& known) {
  const std::span<const AffineD> rest = skeleton.rest_model();
  const auto bound = [](const auto& frame) { return frame.has_value(); };
  const auto first = std::find_if(known.begin(), known.end(), bound);
  if (first == known.end()) return {rest.begin(), rest.end()};

  // Motion from the rest pose to bind space of the nearest bound joint.
  const auto first_known = static_cast<std::size_t>(first - known.begin());
  std::vector<std::size_t> nearest(skeleton.joints(), first_known);
  std::vector<AffineD> frames;
  for (std::size_t j = 0; j < skeleton.joints(); ++j) {
    const std::uint32_t parent = skeleton.joint(j).parent;
    if (known[j]) {
      nearest[j] = j;
      frames.push_back(*known[j]);
      continue;
    }
    if (parent != kNoParent) nearest[j] = nearest[parent];
    const std::size_t from = nearest[j];
    const std::optional<AffineD> back = TryInverse(rest[from]);
    const AffineD moved = back ? Compose(*known[from], *back)
                               : Translated(Translation(*known[from]) - Translation(rest[from]));
    frames.push_back(Compose(moved, rest[j]));
  }
  return frames;
}

absl::StatusOr<RigWeights> ComputeRigWeights(const RigWeightsInput& input,
                                             const WeightOptions& options,
                                             const Task::Options& task) {
  const Task whole(task);
  SINEW_ASSIGN_OR_RETURN(const std::vector<Group> groups, MakeGroups(input, whole));
  const auto all = static_cast<double>(std::max<std::size_t>(1, input.mesh.positions.size()));
  RigWeights result;
  result.group.resize(input.mesh.parts.size());
  std::vector<InfluenceSource> influences(groups.size());
  // Bytes held regardless of the group, and the results so far.
  const std::size_t held =
      GroupBytes(groups.size(), input.skeleton.joints()) + input.mesh.positions.size() * kRowBytes;
  std::size_t results = 0;
  std::vector<Row> rows(input.mesh.positions.size());
  double before = 0;  // share of the vertices in earlier groups
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::size_t other = held + results + ExtractBytes(input, groups[g].parts);
    SINEW_RETURN_IF_ERROR(whole.CheckMemory(other));
    std::vector<std::uint32_t> vertices;
    SINEW_ASSIGN_OR_RETURN(const Mesh mesh,
                           Mesh::Create(Extract(input.mesh, groups[g].parts, vertices)));
    const std::vector<AffineD> frames = BindFrames(input.skeleton, groups[g].frames);
    const std::vector<Bone> bones =
        Bones(input.skeleton, mesh.diagonal(), frames, {}).ToEachChild(input.carriers);
    if (bones.empty()) return absl::InvalidArgumentError("joints: none is allowed to carry skin");
    const double share = static_cast<double>(vertices.size()) / all;
    Task::Options part = task;
    if (task.progress) {
      part.progress = [&, share, before](double done) { task.progress(before + share * done); };
    }
    Task running(std::move(part));
    SINEW_ASSIGN_OR_RETURN(ComputedWeights computed,
                           ComputeWeights(mesh, bones, options, running, other));
    before += share;
    influences[g] = std::move(computed.influences);
    results += BytesOf(influences[g]);
    for (std::size_t v = 0; v < vertices.size(); ++v) rows[vertices[v]] = {g, v};
    for (const std::uint32_t v : computed.report.unseen) {
      result.report.unseen.push_back(vertices[v]);
    }
    if (std::string note = NoteOnBoneless(input.skeleton, bones, input.carriers); !note.empty()) {
      computed.report.notes.push_back({Severity::kWarning, "joints", std::move(note)});
    }
    for (Problem& note : computed.report.notes) {
      if (std::find(result.report.notes.begin(), result.report.notes.end(), note) ==
          result.report.notes.end()) {
        result.report.notes.push_back(std::move(note));
      }
    }
    for (const std::size_t p : groups[g].parts) {
      result.group[p] = static_cast<std::uint32_t>(g);
    }
    auto& inverse = result.inverse_bind.emplace_back();
    inverse.reserve(frames.size());
    for (const AffineD& frame : frames) inverse.push_back(TryInverse(frame));
  }
  SINEW_RETURN_IF_ERROR(whole.CheckMemory(held + 2 * results));
  result.influences = Merged(influences, rows);
  std::sort(result.report.unseen.begin(), result.report.unseen.end());
  std::vector<bool> carries(input.skeleton.joints(), false);
  for (const std::uint32_t joint : result.influences.bindings) carries[joint] = true;
  for (std::uint32_t j = 0; j < input.skeleton.joints(); ++j) {
    if (input.carriers[j] != 0 && !carries[j]) result.report.idle_joints.push_back(j);
  }
  return result;
}

}  // namespace sinew
