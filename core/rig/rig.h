// rig.h - one validated character: mesh, skeleton, bindings, influences, controls, shapes, maps and
// muscles.
//
// Immutable after Create and shared freely across threads; later code does not check it again.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/types.h"
#include "core/mesh/mesh.h"
#include "core/muscle/muscle.h"
#include "core/muscle/posed_muscle.h"
#include "core/rig/influences.h"
#include "core/rig/joint_coefficients.h"
#include "core/rig/skeleton.h"

namespace sinew {

// A named number set by poses. The range is for sliders; values beyond it are legal.
struct Control {
  std::string name;
  float minimum = 0, maximum = 1, default_value = 0;
};

// One target of a shape: position and normal offsets of some vertices.
struct ShapeTarget {
  float weight = 1;                     // value of the control where it is fully on; not 0
  std::vector<std::uint32_t> vertices;  // rig indices, ascending
  std::vector<Vec3f> offsets;           // [n] bind space
  std::vector<Vec3f> normal_offsets;    // [n] or empty
};

// Targets blended by one control: linear between adjacent targets and 0, extrapolated beyond the
// last.
struct Shape {
  std::uint32_t control = 0;         // index into Rig::controls
  std::vector<ShapeTarget> targets;  // by ascending weight
};

// A named scalar per vertex.
struct VertexMap {
  std::string name;
  std::vector<float> values;  // [V]; 1 for vertices of parts without the map
};

// Input of Rig::Create. V vertices, J joints, E bindings. A binding is a joint with one bind space,
// so that meshes with their own bind spaces can share a joint.
struct RigSource {
  MeshSource mesh;                    // [V] positions in bind space
  std::vector<SkeletonJoint> joints;  // [J] parents first
  std::vector<AffineD> rest_local;    // [J] relative to the parent
  std::vector<Binding> bindings;      // [E]
  InfluenceSource influences;         // [V] rows of bindings and weights
  std::vector<Control> controls;      // [K]
  std::vector<Shape> shapes;
  std::vector<VertexMap> maps;
  std::vector<Muscle> muscles;
  JointCoefficients coefficients{};  // [V] rows, or none
};

class Rig {
 public:
  // A mesh in other units than its skeleton (the rest pose scales it by the same factor nearly
  // everywhere) is converted to the skeleton's units, so that rotating joints are rigid for every
  // method. kInvalidArgument names the field, the value found and what is allowed.
  static absl::StatusOr<Rig> Create(RigSource source);

  // In the skeleton's units.
  const Mesh& mesh() const { return mesh_; }
  const Skeleton& skeleton() const { return skeleton_; }
  std::span<const Binding> bindings() const { return bindings_; }
  // One row for the vertices of a point whose own rows differ by rounding, see point_weights.h.
  const Influences& influences() const { return influences_; }
  // Each vertex's own row, for linear blending.
  const Influences& own_influences() const {
    return own_influences_ ? *own_influences_ : influences_;
  }
  const JointCoefficients& coefficients() const { return coefficients_; }
  std::span<const Control> controls() const { return controls_; }
  std::span<const Shape> shapes() const { return shapes_; }
  std::span<const Muscle> muscles() const { return muscles_; }
  // The data needed to pose the muscles.
  const MuscleTables& muscle_tables() const { return muscle_tables_; }
  // nullptr if there is none. Valid as long as the rig.
  const VertexMap* FindMap(std::string_view name) const;

  std::size_t vertices() const { return mesh_.vertices(); }
  std::size_t joints() const { return skeleton_.joints(); }
  // [J] position of a joint in JointsByPlace of the bind pose. Ties between joints go by it, so
  // that results do not depend on the order in which a file lists them.
  std::span<const std::uint32_t> joint_rank() const { return joint_rank_; }
  // SHA-256 of everything above, as hex: rigs with equal digests deform identically.
  const std::string& digest() const { return digest_; }
  std::size_t bytes() const;

 private:
  Rig(Mesh mesh, Skeleton skeleton, Influences influences)
      : mesh_(std::move(mesh)),
        skeleton_(std::move(skeleton)),
        influences_(std::move(influences)) {}
  Mesh mesh_;
  Skeleton skeleton_;
  Influences influences_;
  std::optional<Influences> own_influences_;  // if they differ
  std::vector<Binding> bindings_;
  JointCoefficients coefficients_;
  std::vector<Control> controls_;
  std::vector<Shape> shapes_;
  std::vector<VertexMap> maps_;
  std::vector<Muscle> muscles_;
  MuscleTables muscle_tables_;
  std::vector<std::uint32_t> joint_rank_;
  std::string digest_;
};

// Weights that differ by at most this count as equal, so that rounding them to 8 bits does not move
// the rings midway between two joints, which are common, from one joint to the other. Not a
// multiple of 1/255, as differences of such weights are: rounding would decide about those.
inline constexpr double kTiedWeight = 4.5 / 255;

// The binding with the largest weight of a vertex. Ties go to the joint of lower rank, then to the
// stronger binding. (BlockLayout, whose pivots only need to be the same every time, decides ties by
// binding alone.)
std::uint16_t StrongestBinding(const Rig& rig, std::size_t vertex);

}  // namespace sinew
