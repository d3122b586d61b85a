// client.h - the C++ client of a Sinew server: rigs, sessions, deformed frames. Include this header
// alone.
//
//   auto client = Client::Connect({.address = "127.0.0.1:50051"});
//   auto character = Character::Create(*client, *EncodeRig(rig), "ddm");
//   auto frame = character->Deform({}, {.joint_transforms = pose});
//
// Standard library and Abseil types only. Errors are absl::Status with gRPC's codes;
// Details(status) tells the rest.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/compare.h"
#include "sinew/frame.h"
#include "sinew/messages.h"
#include "sinew/rig_data.h"
#include "sinew/stream.h"
#include "sinew/weights.h"

namespace sinew::client {

// Serialises a rig: the bytes of a .sinewrig file (a sinew.v1.Rig). Equal rigs give equal bytes.
//   kInvalidArgument: something that does not fit the wire (array sizes, parents, more than 2 GiB),
//   by field.
absl::StatusOr<std::string> EncodeRig(const RigData& rig);

// Reads the bytes of a .sinewrig file.
//   kInvalidArgument: not a rig, or arrays whose size and type do not agree. kUnimplemented: fields
//   of a newer version.
absl::StatusOr<RigData> DecodeRig(std::string_view bytes);

// The name a server gives these bytes: rigs/sha256-<hex>.
std::string RigName(std::string_view bytes);

// How idempotent calls are tried again after UNAVAILABLE, and streams after a break.
struct RetryPolicy {
  int max_attempts = 4;  // of a call, or of opening a stream the first time; 1 = never again
  // How long a broken stream or a Character tries to come back.
  absl::Duration resume_for = absl::Seconds(30);
  absl::Duration initial_backoff = absl::Milliseconds(100);
  absl::Duration max_backoff = absl::Seconds(5);
  double multiplier = 2;
  double jitter = 0.25;  // each wait is scaled by a random factor in [1 - jitter, 1 + jitter]
};

// Told when a broken stream, or a call of a Character, begins to wait for its server to come back:
// why, and how long it will try. From any thread, once a break (a clip of a deformer that remembers
// poses begins anew, and may tell twice); must not call the library.
using WaitNotice = std::function<void(const absl::Status& why, absl::Duration longest)>;

struct ClientOptions {
  // host, host:port, [IPv6]:port or unix:/path; a host without a port has 50051. Other targets of
  // gRPC name theirs: dns:///host:50051.
  std::string address = "127.0.0.1:50051";
  absl::Duration deadline = absl::Minutes(2);  // of a call with its retries; streams: of opening
  RetryPolicy retry = {};
  std::size_t max_receive_bytes = 64 << 20;  // largest message accepted
  std::size_t piece_bytes = 1 << 20;         // of an upload, at most 4 MiB
  std::size_t clip_block_bytes = 3 << 20;    // of poses per DeformClip request
  absl::Duration keepalive_time = absl::Seconds(20), keepalive_timeout = absl::Seconds(5);
  std::map<std::string, std::string> metadata = {};  // sent with every call; lower-case keys
  WaitNotice on_wait = {};
};

// Per call; the default takes everything from ClientOptions.
struct CallOptions {
  absl::Duration deadline = absl::ZeroDuration();  // 0 = the client's
  std::stop_token stop = {};                       // a requested stop cancels the call: kCancelled
};

struct SessionRequest {
  std::string rig;       // rigs/sha256-...
  std::string deformer;  // text form, or JSON of sinew.v1.Recipe (first character '{')
  absl::Duration ttl = absl::ZeroDuration();  // 0 = the server's default
  std::string determinism_digest = {};        // demanded digest, or empty
  bool validate_only = false;                 // check and estimate, create nothing
};

// Poses of a clip, one after the other; borrowed during the call.
struct ClipPoses {
  std::span<const float> joint_transforms;  // [frames * joints * 12 or 10]
  std::span<const float> controls = {};     // [frames * controls] or empty
  std::size_t frames = 0;
  std::uint64_t first_frame = 1;       // number of the first; the others follow
  std::span<const double> times = {};  // [frames] s, or empty
};

using UploadProgress = std::function<void(std::uint64_t held_bytes, std::uint64_t size_bytes)>;
using SessionProgress = std::function<void(const Session&)>;
// Called with each frame in order; an error ends the call with it.
using ClipSink = std::function<absl::Status(const StreamItem&)>;

class Connection;  // inside the library

// A connection to one server. Cheap to copy, copies share the connection; all calls are thread-safe
// and blocking. Nothing is sent before the first call. Codes of every call beside its own:
// kUnavailable (after retries), kDeadlineExceeded, kCancelled (stop), kResourceExhausted (a limit:
// see Details), kInternal.
class Client {
 public:
  // kInvalidArgument: an option out of range, no address. Does not wait for the server.
  static absl::StatusOr<Client> Connect(const ClientOptions& options);

  explicit Client(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}

  absl::StatusOr<ServerInfo> GetServerInfo(const CallOptions& call = {}) const;
  absl::StatusOr<MethodList> ListMethods(const CallOptions& call = {}) const;

  // Stores a rig: asks what the server holds, sends the rest in pieces, resumes after a break.
  //   kInvalidArgument: not a valid rig. kDataLoss: bytes changed under way.
  absl::StatusOr<UploadedRig> UploadRig(std::string_view bytes, const UploadProgress& progress = {},
                                        const CallOptions& call = {}) const;
  absl::StatusOr<UploadedRig> UploadRig(const RigData& rig, const UploadProgress& progress = {},
                                        const CallOptions& call = {}) const;
  absl::StatusOr<RigSummary> GetRig(const std::string& name, const CallOptions& call = {}) const;
  // The bytes as uploaded. kDataLoss: they do not have the SHA-256 of the name. kNotFound.
  absl::StatusOr<std::string> DownloadRig(const std::string& name,
                                          const UploadProgress& progress = {},
                                          const CallOptions& call = {}) const;
  absl::Status DeleteRig(const std::string& name, const CallOptions& call = {}) const;
  // All pages, until `each` returns false.
  absl::Status ForEachRig(const std::function<bool(const RigSummary&)>& each,
                          const CallOptions& call = {}) const;

  // Skin weights for every mesh of a stored rig, whether it has some or not: the new rig is stored
  // beside the old one. `progress` sees every change; a stop ends the computation. A repeated
  // attempt gives the same rig.
  //   kInvalidArgument: an option out of range or of another method, a joint the rig lacks.
  //   kNotFound: no such rig.
  absl::StatusOr<WeightedRig> ComputeWeights(const WeightsRequest& request,
                                             const WeightsProgress& progress = {},
                                             const CallOptions& call = {}) const;

  // Answers at once, the bind runs on. A repeated attempt creates nothing twice.
  absl::StatusOr<Session> CreateSession(const SessionRequest& request,
                                        const CallOptions& call = {}) const;
  // Waits until the session is READY; `progress` sees every change. A stop ends the waiting, not
  // the bind. A FAILED session is returned as the error of its problem.
  absl::StatusOr<Session> WaitSession(const std::string& name, const SessionProgress& progress = {},
                                      const CallOptions& call = {}) const;
  absl::StatusOr<Session> GetSession(const std::string& name, const CallOptions& call = {}) const;
  absl::StatusOr<Session> RenewSession(const std::string& name,
                                       absl::Duration ttl = absl::ZeroDuration(),
                                       const CallOptions& call = {}) const;
  absl::Status DeleteSession(const std::string& name, const CallOptions& call = {}) const;
  absl::Status ForEachSession(const std::function<bool(const Session&)>& each,
                              const CallOptions& call = {}) const;

  // One pose, stateless. kFailedPrecondition with reason USE_STREAM: larger than max_receive_bytes.
  absl::StatusOr<FrameView> Deform(const Target& target, const PoseLayout& layout, const Pose& pose,
                                   const OutputOptions& output = {},
                                   const CallOptions& call = {}) const;
  // Opens a stream and waits until the server has accepted it. kNotFound: lost session or rig.
  absl::StatusOr<Stream> OpenStream(const Target& target, const StreamOptions& options,
                                    const CallOptions& call = {}) const;
  // A clip in blocks that fit the message limit; continues behind the last frame after a break.
  // Where frames depend on those before them, each has the bits of a stream of the whole clip.
  absl::Status DeformClip(const Target& target, const PoseLayout& layout, const ClipPoses& poses,
                          const OutputOptions& output, const ClipSink& sink,
                          const CallOptions& call = {}) const;
  // Measures the same poses through several deformers of one rig, in blocks that fit the message
  // limit. The server says when a pose cannot be used; the comparison then goes on without it. A
  // block that breaks is measured again. kInvalidArgument: no target, targets of several rigs.
  absl::StatusOr<std::vector<TargetMetrics>> Compare(std::span<const Target> targets,
                                                     const PoseLayout& layout,
                                                     const ClipPoses& poses,
                                                     const CompareOptions& options = {},
                                                     const CompareProgress& progress = {},
                                                     const CallOptions& call = {}) const;

  const ClientOptions& options() const;

 private:
  friend class Character;
  std::shared_ptr<Connection> connection_;
};

}  // namespace sinew::client

#include "sinew/character.h"  // needs Client
