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
  bool compensates_scale = false;  // the parent's scale does not reach this joint's linear part,
                                   // as Maya's segment scale compensate
  bool helper = false;             // true: only there to carry a transform, no skin names it
  std::string source_path = {};    // where it stood in the file, for messages
};

// Which joints move which vertex. Influences are stored vertex after vertex, without padding:
// those of vertex v are the influence_counts[v] entries behind the ones of all vertices before it.
// Bind space is where the vertices stood when they were bound: at rest, joint to model times
// inverse bind times geometry bind takes a mesh position to model space.
struct Skin {
  std::array<float, 12> geometry_bind = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};  // mesh to bind space
  std::vector<std::uint32_t> joints;            // [S] indices into RigData::joints
  std::vector<float> inverse_bind;              // [S * 12] bind space to joint space
  std::vector<std::uint32_t> influence_counts;  // [V]
  std::vector<std::uint32_t> influence_joints;  // [sum of counts] indices into `joints` above
  std::vector<float> influence_weights;  // [sum of counts] >= 0, each vertex sums to 1 within 1e-3
  // Index into `joints`: carries vertices without weights.
  std::optional<std::uint32_t> fallback_joint;

  // No weights yet: see Client::ComputeWeights.
  bool empty() const { return joints.empty() && influence_counts.empty(); }
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

// A number for every vertex, which parameters of methods may name: how strong, how soft.
struct VertexMap {
  std::string name;           // unique within the mesh
  std::vector<float> values;  // [V] finite
};

struct Mesh {
  std::string name;                       // unique within the rig
  std::vector<float> positions;           // [V * 3] in bind space, file order
  std::vector<std::uint32_t> face_sizes;  // [F] each >= 3; empty = all triangles
  std::vector<std::uint32_t>
      face_vertices;                // [sum of face sizes] indices into this mesh's vertices
  std::vector<std::uint32_t> weld;  // [V] or empty: vertices of equal number are one point
  std::vector<float> normals;       // [V * 3] or empty
  std::vector<float> tangents;      // [V * 4] x y z and handedness 1 or -1; or empty
  Skin skin;
  std::vector<Shape> shapes;
  std::vector<VertexMap> maps;
  std::string source_path;

  std::size_t vertices() const { return positions.size() / 3; }
};

// A number that poses set beside the joints: it drives shapes and tenses muscles.
struct Control {
  std::string name;  // unique within the rig
  std::optional<float> minimum, maximum;
  float default_value = 0;
};

struct MusclePoint {
  std::uint32_t joint = 0;       // index into RigData::joints
  std::array<float, 3> at = {};  // joint space
};

// What a muscle's path bends around; the side is that of the rest pose.
struct MuscleWrap {
  enum class Shape : std::uint8_t { kCylinder = 1, kSphere = 2 };
  Shape shape = Shape::kCylinder;
  std::uint32_t joint = 0;
  std::array<float, 3> centre = {};       // joint space
  std::array<float, 3> axis = {0, 0, 1};  // of a cylinder, joint space, not 0
  float radius = 0;                       // > 0
};

// Radius along the belly, u from 0 to 1. An ellipsoid stands on the straight chord of the belly,
// the others follow its path.
enum class MuscleProfile : std::uint8_t {
  kEllipsoid = 1,
  kSine = 2,      // sin(pi u)
  kRootSine = 3,  // sqrt(sin(pi u))
  kParabola = 4,  // 4 u (1 - u)
};

// A muscle between two tendons of constant length; its belly keeps its volume. Lengths are those
// of the rest pose.
struct Muscle {
  std::string name;               // unique within the rig
  MusclePoint origin, insertion;  // the origin's joint carries the belly
  std::vector<MusclePoint> via;   // from origin to insertion
  std::optional<MuscleWrap> wrap;
  float origin_tendon = 0, insertion_tendon = 0;  // together shorter than the path at rest
  float width = 0, depth = 0;                     // semi-axes of the belly at rest, > 0
  // In the space of the origin's joint; unset = away from the bone. Tension widens the belly.
  std::optional<std::array<float, 3>> width_direction;
  MuscleProfile profile = MuscleProfile::kEllipsoid;
  float warp = 1;            // 0.1 to 10; 1 for an ellipsoid; 1 / warp is the mirror image
  float tension = 1.3f;      // width / depth grows by this at full activation; 0.25 to 4
  std::optional<float> fat;  // between belly and skin; unset = what the rest pose leaves
  std::string activation;    // name of the control that tenses it; empty = never
};

// Vertices of all meshes are numbered one mesh after the other; frames, caches and reports use that
// numbering. Equal contents have equal bytes (EncodeRig), and so one name on every server.
struct RigData {
  std::string label;  // what a person calls it, e.g. the file name
  double meters_per_unit = 1;
  UpAxis up_axis = UpAxis::kY;
  std::vector<Joint> joints;  // [J] parents first
  std::vector<float>
      rest_local;  // [J * 12] rest pose relative to the parent (a root: to model space)
  std::vector<Mesh> meshes;
  std::vector<Control> controls;  // [K]
  std::vector<Muscle> muscles;

  std::size_t vertices() const {
    std::size_t n = 0;
    for (const Mesh& mesh : meshes) n += mesh.vertices();
    return n;
  }
};

// Poses of a clip sampled at k / fps seconds, k = first_frame + i * step, one after the other.
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
