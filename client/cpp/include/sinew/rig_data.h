// rig_data.h - a rigged character and its motion as plain vectors, the currency between importers,
// the client library and its users.
//
// Conventions: column vectors; matrices are 3x4 row-major (12 floats, translation last in each
// row); lengths are the file's own unit (`meters_per_unit` says how long it is); a joint's parent
// always precedes it. Nothing here is validated: the server (and EncodeRig, for what would not fit
// the wire) checks every value.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sinew::client {

enum class UpAxis : std::uint8_t { kUnspecified = 0, kY = 1, kZ = 2 };

struct Joint {
  std::string name;                // unique within the rig, not empty
  std::int32_t parent = -1;        // index of a joint before this one; -1 = a root
  bool compensates_scale = false;  // the parent's scale does not reach this joint's linear part
  bool helper = false;             // true: only there to carry a transform, no skin names it
  std::string source_path = {};    // where it stood in the file, for messages
};

// Which joints move which vertex. Influences are stored vertex after vertex, without padding.
struct Skin {
  std::array<float, 12> geometry_bind = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};  // mesh to bind space
  std::vector<std::uint32_t> joints;            // [S] indices into RigData::joints
  std::vector<float> inverse_bind;              // [S * 12] bind space to joint space
  std::vector<std::uint32_t> influence_counts;  // [V]
  std::vector<std::uint32_t> influence_joints;  // [sum of counts] indices into `joints` above
  std::vector<float> influence_weights;  // [sum of counts] >= 0, each vertex sums to 1 within 1e-3
  // Index into `joints`: carries vertices without weights.
  std::optional<std::uint32_t> fallback_joint;
};

// One sculpt of a shape: sparse offsets from the mesh, fully on when the control has the value
// `weight` (not 0). Linear between neighbouring targets and 0, and beyond the last.
struct ShapeTarget {
  float weight = 1;
  std::vector<std::uint32_t> vertices = {};  // [n] rising; empty = all vertices in order
  std::vector<float> offsets;                // [n * 3]
  std::vector<float> normal_offsets = {};    // [n * 3] or empty
};

struct Shape {
  std::string control;               // name of the control that drives it
  std::vector<ShapeTarget> targets;  // by rising weight; more than one = in-betweens
};

struct VertexMap {
  std::string name;
  std::vector<float> values;  // [V]
};

struct Mesh {
  std::string name;                       // unique within the rig
  std::vector<float> positions;           // [V * 3] in bind space, file order
  std::vector<std::uint32_t> face_sizes;  // [F] each >= 3; empty = all triangles
  std::vector<std::uint32_t>
      face_vertices;                  // [sum of face sizes] indices into this mesh's vertices
  std::vector<std::uint32_t> weld;    // [V] or empty: vertices of equal number are one point
  std::vector<float> normals;         // [V * 3] or empty
  std::vector<float> corner_normals;  // [sum of face sizes * 3] or empty
  std::vector<float> tangents;        // [V * 4] x y z and handedness 1 or -1; or empty
  Skin skin;
  std::vector<Shape> shapes;
  std::vector<VertexMap> maps;
  std::string source_path;

  std::size_t vertices() const { return positions.size() / 3; }
};

struct Control {
  std::string name;
  std::optional<float> minimum, maximum;
  float default_value = 0;
};

struct RigData {
  std::string label;  // what a person calls it, e.g. the file name
  double meters_per_unit = 1;
  UpAxis up_axis = UpAxis::kY;
  std::vector<Joint> joints;  // [J] parents first
  std::vector<float>
      rest_local;  // [J * 12] rest pose relative to the parent (a root: to model space)
  std::vector<Mesh> meshes;
  std::vector<Control> controls;  // [K]

  std::size_t vertices() const {
    std::size_t n = 0;
    for (const Mesh& mesh : meshes) n += mesh.vertices();
    return n;
  }
};

// Poses of a clip sampled at k / fps seconds, k = first_frame + i * step.
struct ClipData {
  std::string name;
  double fps = 24;
  std::int64_t first_frame = 0;
  std::int64_t step = 1;
  std::size_t frames = 0;
  std::vector<float> joint_transforms;  // [frames * J * 12] joint to model space, rig order
  std::vector<float> controls;          // [frames * K] rig order
};

}  // namespace sinew::client
