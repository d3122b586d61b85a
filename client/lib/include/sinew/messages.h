// messages.h - descriptions of the server, its rigs and its sessions as plain structs.
//
// Included by sinew/client.h. All structs own their data. Enumerations have the numbers of the wire
// (package sinew.v1); values of a later version keep their number. Fields that the server did not
// send keep their default.
#pragma once

#include <absl/time/time.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sinew/problem.h"
#include "sinew/rig_data.h"

namespace sinew::client {

// Format of vertex data, always little-endian. float32: x y z per vertex, for tangents x y z w.
// q16: 16 bits per coordinate within the frame's bounding box. oct8, oct16: octahedral normals, 2 x
// 8 or 2 x 16 bits. uint8: one byte per vertex. ServerInfo lists the encodings that the server can
// write.
enum class Encoding : std::uint8_t {
  kUnspecified = 0,
  kFloat32 = 1,
  kQ16 = 3,
  kOct8 = 4,
  kOct16 = 5,
  kUint8 = 6
};
// Where normals and tangents come from: the differential of the skinned surface (kCarried, an error
// behind stages that cannot), or the faces of the posed mesh. kAuto: carried where possible.
enum class NormalRule : std::uint8_t { kAuto = 0, kCarried = 1, kRecomputed = 2 };
// Compression of a message's vertex data, applied after the encoding; loses nothing.
enum class Compression : std::uint8_t { kUnspecified = 0, kNone = 1, kZstd = 2 };
// Vertex attributes of a frame: in model space and rig units. Normals and tangents have length 1;
// the w of a tangent is its handedness, 1 or -1.
enum class Attribute : std::uint8_t {
  kUnspecified = 0,
  kPositions = 1,
  kNormals = 2,
  kTangents = 3,
  kVertexStatus = 5
};

// Result of the projection of a vertex in a stage such as implicit. The first seven are those
// of implicit(projection=march), after Vaillant et al. 2013; kExcluded and the last four those of
// its default projection.
enum class VertexStatus : std::uint8_t {
  kNotDisplaced = 0,        // was already on its surface
  kFitted = 1,              // projected onto its iso-surface
  kGradientDivergence = 2,  // stopped at a crease, where the gradient turns
  kPotentialPit = 3,        // stopped where the field value moved away from its target
  kIterationLimit = 4,      // off its surface after the last step
  kZeroGradient = 5,        // the field has no gradient there
  kExcluded = 6,            // excluded at bind
  kUnmoved = 7,             // was already on its own level, or is as thick as at rest
  kAtRestLevel = 8,         // moved to its own level
  kContact = 9,             // stopped where it meets another limb
  kMoveLimit = 10           // off its level at the limit of its move
};
inline constexpr std::size_t kVertexStatus = 11;  // how many there are

// A limit on requests. Exceeding it is kResourceExhausted or kInvalidArgument.
struct Limit {
  std::string name;         // the server's flag without "--"
  std::uint64_t value = 0;  // the maximum
  std::string unit;         // "bytes", "vertices", "seconds", ...
  std::string description;
};

// Each number is current, but they are not one consistent snapshot.
struct ServerStats {
  // Stored rigs and their bytes; live sessions; bound rigs in memory, shared by sessions, and their
  // bytes.
  std::uint64_t rigs = 0, rig_bytes = 0, sessions = 0, bound_entries = 0, bound_bytes = 0;
  // Open streams; frames sent since the start; seconds since the start; running and queued binds.
  std::uint64_t streams = 0, frames_sent = 0, uptime_seconds = 0, binds_running = 0,
                binds_queued = 0;
  bool tenant_only = false;  // the server shows rigs and sessions of the caller alone
};

// Version, limits, formats and load of a server.
struct ServerInfo {
  std::string version;
  std::string simd;           // instruction set in use: scalar, avx2, avx512 or neon
  std::uint32_t threads = 0;  // for evaluating frames
  std::vector<Limit> limits;
  std::vector<Encoding> encodings, normal_encodings;  // of positions; of normals
  std::vector<Compression> compressions;
  std::vector<Attribute> attributes;
  ServerStats stats;
};

// A parameter of a method. In a recipe text: method(parameter=value).
struct Parameter {
  std::string name;
  std::string type;                        // "number", "integer", "boolean", "choice" or "map"
  std::string unit;                        // empty = dimensionless
  std::string default_value;               // as written in a recipe text
  std::optional<double> minimum, maximum;  // inclusive; unset: no limit, or not a number
  std::vector<std::string> choices;        // of a choice, or of an integer with only some values
  std::string description;
};

// A method that a stage of a recipe can use.
struct Method {
  std::string name;
  std::string summary;        // one sentence
  std::string reads;          // its input mesh: "rest" or "posed" (by the stages before)
  std::string paper;          // source of its formulas
  std::string cost_class;     // time per frame relative to linear blend skinning, e.g. "4 x"
  std::string example;        // the shortest recipe with this method that poses a mesh
  std::uint32_t version = 0;  // raised whenever its results change; part of determinism digests
  std::vector<Parameter> parameters;
};

// A named recipe.
struct Preset {
  std::string name;
  std::string recipe_text;  // its definition
  std::string summary;      // one sentence
};

// Everything that a recipe can name.
struct MethodList {
  std::vector<Method> methods;
  std::vector<Preset> presets;
};

// The vertices of a mesh in the numbering over all meshes: [vertex_offset, vertex_offset +
// vertex_count).
struct MeshRange {
  std::string name;
  std::uint64_t vertex_offset = 0, vertex_count = 0, face_count = 0;
};

// A stored rig. Its name contains the SHA-256 of its bytes, so equal rigs have the same name on
// every server.
struct RigSummary {
  std::string name;  // rigs/sha256-<hex>
  std::uint64_t size_bytes = 0, vertices = 0, faces = 0;
  std::vector<Joint> joints;      // empty in lists
  std::vector<Control> controls;  // empty in lists
  std::vector<MeshRange> meshes;  // in rig order
  std::array<float, 6> bounds{};  // min xyz, max xyz, rig units
  absl::Time create_time = absl::InfinitePast();
  bool without_weights = false;  // some mesh has no skin: see Client::ComputeWeights
};

// The result of UploadRig.
struct UploadedRig {
  RigSummary rig;
  bool was_stored = false;       // the server already had the rig: nothing was sent
  std::uint64_t sent_bytes = 0;  // of the rig, without the calls that failed
};

// kFailed is final; Session::problem says why.
enum class SessionState : std::uint8_t { kUnspecified = 0, kBinding = 1, kReady = 2, kFailed = 3 };

// Made before the bind: memory of the bound data, peak memory of the bind, time of the bind and of
// one frame. Bytes are upper bounds, times are rough.
struct Estimate {
  std::uint64_t bound_bytes = 0, peak_bytes = 0;
  absl::Duration bind_time, frame_time;
};

// A figure that a stage computed at bind, e.g. the fraction of the weights that truncation dropped.
struct BindStatistic {
  std::uint32_t stage = 0;  // of the resolved recipe, from 0
  std::string name;
  double value = 0;
  std::string unit;  // empty = dimensionless
  std::string description;
};

// A lease on a rig bound to a recipe. Each call that uses it renews it. After it has expired or was
// deleted, its name is kNotFound. Sessions of the same rig and recipe share the bound data.
struct Session {
  std::string name;                // sessions/<opaque>
  std::string rig;                 // rigs/sha256-...
  std::string recipe_text;         // as in the request, if it was text
  std::string recipe_json;         // resolved: with every default; accepted wherever a recipe is
  std::string determinism_digest;  // of the resolved recipe and the method versions
  SessionState state = SessionState::kUnspecified;
  double progress = 0;  // of the bind, 0 to 1
  Estimate estimate;
  Problem problem;     // of a failed session
  absl::Duration ttl;  // time from its last use until it expires
  absl::Time expire_time = absl::InfinitePast();
  std::uint64_t bound_bytes = 0;          // memory of the bound data; 0 until it is ready
  std::vector<Problem> warnings;          // e.g. parameters without effect
  std::vector<BindStatistic> statistics;  // once it is ready
};

}  // namespace sinew::client
