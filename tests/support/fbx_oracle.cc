#include "tests/support/fbx_oracle.h"

#include <absl/strings/str_cat.h>
#include <ufbx.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "tests/support/linear_blend.h"

namespace sinew::testing {
namespace {

using Scene = std::unique_ptr<ufbx_scene, void (*)(ufbx_scene*)>;

// Linear between 0 and neighbouring targets, and beyond the last.
void AddShape(const client::Shape& shape, double value, std::vector<float>& positions) {
  const auto at = [&](std::size_t t) { return static_cast<double>(shape.targets[t].weight); };
  std::size_t next = 0;
  while (next + 1 < shape.targets.size() && at(next) < value) ++next;
  const double before = next == 0 ? 0 : at(next - 1);
  const double share = (value - before) / (at(next) - before);
  const auto add = [&](const client::ShapeTarget& target, double strength) {
    for (std::size_t i = 0; i * 3 < target.offsets.size(); ++i) {
      const std::size_t v = target.vertices.empty() ? i : target.vertices[i];
      for (std::size_t c = 0; c < 3; ++c) {
        positions[v * 3 + c] += static_cast<float>(strength * double{target.offsets[i * 3 + c]});
      }
    }
  };
  add(shape.targets[next], share);
  if (next > 0) add(shape.targets[next - 1], 1 - share);
}

std::vector<Point> Expected(const ufbx_node& node, const ufbx_mesh& mesh) {
  std::vector<Point> out;
  for (std::size_t v = 0; v < mesh.num_vertices; ++v) {
    ufbx_vec3 p = mesh.skinned_position.values.data[v];
    if (mesh.skinned_is_local) p = ufbx_transform_position(&node.geometry_to_world, p);
    out.push_back({p.x, p.y, p.z});
  }
  return out;
}

double Diagonal(const std::vector<Point>& points) {
  Point low = points.at(0), high = points.at(0);
  for (const Point& p : points) {
    for (std::size_t c = 0; c < 3; ++c) {
      low[c] = std::min(low[c], p[c]);
      high[c] = std::max(high[c], p[c]);
    }
  }
  return std::hypot(high[0] - low[0], high[1] - low[1], high[2] - low[2]);
}

// The node and mesh that a mesh of the rig was made from: those with faces, in the file's order.
std::vector<std::pair<const ufbx_node*, const ufbx_mesh*>> Shown(const ufbx_scene& scene) {
  std::vector<std::pair<const ufbx_node*, const ufbx_mesh*>> shown;
  for (const ufbx_node* node : scene.nodes) {
    for (const ufbx_element* attribute : node->all_attribs) {
      const ufbx_mesh* mesh = ufbx_as_mesh(attribute);
      if (mesh != nullptr && mesh->num_triangles > 0) shown.emplace_back(node, mesh);
    }
  }
  return shown;
}

}  // namespace

absl::StatusOr<FbxDeviation> DeviationFromUfbx(const std::string& bytes,
                                               const client::ImportedScene& scene, double fps,
                                               std::int64_t most) {
  const ufbx_load_opts options = {};
  const Scene file(ufbx_load_memory(bytes.data(), bytes.size(), &options, nullptr),
                   ufbx_free_scene);
  if (file == nullptr) return absl::InvalidArgumentError("ufbx cannot read it");
  ufbx_evaluate_opts evaluate = {};
  evaluate.evaluate_skinning = true;
  FbxDeviation out;
  for (std::size_t c = 0; c < scene.clips.size(); ++c) {
    const ufbx_anim_stack& stack = *file->anim_stacks.data[c];
    const std::int64_t last = client::ClipFrames(scene.clips[c], fps) - 1;
    const std::int64_t step = most > 0 ? std::max<std::int64_t>(1, last / most) : 1;
    const auto clip = client::SampleClip(scene, c, {.fps = fps, .last_frame = last, .step = step});
    if (!clip.ok()) return clip.status();
    for (std::size_t i = 0; i < clip->frames; ++i) {
      const double seconds = stack.time_begin + clip->FrameNumber(i) / fps;
      const Scene posed(ufbx_evaluate_scene(file.get(), stack.anim, seconds, &evaluate, nullptr),
                        ufbx_free_scene);
      const auto shown = Shown(*posed);
      if (shown.size() != scene.rig.meshes.size()) {
        return absl::InternalError(
            absl::StrCat(scene.rig.meshes.size(), " meshes, the file has ", shown.size()));
      }
      std::vector<Point> want;
      double distance = 0;
      for (std::size_t m = 0; m < shown.size(); ++m) {
        client::Mesh mesh = scene.rig.meshes[m];
        for (const client::Shape& shape : mesh.shapes) {
          const auto control =
              std::ranges::find(scene.rig.controls, shape.control, &client::Control::name);
          const auto k = static_cast<std::size_t>(control - scene.rig.controls.begin());
          AddShape(shape, double{clip->controls[i * scene.rig.controls.size() + k]},
                   mesh.positions);
        }
        const std::vector<Point> got = LinearBlend(scene.rig, mesh, *clip, i);
        const std::vector<Point> right = Expected(*shown[m].first, *shown[m].second);
        if (got.size() != right.size()) return absl::InternalError("another number of vertices");
        for (std::size_t v = 0; v < got.size(); ++v) {
          distance = std::max(distance, std::hypot(got[v][0] - right[v][0], got[v][1] - right[v][1],
                                                   got[v][2] - right[v][2]));
        }
        want.insert(want.end(), right.begin(), right.end());
      }
      out.worst = std::max(out.worst, distance / Diagonal(want));
      out.vertices += want.size();
      ++out.frames;
    }
  }
  return out;
}

}  // namespace sinew::testing
