// rig.h - one validated character: mesh, skeleton, bindings, influences, controls, shapes, maps
// and muscles that agree.
//
// Immutable after Create, so later code carries no checks. Share it freely across threads.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/types.h"
#include "core/mesh/mesh.h"
#include "core/muscle/muscle.h"
#include "core/muscle/posed_muscle.h"
#include "core/rig/influences.h"
#include "core/rig/skeleton.h"

namespace sinew {

// A named number a pose may set. The range is for sliders: values beyond it are legal.
struct Control {
  std::string name;
  float minimum = 0, maximum = 1, default_value = 0;
};

// One sculpt of a shape: where it moves which vertices, and their normals.
struct ShapeTarget {
  float weight = 1;                     // of the control where it is fully on; not 0
  std::vector<std::uint32_t> vertices;  // rig numbering, rising
  std::vector<Vec3f> offsets;           // [n] bind space
  std::vector<Vec3f> normal_offsets;    // [n] or empty
};

// Sculpts that one control blends: linear between neighbours and 0, and beyond the last.
struct Shape {
  std::uint32_t control = 0;         // index into Rig::controls
  std::vector<ShapeTarget> targets;  // by rising weight
};

// A painted number per vertex.
struct VertexMap {
  std::string name;
  std::vector<float> values;  // [V]; vertices of parts without it have 1
};

// A rig before it is checked. V vertices, J joints, E bindings: a joint with the space that it
// carries skin from, so that meshes in spaces of their own may share a joint.
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
};

class Rig {
 public:
  // A mesh kept in other units than its skeleton (the rest pose scales it by the same factor nearly
  // everywhere) is brought to the skeleton's units, so that joints which only turn are rigid for
  // every method. kInvalidArgument names the field, what was found and what is allowed.
  static absl::StatusOr<Rig> Create(RigSource source);

  // In the skeleton's units, whatever the source's were.
  const Mesh& mesh() const { return mesh_; }
  const Skeleton& skeleton() const { return skeleton_; }
  std::span<const Binding> bindings() const { return bindings_; }
  const Influences& influences() const { return influences_; }
  std::span<const Control> controls() const { return controls_; }
  std::span<const Shape> shapes() const { return shapes_; }
  std::span<const Muscle> muscles() const { return muscles_; }
  // Of the muscles, as posing them needs it.
  const MuscleTables& muscle_tables() const { return muscle_tables_; }
  // nullptr: there is none of that name. Valid as long as the rig.
  const VertexMap* FindMap(std::string_view name) const;

  std::size_t vertices() const { return mesh_.vertices(); }
  std::size_t joints() const { return skeleton_.joints(); }
  // SHA-256 of everything above, as hex: equal digests deform alike.
  const std::string& digest() const { return digest_; }
  // Bytes this object holds, roughly.
  std::size_t bytes() const;

 private:
  Rig(Mesh mesh, Skeleton skeleton, Influences influences)
      : mesh_(std::move(mesh)),
        skeleton_(std::move(skeleton)),
        influences_(std::move(influences)) {}
  Mesh mesh_;
  Skeleton skeleton_;
  Influences influences_;
  std::vector<Binding> bindings_;
  std::vector<Control> controls_;
  std::vector<Shape> shapes_;
  std::vector<VertexMap> maps_;
  std::vector<Muscle> muscles_;
  MuscleTables muscle_tables_;
  std::string digest_;
};

// The binding of a vertex with the largest weight, ties by lower joint.
std::uint16_t StrongestBinding(const Rig& rig, std::size_t vertex);

}  // namespace sinew
