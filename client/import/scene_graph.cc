#include "client/import/scene_graph.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "client/import/placed_mesh.h"
#include "core/base/counted_text.h"
#include "core/base/status.h"

namespace sinew::client {
namespace {

// A target that moves nothing keeps vertex 0: an empty list would mean all vertices.
ShapeTarget MakeSparse(SourceTarget dense) {
  ShapeTarget out{.weight = dense.weight,
                  .offsets = std::move(dense.offsets),
                  .normal_offsets = std::move(dense.normal_offsets)};
  const auto moves = [](const std::vector<float>& offsets, std::size_t v) {
    return offsets[v * 3] != 0 || offsets[v * 3 + 1] != 0 || offsets[v * 3 + 2] != 0;
  };
  const std::size_t vertices = out.offsets.size() / 3;
  for (std::uint32_t v = 0; v < vertices; ++v) {
    if (moves(out.offsets, v) || (!out.normal_offsets.empty() && moves(out.normal_offsets, v))) {
      out.vertices.push_back(v);
    }
  }
  if (out.vertices.size() > vertices - vertices / 4) {
    out.vertices.clear();
    return out;
  }
  if (out.vertices.empty()) out.vertices.push_back(0);
  for (std::vector<float>* offsets : {&out.offsets, &out.normal_offsets}) {
    if (offsets->empty()) continue;
    std::vector<float> kept;
    for (const std::uint32_t v : out.vertices) {
      kept.insert(kept.end(), {(*offsets)[v * 3], (*offsets)[v * 3 + 1], (*offsets)[v * 3 + 2]});
    }
    *offsets = std::move(kept);
  }
  return out;
}

}  // namespace

MeshSize SizeOf(const SourceMesh& source) {
  return {.vertices = source.mesh.vertices(),
          .corners = source.mesh.face_vertices.size(),
          .influences = source.mesh.skin.influence_joints.size(),
          .target_vertices = source.mesh.vertices() * source.targets.size()};
}

absl::Status MeshBudget::Take(const MeshSize& more, const std::string& where) {
  static constexpr std::pair<std::size_t MeshSize::*, const char*> kParts[] = {
      {&MeshSize::vertices, "vertices"},
      {&MeshSize::corners, "corners of faces"},
      {&MeshSize::influences, "influences"},
      {&MeshSize::target_vertices, "vertices of morph targets"}};
  for (const auto& [part, name] : kParts) {
    taken_.*part += more.*part;
    if (taken_.*part <= kMax.*part) continue;
    return InvalidArgument(where, ": ", taken_.*part, " ", name,
                           " with those of the meshes before it, need at most ", kMax.*part);
  }
  return absl::OkStatus();
}

absl::Status SceneBuilder::OrderNodes() {
  const std::size_t count = scene->nodes.size();
  std::vector<std::vector<std::uint32_t>> children(count);
  for (std::uint32_t n = 0; n < count; ++n) {
    const std::int32_t parent = scene->nodes[n].parent;
    (parent < 0 ? scene->order : children[static_cast<std::size_t>(parent)]).push_back(n);
  }
  std::vector<std::uint32_t> depth(count, 0);
  for (std::size_t i = 0; i < scene->order.size(); ++i) {
    const std::uint32_t n = scene->order[i];
    const std::int32_t parent = scene->nodes[n].parent;
    depth[n] = parent < 0 ? 1 : depth[static_cast<std::size_t>(parent)] + 1;
    scene->order.insert(scene->order.end(), children[n].begin(), children[n].end());
  }
  const auto path = [&](auto found) -> const std::string& {
    return scene->nodes[static_cast<std::size_t>(found - depth.begin())].path;
  };
  if (const auto lost = std::ranges::find(depth, 0u); lost != depth.end()) {
    return InvalidArgument(path(lost), ": hangs in a cycle of nodes, need a tree");
  }
  const auto deepest = std::ranges::max_element(depth);
  if (deepest == depth.end() || *deepest <= kMaxNodeDepth) return absl::OkStatus();
  return InvalidArgument(path(deepest), ": nested ", *deepest, " nodes deep, need at most ",
                         kMaxNodeDepth);
}

std::vector<std::int32_t> SceneBuilder::AddJoints(const std::vector<std::uint32_t>& nodes) {
  const std::size_t count = scene->nodes.size();
  std::vector<bool> is_joint(count, false);
  for (const std::uint32_t n : nodes) is_joint[n] = true;
  // Nearest joint above and the matrix down from it, parents first.
  std::vector<std::int32_t> joint_above(count, -1);
  std::vector<AffineD> below(count);
  for (const std::uint32_t n : scene->order) {
    below[n] = scene->nodes[n].Local();
    const std::int32_t parent = scene->nodes[n].parent;
    if (parent < 0) continue;
    const auto p = static_cast<std::size_t>(parent);
    joint_above[n] = is_joint[p] ? parent : joint_above[p];
    if (!is_joint[p]) below[n] = Compose(below[p], below[n]);
  }
  std::vector<std::int32_t> joint_of(count, -1);
  UniqueNames names;
  std::vector<std::uint32_t> chain;
  for (const std::uint32_t wanted : nodes) {
    chain.clear();
    for (auto up = static_cast<std::int32_t>(wanted);
         up >= 0 && joint_of[static_cast<std::size_t>(up)] < 0;
         up = joint_above[static_cast<std::size_t>(up)]) {
      chain.push_back(static_cast<std::uint32_t>(up));
    }
    for (; !chain.empty(); chain.pop_back()) {
      const std::uint32_t n = chain.back();
      const std::size_t index = scene->joint_nodes.size();
      const std::int32_t above = joint_above[n];
      out.rig.joints.push_back(
          {.name = names.Take(scene->nodes[n].name, absl::StrCat("joint_", index)),
           .parent = above < 0 ? -1 : joint_of[static_cast<std::size_t>(above)],
           .source_path = scene->nodes[n].path});
      joint_of[n] = static_cast<std::int32_t>(index);
      scene->joint_nodes.push_back(n);
      const Affine local = ToFloat(below[n]);
      out.rig.rest_local.insert(out.rig.rest_local.end(), local.m.begin(), local.m.end());
    }
  }
  return joint_of;
}

void SceneBuilder::AddMesh(std::uint32_t node, const std::string& name, SourceMesh source) {
  Mesh& mesh = out.rig.meshes.emplace_back(std::move(source.mesh));
  mesh.name = mesh_names_.Take(name, absl::StrCat("mesh_", node));
  mesh.source_path = scene->nodes[node].path;
  scene->nodes[node].first_control = out.rig.controls.size();
  for (SourceTarget& target : source.targets) {
    if (!target.is_next) {
      Control& control = out.rig.controls.emplace_back();
      control.name =
          control_names_.Take(target.name, absl::StrCat(mesh.name, ".target_", mesh.shapes.size()));
      control.default_value = target.default_value;
      mesh.shapes.push_back({.control = control.name, .targets = {}});
    }
    mesh.shapes.back().targets.push_back(MakeSparse(std::move(target)));
  }
  scene->nodes[node].controls = mesh.shapes.size();
  if (rest_global_.empty()) rest_global_ = PoseAtRest(*scene, out.rig).global;
  const AffineD& world = rest_global_[node];
  out.mesh_extras.push_back({.object_to_scene = world.m,
                             .corner_uvs = std::move(source.corner_uvs),
                             .blender_vertices = std::move(source.blender_vertices)});
  if (mesh.skin.empty()) PlaceMesh(world, mesh, out.mesh_extras.back().corner_uvs);
}

void SceneBuilder::MarkMeshProblems(std::size_t first) {
  for (std::size_t i = first; i < out.problems.size(); ++i) out.problems[i].of_meshes = true;
}

void SceneBuilder::ReportHidden(const std::vector<std::uint32_t>& nodes) {
  if (nodes.empty()) return;
  out.problems.push_back(
      {Severity::kWarning,
       absl::StrCat(
           "the file hides this mesh",
           nodes.size() == 1
               ? ", which is"
               : absl::StrCat(" and ", CountedText(nodes.size() - 1, "other"), ", which are"),
           " read all the same; delete what is not part of the character"),
       scene->nodes[nodes.front()].path});
}

void SceneBuilder::AddClip(const std::string& name, const std::string& path, SourceClip clip,
                           double end) {
  const auto target = [](const Track& t) { return std::tuple(t.node, t.property); };
  std::ranges::stable_sort(clip, {}, target);
  const auto repeats = std::unique(clip.begin(), clip.end(), [&](const Track& a, const Track& b) {
    return target(a) == target(b);
  });
  if (repeats != clip.end()) {
    out.problems.push_back(Lost(CountedText(static_cast<std::uint64_t>(clip.end() - repeats),
                                            "channel that animates a property a second time",
                                            "channels that animate a property a second time"),
                                path));
    clip.erase(repeats, clip.end());
  }
  ClipInfo info{.name = name, .end = end};
  info.channels = clip.size();
  for (const Track& track : clip) {
    const bool first = &track == &clip.front();
    info.start = first ? track.times.front() : std::min(info.start, track.times.front());
    info.end = std::max(info.end, track.times.back());
    info.keys = std::max(info.keys, track.times.size());
  }
  AddClip(std::move(info), std::make_shared<TrackMotion>(std::move(clip)));
}

void SceneBuilder::AddClip(ClipInfo info, std::shared_ptr<const Motion> motion) {
  info.name = clip_names_.Take(info.name, absl::StrCat("clip_", out.clips.size()));
  out.clips.push_back(std::move(info));
  scene->clips.push_back(std::move(motion));
}

absl::Status CheckTrack(const Track& track, const std::string& where) {
  const std::size_t n = track.times.size();
  if (n == 0) return InvalidArgument(where, ": no keys, need at least one");
  const bool cubic = track.interpolation == Interpolation::kCubic;
  const std::size_t per_key = track.width * (cubic ? 3 : 1);
  if (track.values.size() != n * per_key) {
    return InvalidArgument(where, ": ", CountedText(track.values.size(), "number"), " for ",
                           CountedText(n, "key"), ", need ", n * per_key);
  }
  for (std::size_t k = 0; k < n; ++k) {
    if (!std::isfinite(track.times[k]) || (k > 0 && track.times[k] < track.times[k - 1])) {
      return InvalidArgument(where, ": the time of key ", k, " is ", track.times[k],
                             ", need finite times that do not fall");
    }
    const double* key = track.values.data() + k * per_key;
    if (!std::all_of(key, key + per_key, [](double value) { return std::isfinite(value); })) {
      return InvalidArgument(where, ": key ", k, " is not finite");
    }
    if (track.property != TrackProperty::kRotation) continue;
    const double* q = key + (cubic ? track.width : 0);
    if (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] < 1e-12) {
      return InvalidArgument(where, ": the rotation of key ", k, " is zero");
    }
  }
  return absl::OkStatus();
}

}  // namespace sinew::client
