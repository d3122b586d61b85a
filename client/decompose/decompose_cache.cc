#include "client/decompose/decompose_cache.h"

#include <absl/strings/str_cat.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "client/bake/base/errors.h"
#include "client/bake/files/animation_file.h"
#include "client/rig/core_parts.h"
#include "client/rig/rest_pose.h"
#include "core/base/status.h"
#include "core/mesh/mesh.h"

namespace sinew::bake {
namespace {

constexpr std::size_t kPlaceBytes = 40;  // of a vertex in a frame: as read, turned and measured

void AddJoints(const Decomposition& result, client::RigData& rig) {
  rig.joints.clear();
  rig.rest_local.clear();
  for (std::size_t j = 0; j < result.parents.size(); ++j) {
    const bool is_root = result.parents[j] == kNoJoint;
    const Vec3f parent = is_root ? Vec3f{} : result.places[result.parents[j]];
    const Vec3f& at = result.places[j];
    rig.joints.push_back({.name = is_root ? "root" : absl::StrCat("joint_", j),
                          .parent = is_root ? -1 : static_cast<std::int32_t>(result.parents[j])});
    for (const float x : {1.0F, 0.0F, 0.0F, at.x - parent.x, 0.0F, 1.0F, 0.0F, at.y - parent.y,
                          0.0F, 0.0F, 1.0F, at.z - parent.z}) {
      rig.rest_local.push_back(x);
    }
  }
}

// The skin of the vertices that begin at `first`.
client::Skin SkinOf(const Decomposition& result, std::size_t first, std::size_t vertices) {
  client::Skin skin;
  for (std::uint32_t j = 0; j < result.places.size(); ++j) {
    const Vec3f& at = result.places[j];
    skin.joints.push_back(j);
    for (const float x :
         {1.0F, 0.0F, 0.0F, -at.x, 0.0F, 1.0F, 0.0F, -at.y, 0.0F, 0.0F, 1.0F, -at.z}) {
      skin.inverse_bind.push_back(x);
    }
  }
  for (std::size_t v = first; v < first + vertices; ++v) {
    const auto row = result.weights.row(v);
    skin.influence_counts.push_back(static_cast<std::uint32_t>(row.size()));
    for (const auto& w : row) {
      skin.influence_joints.push_back(w.joint);
      skin.influence_weights.push_back(static_cast<float>(w.weight));
    }
  }
  return skin;
}

client::RigData MakeRig(const client::RigData& source, const client::Mesh& rest,
                        const Decomposition& result) {
  client::RigData rig = source;
  rig.controls.clear();
  rig.muscles.clear();
  AddJoints(result, rig);
  std::size_t first = 0;
  for (client::Mesh& mesh : rig.meshes) {
    const auto begin = rest.positions.begin() + static_cast<std::ptrdiff_t>(first * 3);
    const auto end = begin + static_cast<std::ptrdiff_t>(mesh.positions.size());
    if (!std::equal(begin, end, mesh.positions.begin())) {  // directions of another pose
      mesh.normals.clear();
      mesh.tangents.clear();
    }
    mesh.positions.assign(begin, end);
    mesh.shapes.clear();
    mesh.maps.clear();
    mesh.skin = SkinOf(result, first, mesh.vertices());
    first += mesh.vertices();
  }
  return rig;
}

// Most of the machine's memory.
std::size_t MemoryLimit() {
  return static_cast<std::size_t>(0.6 * static_cast<double>(::sysconf(_SC_PHYS_PAGES)) *
                                  static_cast<double>(::sysconf(_SC_PAGESIZE)));
}

}  // namespace

absl::StatusOr<DecomposedCache> DecomposeCache(const std::string& cache, const CharacterFile& rest,
                                               const DecomposeOptions& options,
                                               const Monitor& monitor) {
  const client::Mesh merged = client::MergedMesh(rest.rig);
  SINEW_ASSIGN_OR_RETURN(const Mesh mesh, client::CoreMesh(merged));
  const std::uint64_t most = std::min(kMaxAnimationPlaces, MemoryLimit() / kPlaceBytes);
  SINEW_ASSIGN_OR_RETURN(const Animation read, ReadAnimation(cache, merged, most, monitor));
  const std::span<const Vec3f> places = client::PointsOf(read.points.values);
  const MeshAnimation animation = {.rest = &mesh, .frames = read.points.frames, .places = places};
  const auto line = monitor.MakeProgress("Decompose");
  const Task::Options task = {.stop = monitor.call().stop,
                              .memory_limit = MemoryLimit(),
                              .progress = [line](double part) { line->Update(part); }};
  SINEW_ASSIGN_OR_RETURN(Decomposition result, Decompose(animation, options, task));

  DecomposedCache decomposed;
  decomposed.rig = MakeRig(rest.rig, merged, result);
  decomposed.frames = animation.frames;
  decomposed.diagonal = mesh.diagonal();
  decomposed.error = MeasureDecomposition(animation, result, Task(task));
  SINEW_RETURN_IF_ERROR(monitor.CheckStop());
  decomposed.iterations = std::move(result.errors);
  decomposed.connected_iterations = std::move(result.connected_errors);
  decomposed.gap = result.gap;
  for (const client::Problem& problem : read.problems) {
    decomposed.problems.push_back({Severity::kWarning, problem.field, problem.message});
  }
  std::ranges::move(result.warnings, std::back_inserter(decomposed.problems));
  for (const AffineD& pose : result.poses) {
    const Affine rounded = ToFloat(pose);
    decomposed.poses.insert(decomposed.poses.end(), rounded.m.begin(), rounded.m.end());
  }
  decomposed.fps = read.fps;
  decomposed.frame_numbers = read.frame_numbers;
  return decomposed;
}

}  // namespace sinew::bake
