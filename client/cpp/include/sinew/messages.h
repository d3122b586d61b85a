// messages.h - what the server says about itself, its rigs and sessions, as plain structs; and the
// details of errors.
//
// Included by sinew/client.h; the numbers of enumerations are those of the wire (package sinew.v1).
#pragma once

#include <absl/status/status.h>
#include <absl/time/time.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sinew/rig_data.h"

namespace sinew::client {

// q16: 16 bits a coordinate within the frame's box; oct8, oct16: normals, 2 x 8 or 2 x 16 bits.
enum class Encoding : std::uint8_t {
  kUnspecified = 0,
  kFloat32 = 1,
  kFloat16 = 2,
  kQ16 = 3,
  kOct8 = 4,
  kOct16 = 5,
  kUint8 = 6
};
enum class Compression : std::uint8_t { kUnspecified = 0, kNone = 1, kZstd = 2, kMeshopt = 3 };
enum class Attribute : std::uint8_t {
  kUnspecified = 0,
  kPositions = 1,
  kNormals = 2,
  kTangents = 3,
  kVelocities = 4,
  kVertexStates = 5
};

// What became of a vertex in a stage that projects, such as implicit. Names: Vaillant et al. 2013.
enum class VertexState : std::uint8_t {
  kNotDisplaced = 0,        // already on its surface
  kFitted = 1,              // moved onto its surface
  kGradientDivergence = 2,  // stopped at a crease: another part is met
  kPotentialPit = 3,        // stopped where the field would lead away
  kNbIterMax = 4,           // ran out of steps
  kNormGradNull = 5,        // no direction to move in
  kOutVert = 6              // excluded at bind
};
inline constexpr std::size_t kVertexStates = 7;

// A warning, or why a session failed.
struct Problem {
  absl::StatusCode code = absl::StatusCode::kOk;  // kOk: a warning
  std::string reason;                             // as ErrorDetails::reason
  std::string message;
  std::string field;
  std::map<std::string, std::string> metadata;
};

// What the server attached to an error beside code and message; empty where it said nothing.
struct ErrorDetails {
  struct Violation {
    std::string field;  // path within the request, or the name of the limit
    std::string description;
  };
  std::string reason;  // a name of sinew.v1.Reason without its prefix, e.g. "USE_STREAM",
                       // "NUMERICS_MISMATCH"
  std::string domain;  // "sinew" for this server's errors
  std::map<std::string, std::string> metadata;
  std::string field;              // the first of `fields`, or empty
  std::vector<Violation> fields;  // which fields of the request were wrong
  std::vector<Violation> limits;  // which limits were passed
  std::optional<absl::Duration> retry_delay;
};

// Reads the details of any status this library returned. Never fails: what cannot be read is left
// out.
ErrorDetails Details(const absl::Status& status);

struct Limit {
  std::string name;
  std::uint64_t value = 0;
  std::string unit;
  std::string description;
};

struct ServerStats {
  std::uint64_t rigs = 0, rig_bytes = 0, sessions = 0, bound_entries = 0, bound_bytes = 0;
  std::uint64_t streams = 0, frames_sent = 0, uptime_seconds = 0, binds_running = 0,
                binds_queued = 0;
};

struct ServerInfo {
  std::string version;
  std::string simd;  // instruction set in use: scalar, avx2, avx512 or neon
  std::uint32_t threads = 0;
  std::vector<Limit> limits;
  std::vector<Encoding> encodings, normal_encodings;
  std::vector<Compression> compressions;
  std::vector<Attribute> attributes;
  ServerStats stats;
};

struct Parameter {
  std::string name;
  std::string type;  // "number", "integer", "boolean", "choice" or "map"
  std::string unit;
  std::string default_value;  // as the text form writes it
  std::optional<double> minimum, maximum;
  std::vector<std::string> choices;  // of a choice, or of an integer without a whole range
  std::string description;
};

struct Method {
  std::string name;
  std::string summary;  // one sentence
  std::string reads;    // "rest" or "posed": the mesh it starts from
  std::string paper;
  std::string cost_class;
  std::string example;        // the shortest recipe with this method that poses a mesh
  std::uint32_t version = 0;  // raised whenever its vertices change; part of numerics
  std::vector<Parameter> parameters;
};

struct Preset {
  std::string name;
  std::string spec;
  std::string summary;
};

struct MethodList {
  std::vector<Method> methods;
  std::vector<Preset> presets;
};

// Where a mesh's vertices stand in the rig's one numbering.
struct MeshRange {
  std::string name;
  std::uint64_t vertex_offset = 0, vertex_count = 0, face_count = 0;
};

struct RigSummary {
  std::string name;  // rigs/sha256-<hex>
  std::uint64_t size_bytes = 0, vertices = 0, faces = 0;
  std::vector<Joint> joints;      // empty in lists
  std::vector<Control> controls;  // empty in lists
  std::vector<MeshRange> meshes;
  std::array<float, 6> bounds{};  // min xyz, max xyz, rig units
  absl::Time create_time = absl::InfinitePast();
  bool without_weights = false;  // a mesh has no skin: see Client::ComputeWeights
};

// What UploadRig did.
struct UploadedRig {
  RigSummary rig;
  std::vector<Problem> warnings;
  bool was_stored = false;       // the server had it already: nothing was sent
  std::uint64_t sent_bytes = 0;  // of the rig, after resuming
};

// A failed session says why in Session::problem and stays so.
enum class SessionState : std::uint8_t { kUnspecified = 0, kBinding = 1, kReady = 2, kFailed = 3 };

// Made before the bind: bytes are upper bounds, times are guesses.
struct Estimate {
  std::uint64_t bound_bytes = 0, peak_bytes = 0;
  absl::Duration bind_time, frame_time;
};

// A figure that binding one stage found out, e.g. the influence mass that truncation dropped.
struct Measure {
  std::uint32_t stage = 0;  // of the recipe
  std::string name;
  double value = 0;
  std::string unit;  // empty = a plain number
  std::string description;
};

// A lease on a rig bound to a recipe. Any call that uses it renews it.
struct Session {
  std::string name;         // sessions/<opaque>
  std::string rig;          // rigs/sha256-...
  std::string spec;         // as asked, if it was asked as text
  std::string recipe_json;  // resolved: every default filled in; accepted wherever a deformer is
  std::string numerics;     // digest of resolved recipe and method versions
  SessionState state = SessionState::kUnspecified;
  double progress = 0;  // of the bind, 0 to 1
  Estimate estimate;
  Problem problem;     // why it failed
  absl::Duration ttl;  // it expires so long after its last use
  absl::Time expire_time = absl::InfinitePast();
  std::uint64_t bound_bytes = 0;
  std::vector<Problem> warnings;
  std::vector<Measure> measures;  // once it is ready
};

}  // namespace sinew::client
