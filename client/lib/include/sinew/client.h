// client.h - the C++ client of a Sinew server: rigs, sessions, deformed frames. Include only this
// header.
//
//   auto client = Client::Connect({.address = "127.0.0.1:50051"}).value();
//   auto character = Character::Create(client, rig, "ddm").value();
//   auto frame = character.Deform({}, {.joint_transforms = pose}).value();
//   std::vector<float> positions = frame.Positions().value();
//
// Uses types of the standard library and Abseil only. Errors are absl::Status with gRPC's codes;
// Details(status) returns reason, field and limits.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/clip.h"
#include "sinew/compare.h"
#include "sinew/fit.h"
#include "sinew/frame.h"
#include "sinew/messages.h"
#include "sinew/options.h"
#include "sinew/rig_data.h"
#include "sinew/stream.h"
#include "sinew/weights.h"

namespace sinew::client {

// Serialises a rig: the bytes of a .sinewrig file (a sinew.v1.Rig). Equal rigs give equal bytes.
//   kInvalidArgument: array sizes or parents that do not fit, or more than 2 GiB; names the field.
absl::StatusOr<std::string> EncodeRig(const RigData& rig);

// Reads the bytes of a .sinewrig file.
//   kInvalidArgument: not a rig, or arrays whose size and type disagree. kUnimplemented: fields of
//   a newer version.
absl::StatusOr<RigData> DecodeRig(std::string_view bytes);

// The server's name for these bytes: rigs/sha256-<hex>.
std::string RigName(std::string_view bytes);

// What Client::CreateSession makes.
struct SessionRequest {
  std::string rig;                            // rigs/sha256-...
  std::string recipe;                         // text, or JSON of sinew.v1.Recipe (starts with "{")
  absl::Duration ttl = absl::ZeroDuration();  // 0 = the server's default
  std::string determinism_digest = {};        // required digest, or empty
  bool validate_only = false;                 // check and estimate, create nothing
};

// Called with the bytes that the server has and those of the whole rig.
using UploadProgress = std::function<void(std::uint64_t held_bytes, std::uint64_t size_bytes)>;
// Called with the session whenever it has changed.
using SessionProgress = std::function<void(const Session&)>;

class Connection;  // private to the library

// A connection to one server. Cheap to copy; copies share the connection. All calls are thread-safe
// and blocking. Nothing is sent before the first call. Besides the codes listed with it, each call
// can return kUnavailable (after retries), kDeadlineExceeded, kCancelled (stop), kResourceExhausted
// (a limit: see Details), kUnauthenticated, kPermissionDenied and kInternal.
class Client {
 public:
  // kInvalidArgument: no address, an option out of range, a file that cannot be used, or a token
  // for another machine without TLS. Does not wait for the server.
  static absl::StatusOr<Client> Connect(const ClientOptions& options);

  // Private to the library.
  explicit Client(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}

  // Version, limits, formats and load of the server.
  absl::StatusOr<ServerInfo> GetServerInfo(const CallOptions& call = {}) const;
  // The methods with their parameters, and the presets.
  absl::StatusOr<MethodList> ListMethods(const CallOptions& call = {}) const;

  // Stores a rig: asks what the server already has, sends the rest in pieces, resumes after a
  // break.
  //   kInvalidArgument: not a valid rig. kDataLoss: the bytes changed on the way.
  absl::StatusOr<UploadedRig> UploadRig(std::string_view bytes, const UploadProgress& progress = {},
                                        const CallOptions& call = {}) const;
  // Encodes the rig first. Errors of EncodeRig too.
  absl::StatusOr<UploadedRig> UploadRig(const RigData& rig, const UploadProgress& progress = {},
                                        const CallOptions& call = {}) const;
  // What a stored rig consists of. kNotFound.
  absl::StatusOr<RigSummary> GetRig(const std::string& name, const CallOptions& call = {}) const;
  // The bytes as uploaded. kNotFound. kDataLoss: their SHA-256 is not that of the name.
  absl::StatusOr<std::string> DownloadRig(const std::string& name,
                                          const UploadProgress& progress = {},
                                          const CallOptions& call = {}) const;
  // Sessions that use the rig continue. kNotFound.
  absl::Status DeleteRig(const std::string& name, const CallOptions& call = {}) const;
  // All pages, until `each` returns false.
  absl::Status ForEachRig(const std::function<bool(const RigSummary&)>& each,
                          const CallOptions& call = {}) const;

  // Computes skin weights for every mesh of a stored rig, with or without skins, and stores the
  // result as a new rig. A stop ends the computation. Repeated calls give the same rig.
  //   kInvalidArgument: an option out of range or of another method, a joint that the rig does not
  //   have. kNotFound: no such rig.
  absl::StatusOr<WeightedRig> ComputeWeights(const WeightsRequest& request,
                                             const WeightsProgress& progress = {},
                                             const CallOptions& call = {}) const;

  // Places the joints of a template in the meshes of a stored rig without skins, and stores the
  // result as a new rig, for ComputeWeights. A stop ends the computation. Repeated calls give the
  // same rig. Errors: see FitRequest; kNotFound: no such rig.
  absl::StatusOr<FittedRig> FitSkeleton(const FitRequest& request,
                                        const WeightsProgress& progress = {},
                                        const CallOptions& call = {}) const;

  // Returns at once; the server binds in the background. A retry does not create a second session.
  absl::StatusOr<Session> CreateSession(const SessionRequest& request,
                                        const CallOptions& call = {}) const;
  // Waits until the session is READY; `progress` gets every change. A stop ends the waiting, not
  // the bind. A FAILED session is returned as the error of its problem.
  absl::StatusOr<Session> WaitSession(const std::string& name, const SessionProgress& progress = {},
                                      const CallOptions& call = {}) const;
  // The session as it is now. kNotFound.
  absl::StatusOr<Session> GetSession(const std::string& name, const CallOptions& call = {}) const;
  // Renews the lease; ttl 0 = unchanged. kNotFound.
  absl::StatusOr<Session> RenewSession(const std::string& name,
                                       absl::Duration ttl = absl::ZeroDuration(),
                                       const CallOptions& call = {}) const;
  // Ends the session; its streams end with kNotFound.
  absl::Status DeleteSession(const std::string& name, const CallOptions& call = {}) const;
  // All pages, until `each` returns false.
  absl::Status ForEachSession(const std::function<bool(const Session&)>& each,
                              const CallOptions& call = {}) const;

  // One pose. kFailedPrecondition with reason USE_STREAM: the frame is larger than
  // max_receive_bytes.
  absl::StatusOr<FrameView> Deform(const Target& target, const PoseLayout& layout, const Pose& pose,
                                   const OutputOptions& output = {},
                                   const CallOptions& call = {}) const;
  // Opens a stream and waits until the server has accepted it, until the deadline of `call`, which
  // has no effect later. kNotFound: no such session or rig.
  absl::StatusOr<Stream> OpenStream(const Target& target, const StreamOptions& options,
                                    const CallOptions& call = {}) const;
  // Follows the stream that another client of the tenant has opened on this server with
  // StreamOptions::publish. The deadline of `call` is that of the opening. Not repeated after a
  // failure. kNotFound: none is open now.
  absl::StatusOr<Watch> WatchStream(const std::string& name, const CallOptions& call = {}) const;
  // A whole clip through an ordered stream, which survives broken connections: every frame has the
  // same bits as without a break. A deadline in `call` is for the whole clip, that of the client
  // only for opening the stream.
  absl::Status DeformClip(const Target& target, const ClipPoses& poses, const ClipOptions& options,
                          const ClipSink& sink, const CallOptions& call = {}) const;
  // Measures the same poses through several recipes of one rig, in blocks that fit the message
  // limit. A pose that cannot be used is reported, and the comparison continues without it. After a
  // break the current block is repeated.
  //   kInvalidArgument: no target, or targets of several rigs.
  absl::StatusOr<std::vector<TargetMetrics>> Compare(std::span<const Target> targets,
                                                     const ClipPoses& poses,
                                                     const CompareOptions& options = {},
                                                     const CallOptions& call = {}) const;

  const ClientOptions& options() const;  // as given to Connect

 private:
  friend class Character;
  friend std::shared_ptr<Connection> ConnectionOf(const Client& client);
  std::shared_ptr<Connection> connection_;
};

}  // namespace sinew::client

#include "sinew/character.h"  // needs Client
