// messages.h - what the server says about itself, its rigs and sessions, as plain structs.
//
// Included by sinew/client.h; the numbers of enumerations are those of the wire (package sinew.v1).
// All are values that own what they hold. What the server left out keeps its default; enumerators
// of a later version arrive as their numbers. Names of fields in messages are those of the wire.
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

// Of bulk numbers, always little-endian. float32: x y z a vertex, of tangents x y z w. q16: 16 bits
// a coordinate within the frame's box; oct8, oct16: normals, 2 x 8 or 2 x 16 bits; uint8: one byte
// a vertex. ServerInfo lists those the server writes.
enum class Encoding : std::uint8_t {
  kUnspecified = 0,
  kFloat32 = 1,
  kFloat16 = 2,
  kQ16 = 3,
  kOct8 = 4,
  kOct16 = 5,
  kUint8 = 6
};
// Of a message's bulk, after its encoding.
enum class Compression : std::uint8_t { kUnspecified = 0, kNone = 1, kZstd = 2, kMeshopt = 3 };
// What a frame may hold of each vertex: model space, rig units; normals and tangents have length 1,
// a tangent's w is its handedness, 1 or -1.
enum class Attribute : std::uint8_t {
  kUnspecified = 0,
  kPositions = 1,
  kNormals = 2,
  kTangents = 3,
  kVelocities = 4,
  kVertexStatus = 5
};

// What became of a vertex in a stage that projects, such as implicit. Names: Vaillant et al. 2013.
enum class VertexStatus : std::uint8_t {
  kNotDisplaced = 0,        // already on its surface
  kFitted = 1,              // moved onto its surface
  kGradientDivergence = 2,  // stopped at a crease: another part is met
  kPotentialPit = 3,        // stopped where the field would lead away
  kIterationLimit = 4,      // ran out of steps
  kZeroGradient = 5,        // no direction to move in
  kExcluded = 6             // excluded at bind
};
inline constexpr std::size_t kVertexStatus = 7;

// A limit on what a client controls. Passing one is kResourceExhausted or kInvalidArgument.
struct Limit {
  std::string name;         // as the server's flag without "--"
  std::uint64_t value = 0;  // the most that is allowed
  std::string unit;         // "bytes", "vertices", "seconds", ...
  std::string description;
};

// As of the call: each number alone, not one moment for all.
struct ServerStats {
  // Stored rigs and their bytes; live leases; bound rigs in memory, which sessions share, and
  // theirs.
  std::uint64_t rigs = 0, rig_bytes = 0, sessions = 0, bound_entries = 0, bound_bytes = 0;
  // Open streams; frames since the start; seconds since then; binds that run, and that wait.
  std::uint64_t streams = 0, frames_sent = 0, uptime_seconds = 0, binds_running = 0,
                binds_queued = 0;
};

struct ServerInfo {
  std::string version;
  std::string simd;           // instruction set in use: scalar, avx2, avx512 or neon
  std::uint32_t threads = 0;  // that evaluate frames
  std::vector<Limit> limits;
  std::vector<Encoding> encodings, normal_encodings;  // of positions; of normals
  std::vector<Compression> compressions;
  std::vector<Attribute> attributes;
  ServerStats stats;
};

// Of a method, as the text form takes it: name(parameter=value).
struct Parameter {
  std::string name;
  std::string type;                        // "number", "integer", "boolean", "choice" or "map"
  std::string unit;                        // empty = a plain number
  std::string default_value;               // as the text form writes it
  std::optional<double> minimum, maximum;  // inclusive; unset: no number, or any
  std::vector<std::string> choices;        // of a choice, or of an integer without a whole range
  std::string description;
};

// A stage that a recipe may name.
struct Method {
  std::string name;
  std::string summary;        // one sentence
  std::string reads;          // "rest" or "posed": the mesh it starts from
  std::string paper;          // source of its formulas
  std::string cost_class;     // of a frame beside plain linear blend, as "4 x"
  std::string example;        // the shortest recipe with this method that poses a mesh
  std::uint32_t version = 0;  // raised whenever its vertices change; part of determinism digest
  std::vector<Parameter> parameters;
};

// A name for a whole recipe.
struct Preset {
  std::string name;
  std::string recipe_text;  // what it stands for, in text form
  std::string summary;      // one sentence
};

struct MethodList {
  std::vector<Method> methods;
  std::vector<Preset> presets;
};

// Where a mesh's vertices stand in the rig's one numbering: [vertex_offset, vertex_offset +
// vertex_count).
struct MeshRange {
  std::string name;
  std::uint64_t vertex_offset = 0, vertex_count = 0, face_count = 0;
};

// A stored rig. Its name is the SHA-256 of its bytes, so equal rigs have one name on every server.
struct RigSummary {
  std::string name;  // rigs/sha256-<hex>
  std::uint64_t size_bytes = 0, vertices = 0, faces = 0;
  std::vector<Joint> joints;      // empty in lists
  std::vector<Control> controls;  // empty in lists
  std::vector<MeshRange> meshes;  // in rig order
  std::array<float, 6> bounds{};  // min xyz, max xyz, rig units
  absl::Time create_time = absl::InfinitePast();
  bool without_weights = false;  // a mesh has no skin: see Client::ComputeWeights
};

// What UploadRig did.
struct UploadedRig {
  RigSummary rig;
  bool was_stored = false;       // the server had it already: nothing was sent
  std::uint64_t sent_bytes = 0;  // of the rig, after resuming
};

// A failed session says why in Session::problem and stays so.
enum class SessionState : std::uint8_t { kUnspecified = 0, kBinding = 1, kReady = 2, kFailed = 3 };

// Made before the bind: bytes are upper bounds, times are guesses. Kept while the session
// lives; most held at a time while binding; of the bind; of one frame.
struct Estimate {
  std::uint64_t bound_bytes = 0, peak_bytes = 0;
  absl::Duration bind_time, frame_time;
};

// A figure that binding one stage found out, e.g. the influence mass that truncation dropped.
struct BindStatistic {
  std::uint32_t stage = 0;  // of the resolved recipe, from 0
  std::string name;
  double value = 0;
  std::string unit;  // empty = a plain number
  std::string description;
};

// A lease on a rig bound to a recipe. Any call that uses it renews it; after that or DeleteSession
// its name is kNotFound. Sessions of equal rig and recipe share what is bound.
struct Session {
  std::string name;         // sessions/<opaque>
  std::string rig;          // rigs/sha256-...
  std::string recipe_text;  // as asked, if it was asked as text
  std::string recipe_json;  // resolved: every default filled in; accepted wherever a deformer is
  std::string determinism_digest;  // digest of resolved recipe and method versions
  SessionState state = SessionState::kUnspecified;
  double progress = 0;  // of the bind, 0 to 1
  Estimate estimate;
  Problem problem;     // why it failed
  absl::Duration ttl;  // it expires so long after its last use
  absl::Time expire_time = absl::InfinitePast();
  std::uint64_t bound_bytes = 0;          // what the bind made; 0 until it is ready
  std::vector<Problem> warnings;          // e.g. parameters that have no effect beside others
  std::vector<BindStatistic> statistics;  // once it is ready
};

}  // namespace sinew::client
