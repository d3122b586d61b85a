// character.h - a rig bound to a recipe, kept available on the server.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sinew/client.h"

namespace sinew::client {

// Options of Character::Create.
struct CharacterOptions {
  absl::Duration ttl = absl::ZeroDuration();  // of its session; 0 = the server's default
  std::string determinism_digest = {};        // required digest, or empty
  UploadProgress upload_progress = {};        // also called when a lost rig is uploaded again
  SessionProgress session_progress = {};      // also called when a lost session is made again
};

// One bound character. Owns the bytes of the rig. If the server has lost the rig or the session
// (restart, expiry, another replica), uploads and binds again; the new session must have the same
// determinism digest, so that all frames are computed alike. Cheap to copy; copies share the
// session. Thread-safe.
class Character {
 public:
  // Uploads the rig unless it is stored, creates a session and waits until it is READY. A server
  // that is lost after it has taken the rig may come back for RetryPolicy::resume_for.
  //   rig_bytes  from EncodeRig or a .sinewrig file
  //   recipe     text, or JSON of sinew.v1.Recipe
  // Errors of UploadRig, CreateSession and WaitSession.
  static absl::StatusOr<Character> Create(const Client& client, std::string rig_bytes,
                                          std::string recipe, const CharacterOptions& options = {},
                                          const CallOptions& call = {});
  // Encodes the rig first. Errors of EncodeRig too.
  static absl::StatusOr<Character> Create(const Client& client, const RigData& rig,
                                          std::string recipe, const CharacterOptions& options = {},
                                          const CallOptions& call = {});

  Session session() const;              // as of its creation or the last bind
  const std::string& rig_name() const;  // rigs/sha256-<hex>
  const Client& client() const;         // its server

  // Client::Deform, with this character as the target.
  absl::StatusOr<FrameView> Deform(const PoseLayout& layout, const Pose& pose,
                                   const OutputOptions& output = {},
                                   const CallOptions& call = {}) const;
  // Client::OpenStream for this character.
  absl::StatusOr<Stream> OpenStream(const StreamOptions& options,
                                    const CallOptions& call = {}) const;
  // Client::DeformClip for this character.
  absl::Status DeformClip(const ClipPoses& poses, const ClipOptions& options, const ClipSink& sink,
                          const CallOptions& call = {}) const;

  // Calls Client::Compare for the characters. All must have the same rig and the same server.
  static absl::StatusOr<std::vector<TargetMetrics>> Compare(std::span<const Character> characters,
                                                            const ClipPoses& poses,
                                                            const CompareOptions& options = {},
                                                            const CallOptions& call = {});

  // Deletes the session now instead of letting it expire; the next call makes a new one.
  absl::Status Release(const CallOptions& call = {}) const;

 private:
  struct State;
  explicit Character(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace sinew::client
