// import.h - reads rigged characters from glTF, FBX and COLLADA files and samples their clips.
//
// glTF goes through a reader of our own on top of tinygltf and keeps everything: vertex order, all
// influences, joints and morph targets, step and cubic keys. FBX goes through ufbx, which also
// evaluates its clips: layers, pivots, curves and inherited scale are those of the file. COLLADA
// goes through Assimp, which hands out face corners; they are welded back to control points, so the
// file's vertex order is lost (`keeps_file_order`).
//
// CMake: find_package(sinew COMPONENTS import), target sinew::import.
//
//   auto scene = ImportFile("hand.glb");
//   auto clip = SampleClip(*scene, 0, SampleOptions{.fps = 24});
#pragma once

#include <absl/status/statusor.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sinew/problem.h"
#include "sinew/rig_data.h"

namespace sinew::client {

struct AnimatedScene;  // nodes and key frames of the file, private to the importer

// A motion in the file. Times are seconds on the clip's own axis, which need not begin at 0.
struct ClipInfo {
  std::string name;          // unique within the file
  double start = 0;          // first key
  double end = 0;            // last key, or the end of the take if the file says it lasts longer
  std::size_t channels = 0;  // animated properties, including those of nodes the rig does not use
  std::size_t keys = 0;      // of the channel with the most
};

// `Problem::reason` of content that the import does not keep. `field` is a path in the file, such
// as "nodes[3] 'Body'".
inline constexpr char kLostReason[] = "LOST";
// Makes such a problem, a warning.
Problem Lost(const std::string& message, const std::string& field);

// What a file says of a mesh that no deformation needs.
struct MeshExtras {
  // 3x4 row-major: the transform of the mesh's node at rest, with those above it. A cache in the
  // object's own space is its inverse times model space.
  std::array<double, 12> object_to_scene = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
  std::vector<float> corner_uvs;  // [sum of face sizes * 2] v upwards, or empty
  // The vertices that Blender's importer of glTF makes of the mesh, rising: those that the
  // triangles, lines or points of a primitive use. Empty: all.
  std::vector<std::uint32_t> blender_vertices;
};

// A whole character file. Cheap to copy apart from the rig's arrays.
struct ImportedScene {
  RigData rig;  // one Mesh per node that carries a skinned mesh, ordered by node index
  std::vector<MeshExtras> mesh_extras;  // [meshes]
  std::vector<ClipInfo> clips;
  std::vector<Problem> problems;
  bool keeps_file_order = true;  // the vertex order is that of the file
  std::string format;  // "glTF binary", "glTF", "FBX", "FBX text", "COLLADA" or "Wavefront"
  std::shared_ptr<const AnimatedScene> animation;  // for SampleClip and RestPose
};

// What happens to the vertices of a skin that no joint moves.
enum class Unweighted : std::uint8_t {
  kRefuse,   // the file is refused
  kRoot,     // the topmost joint of the skin moves them
  kNearest,  // they take the influences of the nearest vertex of their mesh that has some
  kStill,    // they stay where they are at rest: a joint `still` that no clip moves is appended
};

// What ImportFile accepts.
struct ImportOptions {
  std::uint64_t max_file_bytes = std::uint64_t{2} << 30;  // a larger file (or side file) is refused
  // A file in which no mesh has a skin is read too: all its meshes as placed in the scene, with
  // an empty skin, and what joints it has (FBX: its bones; COLLADA: none). Neither may be missing.
  // Wavefront .obj, which never has either, is read with it alone.
  bool allow_no_skin = false;
  // Only the clips count: the file needs some, but neither meshes nor joints, and its weights are
  // not checked. See ImportClips.
  bool clips_only = false;
  Unweighted unweighted = Unweighted::kRefuse;
};

// Reads a .glb, .gltf, .vrm, .fbx, .dae or .obj file, chosen by the extension (any case), confirmed
// by content.
//
// glTF (a .vrm is a .glb): the nodes of the default scene, or of all if the file has no scenes, by
// rising node index; transforms and joints may come from any node. Vertices are those of the
// POSITION accessors, primitive after primitive; the transform of a node with a skin does not
// count. Joints are those of all skins that are used, or that no node has; nodes between and above
// them are folded into the local matrices, with their animation. In a file with skins, meshes and
// primitives without weights follow the nearest node at or above theirs that is a joint or that a
// clip moves, or the topmost node, which becomes a joint. Joints of a skin that no vertex uses and
// whose inverse bind matrix is not sound are left out of Mesh::skin. EXT_meshopt_compression and
// KHR_draco_mesh_compression are decoded.
//
// Weights of all formats: those of a vertex are divided by their sum; negative ones down to -1e-3
// count as 0.
//
// FBX: one Mesh per node that shows one; vertices are the control points of the file, in its order.
// Joints are the nodes that skins name, in the order of the node tree. A mesh without a skin in a
// file that has some follows a node as in glTF; nodes that do not inherit the scale of their parent
// count as moved. Points are in the file's world space, as its authoring tool shows it, in the
// file's unit. A clip's time counts from the start of its take. In-betweens of a blend shape belong
// to one control.
//
// COLLADA: one Mesh per node, without shapes. Corners of equal position and influences become one
// vertex. A mesh without a skin in a file that has some follows its node, which becomes a joint.
// Unit and up axis are carried along, not applied. Clips have STEP,
// LINEAR and BEZIER keys of any element of a node, as in the specification 1.4.1 (see
// collada_animation.h); a channel of a joint, or of a node above one, that cannot be evaluated is
// an error that names it. The file is parsed twice, first in a forked child with limits: Assimp
// dies of some damaged files.
//
// .obj: one mesh of all points and faces, in their order; no unit, no up axis.
//
// Joint and control names are unique (`name.2`), parents precede children. Whatever was changed or
// could not be kept is listed in `problems`: what can change the result as a warning. Messages are
// one line of at most 300 bytes. Thread-safe; cost O(file). kNotFound: no such file.
// kInvalidArgument: wrong type, damaged, unsupported extension, no skin,
// clips but no mesh, bad weights, bad clips, too large.
absl::StatusOr<ImportedScene> ImportFile(const std::string& path,
                                         const ImportOptions& options = {});

// What every reader does last: binds the vertices of skins that have no weights, checks that all
// numbers are finite, and reports what the rig itself shows. kInvalidArgument: vertices without
// weights and kRefuse, or a number that is not finite; the message begins with the place in the
// file.
absl::Status FinishScene(Unweighted unweighted, ImportedScene& scene);

// Which frames of a clip to sample. Frame k is the time k / fps.
struct SampleOptions {
  double fps = 24;               // > 0
  std::int64_t first_frame = 0;  // >= 0
  std::int64_t last_frame =
      -1;                 // inclusive; -1 = the clip's last. Beyond the clip its last values hold
  std::int64_t step = 1;  // >= 1
  // Frames with fractions instead of these; finite, rising, the first >= 0.
  std::vector<double> frame_numbers = {};
};

// Frames of a clip: floor(end * fps + 1e-6) + 1. fps > 0.
std::int64_t ClipFrames(const ClipInfo& clip, double fps);

// Index of the clip called `name_or_index`: an exact name first, else a number counted from 0.
// kInvalidArgument: neither; the message lists what there is.
absl::StatusOr<std::size_t> FindClip(const ImportedScene& scene, const std::string& name_or_index);

// Joint-to-model matrices of every joint and the value of every control, computed in double and
// rounded once. Before a channel's first key its first value holds, after its last key its last;
// rotations given as quaternions take the shorter way. Cost O(frames * nodes), in FBX O(frames *
// all elements of the file). Thread-safe. kInvalidArgument: no such clip, bad range, or more than 4
// GiB of result.
absl::StatusOr<ClipData> SampleClip(const ImportedScene& scene, std::size_t clip,
                                    const SampleOptions& options = {});

// One frame: the nodes as the file places them, controls at their defaults. `scene` must come
// from ImportFile.
ClipData RestPose(const ImportedScene& scene);

}  // namespace sinew::client
