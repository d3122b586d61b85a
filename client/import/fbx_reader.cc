#include "client/import/fbx_reader.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "client/import/fbx_document.h"
#include "client/import/fbx_mesh.h"
#include "client/import/fbx_motion.h"
#include "client/import/rigid_mesh.h"
#include "client/import/scene_graph.h"
#include "core/base/counted_text.h"
#include "core/base/status.h"

namespace sinew::client {
namespace {

constexpr double kMovedShare = 1e-4;  // of the size of a mesh; less is rounding of its matrices

// Turns an FBX scene into nodes, joints, meshes and clips; one use.
class FbxSceneReader {
 public:
  FbxSceneReader(FbxScene scene, bool allow_no_skin, std::vector<Problem> problems)
      : scene_(std::move(scene)), allow_no_skin_(allow_no_skin) {
    out_.problems = std::move(problems);
  }

  absl::StatusOr<ImportedScene> Read() {
    ReadUnits();
    SINEW_RETURN_IF_ERROR(ReadNodes());
    FindAnimatedNodes();
    const std::size_t first = out_.problems.size();
    FindMeshes();
    AddJoints();
    SINEW_RETURN_IF_ERROR(ReadMeshes());
    builder_.MarkMeshProblems(first);
    AddFbxClips(scene_, std::move(channels_), builder_);
    ReportConstraints();
    const bool text = scene_->metadata.ascii;
    out_.format = text ? "FBX text" : "FBX";
    return std::move(out_);
  }

 private:
  struct ShownMesh {
    const ufbx_node* node;
    const ufbx_mesh* mesh;
    Carrier carrier;  // if no skin moves it
  };

  const ufbx_node& NodeAt(std::uint32_t n) const { return *scene_->nodes.data[n]; }

  void ReadUnits() {
    const ufbx_scene_settings& settings = scene_->settings;
    const double meters = settings.unit_meters;
    out_.rig.meters_per_unit = std::isfinite(meters) && meters > 0 ? meters : 0.01;
    out_.rig.up_axis = settings.axes.up == UFBX_COORDINATE_AXIS_POSITIVE_Y   ? UpAxis::kY
                       : settings.axes.up == UFBX_COORDINATE_AXIS_POSITIVE_Z ? UpAxis::kZ
                                                                             : UpAxis::kUnspecified;
  }

  absl::Status ReadNodes() {
    for (std::size_t n = 0; n < scene_->nodes.count; ++n) {
      const ufbx_node& node = *scene_->nodes.data[n];
      SceneNode& made = builder_.scene->nodes.emplace_back();
      made.name = node.is_root ? "scene" : ToString(node.name);
      made.path = absl::StrCat("node '", made.name, "'");
      made.parent = node.parent == nullptr ? -1 : static_cast<std::int32_t>(node.parent->typed_id);
      made.matrix = FbxLocalMatrix(node);
    }
    return builder_.OrderNodes();
  }

  // A node counts as animated if a property of it can take a value other than that at rest.
  void FindAnimatedNodes() {
    is_animated_.resize(scene_->nodes.count);
    for (const ufbx_anim_stack* stack : scene_->anim_stacks) {
      for (std::size_t l = 0; l < stack->layers.count; ++l) {
        const ufbx_anim_layer& layer = *stack->layers.data[l];
        // The values of the first layer count as they are; those of others may be added to them.
        const bool adds = l > 0 && layer.additive;
        for (const ufbx_anim_prop& prop : layer.anim_props) {
          if (prop.element->type != UFBX_ELEMENT_NODE) continue;
          if (adds || !StaysAtRest(prop)) is_animated_[prop.element->typed_id] = true;
        }
      }
    }
  }

  static bool StaysAtRest(const ufbx_anim_prop& prop) {
    const ufbx_vec3 rest =
        ufbx_find_vec3(&prop.element->props, prop.prop_name.data, ufbx_zero_vec3);
    const ufbx_anim_value& value = *prop.anim_value;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const ufbx_anim_curve* curve = value.curves[axis];
      if (curve == nullptr || curve->keyframes.count == 0) {
        if (value.default_value.v[axis] != rest.v[axis]) return false;
        continue;
      }
      for (const ufbx_keyframe& key : curve->keyframes) {
        // Between equal keys, a curve with slopes leaves their value.
        if (key.value != rest.v[axis] || key.left.dy != 0 || key.right.dy != 0) return false;
      }
    }
    return true;
  }

  void FindMeshes() {
    for (std::uint32_t n = 0; n < scene_->nodes.count; ++n) {
      for (const ufbx_element* attribute : NodeAt(n).all_attribs) {
        if (attribute->type != UFBX_ELEMENT_MESH) continue;
        const auto* mesh = ufbx_as_mesh(attribute);
        if (mesh->num_vertices == 0 || mesh->num_triangles == 0) {
          out_.problems.push_back(Lost("a mesh without faces", builder_.scene->nodes[n].path));
          continue;
        }
        meshes_.push_back({.node = &NodeAt(n), .mesh = mesh, .carrier = {}});
        has_skin_ |= FbxSkin(*mesh) != nullptr;
      }
    }
  }

  // Joints are the nodes that skins name, in the order of the node tree; in a file without skins,
  // the bones. Behind them come the nodes of meshes that no joint carries.
  void AddJoints() {
    std::vector<bool> is_joint(scene_->nodes.count, false);
    if (has_skin_) {
      for (const ShownMesh& shown : meshes_) {
        if (FbxSkin(*shown.mesh) == nullptr) continue;
        for (const ufbx_skin_cluster* cluster : FbxSkin(*shown.mesh)->clusters) {
          is_joint[cluster->bone_node->typed_id] = true;
        }
      }
    } else {
      for (const ufbx_node* node : scene_->nodes) {
        is_joint[node->typed_id] = node->attrib_type == UFBX_ELEMENT_BONE;
      }
    }
    std::vector<std::uint32_t> wanted;
    std::vector<const ufbx_node*> open = {scene_->root_node};
    while (!open.empty()) {
      const ufbx_node* node = open.back();
      open.pop_back();
      if (is_joint[node->typed_id]) wanted.push_back(node->typed_id);
      for (std::size_t c = node->children.count; c-- > 0;) open.push_back(node->children.data[c]);
    }
    if (has_skin_) AddCarriers(is_joint, wanted);
    joint_of_node_ = builder_.AddJoints(wanted);
  }

  // A node that does not inherit its parent's scale moves against it when that changes.
  void AddCarriers(std::vector<bool>& is_joint, std::vector<std::uint32_t>& wanted) {
    std::vector<bool> moves_alone = is_animated_;
    for (const ufbx_node* node : scene_->nodes) {
      if (node->inherit_mode != UFBX_INHERIT_MODE_NORMAL) moves_alone[node->typed_id] = true;
    }
    const std::vector<Carrier> carriers = FindCarriers(*builder_.scene, is_joint, moves_alone);
    for (ShownMesh& shown : meshes_) {
      if (FbxSkin(*shown.mesh) != nullptr) continue;
      shown.carrier = carriers[shown.node->typed_id];
      if (!is_joint[shown.carrier.node]) wanted.push_back(shown.carrier.node);
      is_joint[shown.carrier.node] = true;
    }
  }

  // Visibility hides a node and what inherits it below, Show and a display layer a node alone.
  std::vector<std::uint32_t> HiddenMeshes() const {
    std::vector<bool> invisible(scene_->nodes.count), hidden(scene_->nodes.count);
    for (const std::uint32_t n : builder_.scene->order) {
      const ufbx_node& node = NodeAt(n);
      const bool inherits = ufbx_find_bool(&node.props, "Visibility Inheritance", true);
      invisible[n] =
          !node.visible || (inherits && node.parent != nullptr && invisible[node.parent->typed_id]);
      hidden[n] = invisible[n] || !ufbx_find_bool(&node.props, "Show", true);
    }
    for (const ufbx_display_layer* layer : scene_->display_layers) {
      if (layer->visible) continue;
      for (const ufbx_node* node : layer->nodes) hidden[node->typed_id] = true;
    }
    std::vector<std::uint32_t> found;
    for (const ShownMesh& shown : meshes_) {
      if (hidden[shown.node->typed_id]) found.push_back(shown.node->typed_id);
    }
    return found;
  }

  absl::Status ReadMeshes() {
    if (!has_skin_ && !allow_no_skin_) return absl::OkStatus();
    for (const ShownMesh& shown : meshes_) {
      const std::uint32_t n = shown.node->typed_id;
      const std::string& path = builder_.scene->nodes[n].path;
      SINEW_ASSIGN_OR_RETURN(FbxMesh mesh,
                             ReadFbxMesh(*shown.mesh, *shown.node, joint_of_node_, path, builder_));
      if (mesh.source.mesh.face_vertices.empty()) {
        out_.problems.push_back(Lost("a mesh without faces", path));
        continue;
      }
      if (FbxSkin(*shown.mesh) != nullptr) {
        ReportOwnMotion(shown);
      } else if (has_skin_) {
        const std::int32_t joint = joint_of_node_[shown.carrier.node];
        BindToCarrier(shown.carrier, static_cast<std::uint32_t>(joint), 0, mesh.source.mesh);
        out_.problems.push_back(
            {Severity::kInfo,
             absl::StrCat("a mesh without skin, which follows the joint '",
                          out_.rig.joints[static_cast<std::size_t>(joint)].name, "'"),
             path});
      }
      channels_.insert(channels_.end(), mesh.channels.begin(), mesh.channels.end());
      const std::string& name = builder_.scene->nodes[n].name;
      builder_.AddMesh(n, name.empty() ? ToString(shown.mesh->name) : name, std::move(mesh.source));
    }
    builder_.ReportHidden(HiddenMeshes());
    return absl::OkStatus();
  }

  void ReportConstraints() {
    const auto active = std::ranges::count_if(
        scene_->constraints, [](const ufbx_constraint* constraint) { return constraint->active; });
    if (active == 0) return;
    out_.problems.push_back(
        Lost(absl::StrCat(CountedText(static_cast<std::uint64_t>(active), "constraint, which is",
                                      "constraints, which are"),
                          " not evaluated: bake motion into keys when the file is exported"),
             "constraints"));
  }

  // Maya moves a skinned mesh by its node on top of its joints; FBX and other programs do not.
  void ReportOwnMotion(const ShownMesh& shown) {
    bool moves = false;
    for (const ufbx_node* up = shown.node; up != nullptr && !moves; up = up->parent) {
      moves = is_animated_[up->typed_id];
    }
    if (!moves && !HasLeftBindPose(shown)) return;
    out_.problems.push_back(
        {Severity::kWarning,
         absl::StrCat("its node ", moves ? "is animated" : "has moved since the bind",
                      ", but a skinned mesh follows its joints alone; Maya's view adds the node's "
                      "motion"),
         builder_.scene->nodes[shown.node->typed_id].path});
  }

  static bool HasLeftBindPose(const ShownMesh& shown) {
    const ufbx_skin_cluster& cluster = *FbxSkin(*shown.mesh)->clusters.data[0];
    const AffineD bound =
        Compose(FbxMatrix(cluster.bind_to_world), FbxMatrix(cluster.mesh_node_to_bone));
    const AffineD now = FbxMatrix(shown.node->node_to_world);
    double size = 0, moved = 0;
    for (const ufbx_vec3& v : shown.mesh->vertices) {
      const Vec3d a = Apply(bound, {v.x, v.y, v.z}), b = Apply(now, {v.x, v.y, v.z});
      const ufbx_vec3& first = shown.mesh->vertices.data[0];
      const Vec3d origin = Apply(now, {first.x, first.y, first.z});
      size = std::max(size, Dot(b - origin, b - origin));
      moved = std::max(moved, Dot(a - b, a - b));
    }
    return moved > kMovedShare * kMovedShare * size;
  }

  const FbxScene scene_;
  const bool allow_no_skin_;
  SceneBuilder builder_;
  ImportedScene& out_ = builder_.out;
  std::vector<ShownMesh> meshes_;  // by rising node index
  bool has_skin_ = false;
  std::vector<bool> is_animated_;            // [nodes]
  std::vector<std::int32_t> joint_of_node_;  // [nodes]
  std::vector<std::uint32_t> channels_;      // [K]
};

}  // namespace

absl::StatusOr<ImportedScene> ReadFbx(const std::string& bytes, const ImportOptions& options) {
  std::vector<Problem> problems;
  SINEW_ASSIGN_OR_RETURN(FbxScene scene, LoadFbx(bytes, problems));
  return FbxSceneReader(std::move(scene), options.allow_no_skin, std::move(problems)).Read();
}

}  // namespace sinew::client
