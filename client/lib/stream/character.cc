#include "sinew/character.h"

#include <absl/time/clock.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "client/lib/rpc/connection.h"
#include "client/lib/rpc/retry.h"
#include "client/lib/stream/compare.h"
#include "client/lib/stream/deform_clip.h"
#include "client/lib/stream/stream_core.h"
#include "core/base/status.h"

namespace sinew::client {
namespace {

// A stop takes effect between two waits for another call.
const absl::Duration kLockSlice = absl::Milliseconds(50);

// A deadline is for all steps together. Without one, each has that of the client: a bind may take
// minutes, and may have to be repeated.
absl::Time End(const CallOptions& call) {
  return call.deadline > absl::ZeroDuration() ? absl::Now() + call.deadline
                                              : absl::InfiniteFuture();
}
CallOptions Step(const CallOptions& call, absl::Time end) {
  return call.deadline > absl::ZeroDuration() ? CallUntil(end, call.stop) : call;
}

}  // namespace

struct Character::State {
  Client client;
  const std::string rig_bytes;
  const std::string rig_name;
  const std::string recipe;
  const CharacterOptions options;

  std::timed_mutex making;  // held while a session is made, so that concurrent calls make only one
  bool reached = false;  // the server has taken the rig; guarded by making, read by MakeFirst alone
  mutable std::mutex mutex;
  Session session;  // guarded by mutex

  State(const Client& c, std::string bytes, std::string d, const CharacterOptions& o)
      : client(c),
        rig_bytes(std::move(bytes)),
        rig_name(RigName(rig_bytes)),
        recipe(std::move(d)),
        options(o) {}

  std::string SessionName() const {
    const std::lock_guard lock(mutex);
    return session.name;
  }

  // Uploads and binds again, unless another call has already replaced the session `lost`.
  absl::Status Make(const std::string& lost, const CallOptions& call) {
    const absl::Time end = End(call);
    std::unique_lock making_lock(making, std::defer_lock);
    while (
        !making_lock.try_lock_until(absl::ToChronoTime(std::min(end, absl::Now() + kLockSlice)))) {
      if (call.stop.stop_requested()) return absl::CancelledError("cancelled by the caller");
      if (absl::Now() >= end) {
        return absl::DeadlineExceededError("session: another call is still making it");
      }
    }
    if (const std::string name = SessionName(); !name.empty() && name != lost) {
      return absl::OkStatus();
    }
    SINEW_RETURN_IF_ERROR(
        client.UploadRig(rig_bytes, options.upload_progress, Step(call, end)).status());
    reached = true;
    std::string determinism_digest = options.determinism_digest;
    {
      const std::lock_guard lock(mutex);
      if (determinism_digest.empty()) determinism_digest = session.determinism_digest;
    }
    SINEW_ASSIGN_OR_RETURN(const Session created,
                           client.CreateSession({.rig = rig_name,
                                                 .recipe = recipe,
                                                 .ttl = options.ttl,
                                                 .determinism_digest = determinism_digest},
                                                Step(call, end)));
    SINEW_ASSIGN_OR_RETURN(
        Session ready, client.WaitSession(created.name, options.session_progress, Step(call, end)));
    const std::lock_guard lock(mutex);
    session = std::move(ready);
    return absl::OkStatus();
  }

  // Fails as fast as one call while no server is there. One that is lost later, during a bind of
  // minutes, may come back.
  absl::Status MakeFirst(const CallOptions& call) {
    const absl::Time end = End(call);
    const auto make = [&] { return Make({}, Step(call, end)); };
    absl::Status status = make();
    Recovery recovery(*client.connection_, Repeat::kPersist, end, call.stop,
                      [&](const std::stop_token&) { return make(); });
    while (!status.ok() && reached && recovery.TryAgain(status)) status = make();
    return status;
  }

  // The target of one stream or comparison, and how to replace it after a loss.
  struct InUse {
    Target target;
    RestoreTarget restore;
  };
  static absl::StatusOr<InUse> Use(const std::shared_ptr<State>& state, const CallOptions& call) {
    auto used = std::make_shared<std::string>(state->SessionName());
    RestoreTarget restore = [state, used](const std::stop_token& stop) -> absl::StatusOr<Target> {
      SINEW_RETURN_IF_ERROR(state->Make(*used, {.stop = stop}));
      *used = state->SessionName();
      return Target{.session = *used};
    };
    if (used->empty()) {
      SINEW_RETURN_IF_ERROR(state->Make({}, call));
      *used = state->SessionName();
    }
    return InUse{.target = {.session = *used}, .restore = std::move(restore)};
  }
};

namespace {

// Runs `use` with the session's name and the time that is left until it succeeds or recovery gives
// up.
template <class State, class Use>
absl::Status KeepAlive(State& state, const Connection& connection, const CallOptions& call,
                       const Use& use) {
  std::string name;
  const absl::Time end = connection.Deadline(call);
  Recovery recovery(connection, Repeat::kPersist, end, call.stop, [&](const std::stop_token& stop) {
    return state.Make(name, CallUntil(end, stop));
  });
  while (true) {
    name = state.SessionName();
    absl::Status status = name.empty() ? absl::NotFoundError("session: released")
                                       : use(name, CallUntil(end, call.stop));
    if (status.ok() || !recovery.TryAgain(status)) return status;
  }
}

}  // namespace

absl::StatusOr<Character> Character::Create(const Client& client, std::string rig_bytes,
                                            std::string recipe, const CharacterOptions& options,
                                            const CallOptions& call) {
  auto state = std::make_shared<State>(client, std::move(rig_bytes), std::move(recipe), options);
  SINEW_RETURN_IF_ERROR(state->MakeFirst(call));
  return Character(std::move(state));
}

absl::StatusOr<Character> Character::Create(const Client& client, const RigData& rig,
                                            std::string recipe, const CharacterOptions& options,
                                            const CallOptions& call) {
  SINEW_ASSIGN_OR_RETURN(std::string bytes, EncodeRig(rig));
  return Create(client, std::move(bytes), std::move(recipe), options, call);
}

Session Character::session() const {
  const std::lock_guard lock(state_->mutex);
  return state_->session;
}

const std::string& Character::rig_name() const {
  return state_->rig_name;
}
const Client& Character::client() const {
  return state_->client;
}

absl::StatusOr<FrameView> Character::Deform(const PoseLayout& layout, const Pose& pose,
                                            const OutputOptions& output,
                                            const CallOptions& call) const {
  FrameView view;
  SINEW_RETURN_IF_ERROR(
      KeepAlive(*state_, *state_->client.connection_, call,
                [&](const std::string& name, const CallOptions& rest) -> absl::Status {
                  SINEW_ASSIGN_OR_RETURN(
                      view, state_->client.Deform({.session = name}, layout, pose, output, rest));
                  return absl::OkStatus();
                }));
  return view;
}

absl::StatusOr<Stream> Character::OpenStream(const StreamOptions& options,
                                             const CallOptions& call) const {
  const absl::Time end = state_->client.connection_->Deadline(call);
  SINEW_ASSIGN_OR_RETURN(auto use, State::Use(state_, CallUntil(end, call.stop)));
  return client::OpenStream(state_->client.connection_, use.target, options, std::move(use.restore),
                            CallUntil(end, call.stop));
}

absl::Status Character::DeformClip(const ClipPoses& poses, const ClipOptions& options,
                                   const ClipSink& sink, const CallOptions& call) const {
  const auto open = [&] {
    return OpenStream({.layout = options.layout, .output = options.output}, call);
  };
  return client::DeformClip(poses, options, sink, open, call);
}

absl::StatusOr<std::vector<TargetMetrics>> Character::Compare(std::span<const Character> characters,
                                                              const ClipPoses& poses,
                                                              const CompareOptions& options,
                                                              const CallOptions& call) {
  if (characters.empty()) {
    return absl::InvalidArgumentError("characters: got none, need one or more");
  }
  const Client& client = characters[0].client();
  std::vector<State::InUse> uses;
  std::vector<Target> targets;
  for (const Character& character : characters) {
    if (character.client().connection_ != client.connection_) {
      return absl::InvalidArgumentError(absl::StrCat("characters[", targets.size(),
                                                     "]: is of another client than the first, "
                                                     "need characters of one client"));
    }
    SINEW_ASSIGN_OR_RETURN(uses.emplace_back(), State::Use(character.state_, call));
    targets.push_back(uses.back().target);
  }
  const RestoreTargets restore =
      [&](const std::stop_token& stop) -> absl::StatusOr<std::vector<Target>> {
    for (std::size_t i = 0; i < uses.size(); ++i) {
      const absl::Status found =
          client.WaitSession(targets[i].session, {}, {.stop = stop}).status();
      if (found.ok()) continue;
      if (!IsLost(found)) return found;
      SINEW_ASSIGN_OR_RETURN(targets[i], uses[i].restore(stop));
    }
    return targets;
  };
  return client::Compare(*client.connection_, targets, poses, options, restore, call);
}

absl::Status Character::Release(const CallOptions& call) const {
  const std::string name = state_->SessionName();
  if (name.empty()) return absl::OkStatus();
  const absl::Status status = state_->client.DeleteSession(name, call);
  if (!status.ok() && !absl::IsNotFound(status)) return status;
  const std::lock_guard lock(state_->mutex);
  if (state_->session.name == name) state_->session.name.clear();
  return absl::OkStatus();
}

}  // namespace sinew::client
