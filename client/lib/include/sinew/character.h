// character.h - a rig and a deformer that keep themselves alive on the server.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sinew/client.h"

namespace sinew::client {

struct CharacterOptions {
  absl::Duration ttl = absl::ZeroDuration();  // of its session; 0 = the server's default
  std::string determinism_digest = {};        // demanded digest, or empty
  UploadProgress upload_progress = {};        // also called when something lost is made again
  SessionProgress session_progress = {};
};

// One bound character. Owns the rig's bytes; when the server lost the rig or the session (restart,
// expiry, another replica) it uploads and binds again by itself, and demands the determinism digest
// it started with, so that frames before and after are of one kind. Cheap to copy, copies share the
// session; thread-safe.
class Character {
 public:
  // Uploads the rig (unless stored), creates a session and waits until it is READY.
  //   rig_bytes  as EncodeRig writes them or a .sinewrig file holds them
  //   deformer   text form, or JSON of sinew.v1.Recipe
  // Errors of UploadRig, CreateSession and WaitSession.
  static absl::StatusOr<Character> Create(const Client& client, std::string rig_bytes,
                                          std::string deformer,
                                          const CharacterOptions& options = {},
                                          const CallOptions& call = {});

  Session session() const;  // as last created or seen READY
  const std::string& rig_name() const;
  const Client& client() const;

  // As the calls of Client, on this character.
  absl::StatusOr<FrameView> Deform(const PoseLayout& layout, const Pose& pose,
                                   const OutputOptions& output = {},
                                   const CallOptions& call = {}) const;
  absl::StatusOr<Stream> OpenStream(const StreamOptions& options,
                                    const CallOptions& call = {}) const;
  absl::Status DeformClip(const PoseLayout& layout, const ClipPoses& poses,
                          const OutputOptions& output, const ClipSink& sink,
                          const CallOptions& call = {}) const;

  // As Client::Compare, on characters of one rig and one server.
  static absl::StatusOr<std::vector<TargetMetrics>> Compare(std::span<const Character> characters,
                                                            const PoseLayout& layout,
                                                            const ClipPoses& poses,
                                                            const CompareOptions& options = {},
                                                            const CompareProgress& progress = {},
                                                            const CallOptions& call = {});

  // Deletes the session now instead of letting it expire; the next call makes a new one.
  absl::Status Release(const CallOptions& call = {}) const;

 private:
  struct State;
  explicit Character(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace sinew::client
