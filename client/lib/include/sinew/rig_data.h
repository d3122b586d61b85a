// rig_data.h - a rigged character and its motion as plain vectors, shared by the importers, the
// client library and its users.
//
// Conventions: column vectors; matrices are 3x4 row-major (12 floats, translation last in each
// row); lengths are in the unit of the file (see `meters_per_unit`); a joint's parent precedes
// it. These structs validate nothing: the server checks every value, and EncodeRig the array sizes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sinew::client {

// The axis that points upwards; carried along, never applied.
enum class UpAxis : std::uint8_t { kUnspecified = 0, kY = 1, kZ = 2 };

// A transform of the skeleton.
struct Joint {
  std::string name;                // unique within the rig, not empty
  std::int32_t parent = -1;        // index of a joint before this one; -1 = a root
  bool compensates_scale = false;  // its linear part does not inherit the scale of the parent, as
                                   // with Maya's segment scale compensate
  bool helper = false;             // only carries a transform, no skin uses it
  std::string source_path = {};    // its place in the file, for messages
};

// More than a weight for each influence, for the methods `animation_space` (4 values: offset x y z
// and weight) and `multi_weight` (12: the same for each coordinate in the frame of the main joint);
// see Coefficients in rig.proto. Stored vertex after vertex, as the influences of a Skin are.
struct Coefficients {
  std::uint32_t columns = 0;               // 4 or 12 values
  std::vector<std::uint32_t> counts = {};  // [V] 0 = by the weights
  std::vector<std::uint32_t> joints = {};  // [sum of counts] indices into Skin::joints; the first
                                           // of a vertex is its main joint
  std::vector<float> values = {};          // [sum of counts * columns]

  // The methods blend by the weights.
  bool empty() const { return counts.empty(); }
};

// Skin weights. Influences are stored vertex after vertex, without padding: those of vertex v are
// the influence_counts[v] entries after those of all vertices before it. Bind space is the space of
// the vertices when they were bound. At rest, joint to model times inverse bind times geometry bind
// maps a mesh position to model space.
struct Skin {
  std::array<float, 12> geometry_bind = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};  // mesh to bind space
  std::vector<std::uint32_t> joints;            // [S] indices into RigData::joints
  std::vector<float> inverse_bind;              // [S * 12] bind space to joint space
  std::vector<std::uint32_t> influence_counts;  // [V]
  std::vector<std::uint32_t> influence_joints;  // [sum of counts] indices into `joints` above
  std::vector<float> influence_weights;  // [sum of counts] >= 0, each vertex sums to 1 within 1e-3
  // Index into `joints`: the joint of vertices without weights.
  std::optional<std::uint32_t> fallback_joint;
  Coefficients coefficients = {};

  // Without weights, see Client::ComputeWeights.
  bool empty() const { return joints.empty() && influence_counts.empty(); }
};

// One target of a shape: sparse offsets from the mesh, fully applied where the control has the
// value `weight` (not 0). Linear between 0 and neighbouring targets; extrapolated beyond the last.
struct ShapeTarget {
  float weight = 1;
  std::vector<std::uint32_t> vertices = {};  // [n] rising; empty = all vertices in order
  std::vector<float> offsets;                // [n * 3]
  std::vector<float> normal_offsets = {};    // [n * 3] or empty
};

// A morph target that a control drives.
struct Shape {
  std::string control;               // name of the control that drives it
  std::vector<ShapeTarget> targets;  // by rising weight; more than one = in-betweens
};

// A scalar per vertex. Parameters of methods can refer to it by name.
struct VertexMap {
  std::string name;           // unique within the mesh
  std::vector<float> values;  // [V] finite
};

// Vertices and faces of one object, with its skin and shapes.
struct Mesh {
  std::string name;                       // unique within the rig
  std::vector<float> positions;           // [V * 3] in bind space, file order
  std::vector<std::uint32_t> face_sizes;  // [F] each >= 3; empty = all triangles
  std::vector<std::uint32_t>
      face_vertices;                // [sum of face sizes] indices into this mesh's vertices
  std::vector<std::uint32_t> weld;  // [V] or empty: vertices with equal numbers are one point
  std::vector<float> normals;       // [V * 3] or empty
  std::vector<float> tangents;      // [V * 4] x y z and handedness 1 or -1; or empty
  Skin skin;
  std::vector<Shape> shapes;
  std::vector<VertexMap> maps;
  std::string source_path;

  // V.
  std::size_t vertices() const { return positions.size() / 3; }
};

// A scalar input of each pose besides the joints. Drives shapes and activates muscles.
struct Control {
  std::string name;  // unique within the rig
  std::optional<float> minimum, maximum;
  float default_value = 0;
};

// A point that moves with a joint.
struct MusclePoint {
  std::uint32_t joint = 0;       // index into RigData::joints
  std::array<float, 3> at = {};  // joint space
};

// An obstacle that the path of a muscle bends around, on the side of the rest pose.
struct MuscleWrap {
  // The solid.
  enum class Shape : std::uint8_t { kCylinder = 1, kSphere = 2 };
  Shape shape = Shape::kCylinder;
  std::uint32_t joint = 0;
  std::array<float, 3> centre = {};       // joint space
  std::array<float, 3> axis = {0, 0, 1};  // of a cylinder, joint space, not 0
  float radius = 0;                       // > 0
};

// Radius along the belly, u from 0 to 1. An ellipsoid lies on the straight chord of the belly, the
// others follow its path.
enum class MuscleProfile : std::uint8_t {
  kEllipsoid = 1,
  kSine = 2,      // sin(pi u)
  kRootSine = 3,  // sqrt(sin(pi u))
  kParabola = 4,  // 4 u (1 - u)
};

// A muscle between two tendons of constant length, whose belly keeps its volume. Lengths are in the
// rest pose.
struct Muscle {
  std::string name;               // unique within the rig
  MusclePoint origin, insertion;  // the belly moves with the origin's joint
  std::vector<MusclePoint> via;   // from origin to insertion
  std::optional<MuscleWrap> wrap;
  float origin_tendon = 0, insertion_tendon = 0;  // together shorter than the path at rest
  float width = 0, depth = 0;                     // semi-axes of the belly at rest, > 0
  // In the space of the origin's joint; unset = away from the bone. Activation widens the belly.
  std::optional<std::array<float, 3>> width_direction;
  MuscleProfile profile = MuscleProfile::kEllipsoid;
  float warp = 1;            // 0.1 to 10; 1 for an ellipsoid; 1 / warp is the mirror image
  float tension = 1.3f;      // factor on width / depth at full activation; 0.25 to 4
  std::optional<float> fat;  // thickness between belly and skin; unset = as in the rest pose
  std::string activation;    // name of the control that activates it; empty = none
};

// Vertices are numbered over all meshes, one mesh after the other; frames, caches and reports use
// that numbering. Equal rigs have equal bytes (EncodeRig) and so the same name on every server.
struct RigData {
  std::string label;  // for people, e.g. the file name
  double meters_per_unit = 1;
  UpAxis up_axis = UpAxis::kY;
  std::vector<Joint> joints;  // [J] parents first
  std::vector<float>
      rest_local;  // [J * 12] rest pose relative to the parent (a root: to model space)
  std::vector<Mesh> meshes;
  std::vector<Control> controls;  // [K]
  std::vector<Muscle> muscles;

  // Vertices of all meshes.
  std::size_t vertices() const {
    std::size_t n = 0;
    for (const Mesh& mesh : meshes) n += mesh.vertices();
    return n;
  }
};

// Poses of a clip sampled at k / fps seconds, one after the other. k = first_frame + i * step, or
// frame_numbers[i] if there are any.
struct ClipData {
  std::string name;
  double fps = 24;
  std::int64_t first_frame = 0;
  std::int64_t step = 1;
  std::size_t frames = 0;
  std::vector<double> frame_numbers = {};  // [frames] rising, with fractions; or empty
  std::vector<float> joint_transforms;     // [frames * J * 12] joint to model space, rig order
  std::vector<float> controls;             // [frames * K] rig order

  // k of the pose at this index.
  double FrameNumber(std::size_t index) const {
    return frame_numbers.empty() ? static_cast<double>(first_frame) +
                                       static_cast<double>(index) * static_cast<double>(step)
                                 : frame_numbers[index];
  }
};

}  // namespace sinew::client
