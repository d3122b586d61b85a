#include "core/rig/rig.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/digest.h"
#include "core/base/median.h"
#include "core/base/status.h"
#include "core/rig/bind_pose.h"
#include "core/rig/muscle_size.h"
#include "core/rig/point_weights.h"

namespace sinew {
namespace {

constexpr std::size_t kMaxBindings = 65535;  // tables store them in 16 bits

absl::Status CheckBindings(std::span<const Binding> bindings, std::size_t joints) {
  if (bindings.empty() || bindings.size() > kMaxBindings) {
    return InvalidArgument("rig.meshes.skin.joints: got ", bindings.size(),
                           " bindings over all meshes, need 1 to ", kMaxBindings);
  }
  for (std::size_t e = 0; e < bindings.size(); ++e) {
    if (bindings[e].joint >= joints) {
      return InvalidArgument("rig.meshes.skin.joints: got ", bindings[e].joint, ", need less than ",
                             joints);
    }
    for (const double value : bindings[e].inverse_bind.m) {
      if (!std::isfinite(value)) {
        return InvalidArgument("rig.meshes.skin.inverse_bind: row ", e, " is not finite");
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CheckControls(std::span<const Control> controls) {
  std::set<std::string_view> names;
  for (std::size_t k = 0; k < controls.size(); ++k) {
    const Control& control = controls[k];
    const std::string field = absl::StrCat("rig.controls[", k, "]");
    if (control.name.empty() || !names.insert(control.name).second) {
      return InvalidArgument(field, ".name: got '", control.name,
                             "', need a non-empty, unique name");
    }
    if (!std::isfinite(control.minimum) || !std::isfinite(control.maximum) ||
        !(control.minimum <= control.default_value && control.default_value <= control.maximum)) {
      return InvalidArgument(field, ": got minimum ", control.minimum, ", default ",
                             control.default_value, ", maximum ", control.maximum,
                             ", need finite values in ascending order");
    }
  }
  return absl::OkStatus();
}

bool Finite(std::span<const Vec3f> values) {
  for (const Vec3f& v : values) {
    if (!std::isfinite(v.x) || !std::isfinite(v.y) || !std::isfinite(v.z)) return false;
  }
  return true;
}

absl::Status CheckTarget(const ShapeTarget& target, const std::string& field,
                         std::size_t vertices) {
  // The weight is the control value at which the target is fully on; 0 is rest.
  if (!std::isfinite(target.weight) || target.weight == 0) {
    return InvalidArgument(field, ".weight: got ", target.weight,
                           ", need a finite value other than 0");
  }
  if (target.offsets.size() != target.vertices.size() ||
      (!target.normal_offsets.empty() && target.normal_offsets.size() != target.vertices.size())) {
    return InvalidArgument(field, ": got ", target.vertices.size(), " vertices, ",
                           target.offsets.size(), " offsets and ", target.normal_offsets.size(),
                           " normal offsets");
  }
  for (std::size_t i = 0; i < target.vertices.size(); ++i) {
    if (target.vertices[i] >= vertices || (i > 0 && target.vertices[i] <= target.vertices[i - 1])) {
      return InvalidArgument(field, ".vertices: entry ", i, " is ", target.vertices[i],
                             ", need ascending indices below ", vertices);
    }
  }
  if (!Finite(target.offsets) || !Finite(target.normal_offsets)) {
    return InvalidArgument(field, ".offsets: not finite");
  }
  return absl::OkStatus();
}

absl::Status CheckShapes(std::span<const Shape> shapes, std::size_t controls,
                         std::size_t vertices) {
  for (std::size_t s = 0; s < shapes.size(); ++s) {
    const std::string field = absl::StrCat("rig.meshes.shapes[", s, "]");
    if (shapes[s].control >= controls) {
      return InvalidArgument(field, ".control: no such control");
    }
    if (shapes[s].targets.empty()) {
      return InvalidArgument(field, ".targets: is empty");
    }
    for (std::size_t t = 0; t < shapes[s].targets.size(); ++t) {
      const ShapeTarget& target = shapes[s].targets[t];
      SINEW_RETURN_IF_ERROR(
          CheckTarget(target, absl::StrCat(field, ".targets[", t, "]"), vertices));
      if (t > 0 && !(target.weight > shapes[s].targets[t - 1].weight)) {
        return InvalidArgument(field, ".targets[", t, "].weight: need ascending weights");
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CheckMaps(std::span<const VertexMap> maps, std::size_t vertices) {
  std::set<std::string_view> names;
  for (const VertexMap& map : maps) {
    if (map.name.empty() || map.name.find('"') != std::string::npos ||
        !names.insert(map.name).second) {
      return InvalidArgument("rig.meshes.maps: got '", map.name,
                             "', need a non-empty, unique name without quotation marks");
    }
    if (map.values.size() != vertices) {
      return InvalidArgument("rig.meshes.maps.", map.name, ": got ", map.values.size(),
                             " values, need ", vertices);
    }
    for (const float value : map.values) {
      if (!std::isfinite(value)) {
        return InvalidArgument("rig.meshes.maps.", map.name, ": not finite");
      }
    }
  }
  return absl::OkStatus();
}

// Bind scales closer to 1 are attributed to rounding.
constexpr double kScaleRounding = 1e-3;

// Scale from bind space to the rest pose: the median over the vertices of their strongest bindings'
// scales. 1 if the two agree, or if the bindings are too inconsistent.
double BindScale(const Skeleton& skeleton, std::span<const Binding> bindings,
                 const Influences& influences) {
  std::vector<double> of_binding;
  for (const Binding& binding : bindings) {
    const Mat3d rest = Linear(Compose(skeleton.rest_model()[binding.joint], binding.inverse_bind));
    of_binding.push_back(std::cbrt(std::abs(Determinant(rest))));
  }
  std::vector<double> scales;
  for (std::size_t v = 0; v < influences.vertices(); ++v) {
    scales.push_back(of_binding[influences.bindings(v).front()]);
  }
  if (scales.empty()) return 1;
  const double scale = Median(scales);
  const bool sensible = scale > 1e-9 && scale < 1e9;
  return sensible && std::abs(scale - 1) > kScaleRounding ? scale : 1;
}

// Converts a mesh stored in other units than its skeleton (inverse bind matrices that scale),
// because methods for rigid joints need rigid joints. The product of inverse bind and position is
// unchanged.
void Rescale(double scale, RigSource& source) {
  const auto stretch = [scale](std::vector<Vec3f>& values) {
    for (Vec3f& v : values) v = ToFloat(scale * ToDouble(v));
  };
  stretch(source.mesh.positions);
  for (Shape& shape : source.shapes) {
    for (ShapeTarget& target : shape.targets) stretch(target.offsets);
  }
  JointCoefficients& extra = source.coefficients;
  for (std::size_t i = 0; i < extra.values.size(); ++i) {
    if (i % 4 != 3) extra.values[i] = static_cast<float>(scale * double{extra.values[i]});
  }
  for (Binding& binding : source.bindings) {
    for (std::size_t i = 0; i < 12; ++i) {
      if (i % 4 != 3) binding.inverse_bind.m[i] /= scale;
    }
  }
}

void Add(Sha256& digest, std::string_view name) {
  digest.UpdateArray(std::span<const char>(name.data(), name.size()));
}

template <class T>
void AddValue(Sha256& digest, const T& value) {
  digest.UpdateArray(std::span<const T>(&value, 1));
}

}  // namespace

absl::StatusOr<Rig> Rig::Create(RigSource source) {
  SINEW_ASSIGN_OR_RETURN(Skeleton skeleton,
                         Skeleton::Create(std::move(source.joints), std::move(source.rest_local)));
  SINEW_RETURN_IF_ERROR(CheckBindings(source.bindings, skeleton.joints()));
  SINEW_ASSIGN_OR_RETURN(Influences influences,
                         Influences::Create(std::move(source.influences), source.bindings.size()));
  if (const double scale = BindScale(skeleton, source.bindings, influences); scale != 1) {
    Rescale(scale, source);
  }
  SINEW_ASSIGN_OR_RETURN(Mesh mesh, Mesh::Create(std::move(source.mesh)));
  if (influences.vertices() != mesh.vertices()) {
    return InvalidArgument("rig.meshes.skin.influence_counts: got ", influences.vertices(),
                           " rows, need one per vertex (", mesh.vertices(), ")");
  }
  SINEW_RETURN_IF_ERROR(
      source.coefficients.Check(mesh.vertices(), source.bindings.size(), mesh.diagonal()));
  SINEW_RETURN_IF_ERROR(CheckControls(source.controls));
  SINEW_RETURN_IF_ERROR(CheckShapes(source.shapes, source.controls.size(), mesh.vertices()));
  SINEW_RETURN_IF_ERROR(CheckMaps(source.maps, mesh.vertices()));
  SINEW_ASSIGN_OR_RETURN(
      MuscleTables muscle_tables,
      MuscleTables::Create(source.muscles, skeleton.rest_model(), source.controls.size()));
  SINEW_RETURN_IF_ERROR(CheckMuscleSizes(source.muscles, muscle_tables, mesh.diagonal()));
  std::optional<Influences> united;
  // Rows of one binding are equal or have nothing in common. Threads are for binds and frames.
  if (influences.max_per_vertex() > 1) {
    united = PointWeights(influences, Weld(mesh, Task({.parallel = false})));
  }
  Rig rig(std::move(mesh), std::move(skeleton), std::move(influences));
  if (united) {
    rig.own_influences_ = std::exchange(rig.influences_, *std::move(united));
  }
  rig.bindings_ = std::move(source.bindings);
  rig.coefficients_ = std::move(source.coefficients);
  rig.controls_ = std::move(source.controls);
  rig.shapes_ = std::move(source.shapes);
  rig.maps_ = std::move(source.maps);
  rig.muscles_ = std::move(source.muscles);
  rig.muscle_tables_ = std::move(muscle_tables);
  rig.joint_rank_.resize(rig.joints());
  std::uint32_t rank = 0;
  for (const std::uint32_t joint : JointsByPlace(rig.skeleton_, BindPose(rig))) {
    rig.joint_rank_[joint] = rank++;
  }

  Sha256 digest;
  digest.UpdateArray(rig.mesh_.positions());
  digest.UpdateArray(rig.mesh_.face_offsets());
  digest.UpdateArray(rig.mesh_.face_vertices());
  digest.UpdateArray(rig.mesh_.normals());
  digest.UpdateArray(rig.mesh_.tangents());
  digest.UpdateArray(rig.mesh_.weld());
  for (std::size_t j = 0; j < rig.skeleton_.joints(); ++j) {
    const SkeletonJoint& joint = rig.skeleton_.joint(j);
    AddValue(digest, joint.parent);
    AddValue(digest, static_cast<std::uint8_t>(joint.compensates_scale));
  }
  digest.UpdateArray(rig.skeleton_.rest_local());
  for (const Binding& binding : rig.bindings_) {
    AddValue(digest, binding.joint);
    AddValue(digest, binding.inverse_bind);
  }
  digest.UpdateArray(rig.own_influences().offsets());
  digest.UpdateArray(rig.own_influences().all_bindings());
  digest.UpdateArray(rig.own_influences().all_weights());
  if (const JointCoefficients& extra = rig.coefficients_; !extra.empty()) {
    AddValue(digest, extra.columns);
    digest.UpdateArray(std::span<const std::uint64_t>(extra.offsets));
    digest.UpdateArray(std::span<const std::uint16_t>(extra.bindings));
    digest.UpdateArray(std::span<const float>(extra.values));
  }
  for (const Control& control : rig.controls_) AddValue(digest, control.default_value);
  AddValue(digest, rig.shapes_.size());
  for (const Shape& shape : rig.shapes_) {
    AddValue(digest, shape.control);
    for (const ShapeTarget& target : shape.targets) {
      AddValue(digest, target.weight);
      digest.UpdateArray(std::span<const std::uint32_t>(target.vertices));
      digest.UpdateArray(std::span<const Vec3f>(target.offsets));
      digest.UpdateArray(std::span<const Vec3f>(target.normal_offsets));
    }
  }
  for (const VertexMap& map : rig.maps_) {
    Add(digest, map.name);
    digest.UpdateArray(std::span<const float>(map.values));
  }
  // These hold every property of a muscle except its name.
  if (!rig.muscles_.empty()) {
    Add(digest, "muscles");
    digest.UpdateArray(std::span<const MuscleRow>(rig.muscle_tables_.rows));
    digest.UpdateArray(std::span<const MusclePointRow>(rig.muscle_tables_.points));
  }
  rig.digest_ = digest.Hex();
  return rig;
}

const VertexMap* Rig::FindMap(std::string_view name) const {
  for (const VertexMap& map : maps_) {
    if (map.name == name) return &map;
  }
  return nullptr;
}

std::size_t Rig::bytes() const {
  std::size_t bytes =
      sizeof(Rig) + vertices() * 2 * sizeof(Vec3f) + mesh_.tangents().size_bytes() +
      (mesh_.face_offsets().size() + mesh_.face_vertices().size() + mesh_.weld().size()) *
          sizeof(std::uint32_t) +
      influences_.size() * 10 + influences_.offsets().size() * 8 +
      (own_influences_ ? own_influences_->size() * 10 + own_influences_->offsets().size() * 8 : 0) +
      joints() * (2 * sizeof(AffineD) + 68) + bindings_.size() * sizeof(Binding);
  for (const Shape& shape : shapes_) {
    for (const ShapeTarget& target : shape.targets) {
      bytes += target.vertices.size() * (4 + 12) + target.normal_offsets.size() * 12;
    }
  }
  bytes += coefficients_.offsets.size() * 8 + coefficients_.bindings.size() * 2 +
           coefficients_.values.size() * 4;
  for (const VertexMap& map : maps_) bytes += map.values.size() * 4 + map.name.size();
  bytes += muscles_.size() * (sizeof(Muscle) + sizeof(MuscleRow)) +
           muscle_tables_.points.size() * (sizeof(MusclePoint) + sizeof(MusclePointRow));
  for (const Muscle& muscle : muscles_) bytes += muscle.name.size();
  return bytes;
}

// Weights are sorted from strongest to weakest.
std::uint16_t StrongestBinding(const Rig& rig, std::size_t vertex) {
  const auto bindings = rig.influences().bindings(vertex);
  const auto weights = rig.influences().weights(vertex);
  const auto rank = [&](std::uint16_t binding) {
    return rig.joint_rank()[rig.bindings()[binding].joint];
  };
  std::uint16_t best = bindings.front();
  for (std::size_t k = 1; k < bindings.size() && weights[k] >= weights[0] - kTiedWeight; ++k) {
    if (rank(bindings[k]) < rank(best)) best = bindings[k];
  }
  return best;
}

}  // namespace sinew
