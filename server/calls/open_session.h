// open_session.h - from what a request names (a session, or a rig and a recipe) to a session.
#pragma once

#include <absl/status/statusor.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "server/calls/call.h"
#include "server/runtime.h"
#include "server/store/session_table.h"
#include "sinew/v1/session_service.pb.h"

namespace sinew::server {

// What a recipe says, checked against the stored rig.
struct ResolvedSource {
  RigKey name;
  std::shared_ptr<const Rig> rig;
  Recipe recipe;
  std::string determinism_digest;
};

// Blocks (disk, parsing). kInvalidArgument: names the field under "recipe"; kNotFound: the rig;
// kFailedPrecondition: another determinism digest was required, or the rig has no weights yet.
absl::StatusOr<ResolvedSource> ResolveSource(const Call& call, const v1::SessionSource& source);

// Where the two functions below belong: with the estimates if the rig must be parsed or the bind
// planned, else with what is never long.
Workers& LaneOf(const Call& call, const v1::SessionSource& source);

// Gives a new session its name and its greatest age.
void NameSession(Runtime& runtime, Session& session);

// A new session, without a name and not in the table yet, whose bind has been started if it was not
// there. Blocks.
// Cancelling the call ends the wait, not the bind.
absl::StatusOr<std::shared_ptr<Session>> MakeSession(const Call& call,
                                                     const v1::SessionSource& source,
                                                     const ResolvedSource& resolved);

// Work of a call that waits: on a lane, or for a rig that is being fetched.
struct Step {
  // Drops it if it still waits.
  void Remove() const {
    if (remove) remove();
  }
  // Given before the work can run, so that what it posts has a larger one.
  std::uint64_t number = 0;
  std::function<void()> remove;
};
Step PostStep(Runtime& runtime, Workers& lane, const std::string& client, Workers::Work work);

// Calls work(OK) on lane() once the rig is stored here: one that other servers have stored is
// fetched first, on another lane; `moved` is called, with the next step, when the work moves on. Or
// work(why it cannot be fetched). All three must keep the call alive.
using StepMoved = std::function<void(const Step&)>;
Step PostWhenFetched(const Call& call, const RigKey& rig, std::function<Workers&()> lane,
                     Workers::Work work, StepMoved moved);

// PostWhenFetched for the rig of the source, on the lane where a session of it can be made.
Step PostWithRig(const Call& call, const v1::SessionSource& source, Workers::Work work,
                 StepMoved moved);

// Calls work(OK) on `lane` once this server knows the session, if any does; or work(why not).
Step PostWithSession(const Call& call, const std::string& name, Workers& lane, Workers::Work work,
                     StepMoved moved);

// The session of a Target, renewed by use; a recipe gets or creates a shared one. `done` is called
// once: here for the name of a session that this server knows, else later on a worker; it must keep
// the call alive, like `moved`, which is as above.
// Errors: as above, kNotFound for an unknown session, kCancelled once the call is cancelled,
// kUnavailable once the server drains. Paths in them begin with `path`.
using SessionDone = std::function<void(absl::StatusOr<std::shared_ptr<Session>>)>;
Step FindTarget(const Call& call, const v1::Target& target, SessionDone done, StepMoved moved,
                const std::string& path = "target");

}  // namespace sinew::server
