// open_session.h - from what a request names (a session, or a rig and a recipe) to a session.
#pragma once

#include <absl/status/statusor.h>

#include <chrono>
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
void NameSession(const Call& call, std::chrono::nanoseconds ttl, Session& session);

// A new session, without a name and not in the table yet, whose bind has been started if it was not
// there. Blocks.
// Cancelling the call ends the wait, not the bind.
absl::StatusOr<std::shared_ptr<Session>> MakeSession(const Call& call,
                                                     const v1::SessionSource& source,
                                                     const ResolvedSource& resolved);

// Work that may wait on a lane.
struct Step {
  // Drops it if it still waits.
  void Remove() const {
    if (lane != nullptr) lane->Remove(ticket);
  }
  Workers* lane = nullptr;
  Workers::Ticket ticket = 0;
};

// Calls work(OK) on the lane where a session of the source can be made, once its rig is stored
// here: one that other servers have stored is fetched first, on another lane; `moved` is then
// called when the work moves on. Or work(why it cannot be made). Both must keep the call alive.
using StepMoved = std::function<void(const Step&)>;
Step PostWithRig(const Call& call, const v1::SessionSource& source, Workers::Work work,
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
