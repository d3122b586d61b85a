#include "server/calls/open_session.h"

#include <absl/strings/str_cat.h>

#include <utility>

#include "core/base/status.h"
#include "core/deform/engine/deformer.h"
#include "server/base/catch_exceptions.h"
#include "server/base/status.h"
#include "server/calls/restore_session.h"
#include "server/convert/recipe.h"
#include "server/convert/unknown_fields.h"
#include "server/shared/random_name.h"

namespace sinew::server {
namespace {

absl::StatusOr<std::shared_ptr<Session>> SharedSession(const Call& call,
                                                       const v1::SessionSource& source) {
  Runtime& runtime = call.method().runtime;
  SINEW_ASSIGN_OR_RETURN(const ResolvedSource resolved, ResolveSource(call, source));
  const auto now = runtime.clock.Now();
  if (auto known = runtime.sessions.FindShared(call.caller().tenant, source.rig(),
                                               resolved.determinism_digest, now))
    return known;
  SINEW_ASSIGN_OR_RETURN(auto session, MakeSession(call, source, resolved));
  session->shared = true;
  const auto ttl = std::chrono::nanoseconds(
      static_cast<std::int64_t>(runtime.config.sessions.shared_ttl_seconds * 1e9));
  NameSession(runtime, *session);
  SINEW_ASSIGN_OR_RETURN(auto lease,
                         runtime.sessions.Add(call.caller(), std::move(session), ttl, now));
  return UseSession(lease.session);
}

}  // namespace

void NameSession(Runtime& runtime, Session& session) {
  session.last_ms = runtime.sessions.LastMs(runtime.clock.WallNow());
  session.name = absl::StrCat("sessions/", RandomHex());
}

absl::StatusOr<ResolvedSource> ResolveSource(const Call& call, const v1::SessionSource& source) {
  Runtime& runtime = call.method().runtime;
  SINEW_RETURN_IF_ERROR(RefuseUnknownFields(source, "source"));
  SINEW_ASSIGN_OR_RETURN(const std::string hex, ParseRigName("source.rig", source.rig()));
  ResolvedSource resolved;
  resolved.name = {call.caller().tenant, hex};
  SINEW_ASSIGN_OR_RETURN(resolved.recipe, RecipeOf(source, runtime.config.sessions));
  resolved.determinism_digest = DeterminismDigest(resolved.recipe);
  if (!source.determinism_digest().empty() &&
      source.determinism_digest() != resolved.determinism_digest) {
    return WithReason(absl::FailedPreconditionError(absl::StrCat(
                          "source.determinism_digest: got ", source.determinism_digest(),
                          ", this server computes ", resolved.determinism_digest)),
                      v1::REASON_DETERMINISM_MISMATCH);
  }
  SINEW_ASSIGN_OR_RETURN(const auto stored, runtime.rigs->Get(resolved.name));
  if (stored->summary.without_weights()) {
    return WithReason(
        absl::FailedPreconditionError(absl::StrCat(
            "source.rig: ", source.rig(),
            " has meshes without skin weights; call ComputeWeights (sinew weights) first")),
        v1::REASON_NO_WEIGHTS);
  }
  resolved.rig = stored->rig;
  return resolved;
}

Workers& LaneOf(const Call& call, const v1::SessionSource& source) {
  Runtime& runtime = call.method().runtime;
  const auto hex = ParseRigName("", source.rig());
  const auto recipe = CatchExceptions([&] { return RecipeOf(source, runtime.config.sessions); });
  if (!hex.ok() || !recipe.ok()) return runtime.control;  // an error
  const RigKey key{call.caller().tenant, *hex};
  const auto stored = runtime.rigs->Peek(key);
  const bool known = stored == nullptr
                         ? !runtime.rigs->Has(key)  // an error
                         : runtime.bound->IsKnown(key, *stored->rig, DeterminismDigest(*recipe));
  // With records, making a session asks them.
  Workers& quick = runtime.records == nullptr ? runtime.control : runtime.fetches;
  return known ? quick : runtime.estimates;
}

absl::StatusOr<std::shared_ptr<Session>> MakeSession(const Call& call,
                                                     const v1::SessionSource& source,
                                                     const ResolvedSource& resolved) {
  auto session = std::make_shared<Session>();
  session->source = source;
  session->recipe = ToProto(resolved.recipe);
  session->determinism_digest = resolved.determinism_digest;
  SINEW_ASSIGN_OR_RETURN(
      session->bound, call.method().runtime.bound->Acquire(
                          resolved.name, resolved.rig, resolved.recipe, resolved.determinism_digest,
                          call.caller().client(), call.stop_token()));
  return session;
}

Step PostStep(Runtime& runtime, Workers& lane, const std::string& client, Workers::Work work) {
  const std::uint64_t number = ++runtime.steps;
  const Workers::Ticket ticket = lane.PostStep(client, std::move(work));
  return {number, [&lane, ticket] { lane.Remove(ticket); }};
}

Step PostWhenFetched(const Call& call, const RigKey& rig, std::function<Workers&()> lane,
                     Workers::Work work, StepMoved moved) {
  Runtime& runtime = call.method().runtime;
  const std::string client = call.caller().client();
  if (!runtime.rigs->MayFetch(rig)) return PostStep(runtime, lane(), client, std::move(work));
  const auto go_on = [&runtime, client, lane = std::move(lane), work = std::move(work),
                      moved](const absl::Status& fetched) {
    if (fetched.ok()) {
      moved(PostStep(runtime, lane(), client, work));
    } else {
      work(fetched);
    }
  };
  const auto fetch = [&runtime, rig, go_on, moved = std::move(moved)](const absl::Status& turn) {
    if (!turn.ok()) {
      go_on(turn);
      return;
    }
    // Other rigs need this thread more than a call that waits for the same rig.
    const std::uint64_t number = ++runtime.steps;
    if (const std::uint64_t wait = runtime.rigs->fetches().Await(rig.Text(), go_on); wait != 0) {
      moved({number, [&runtime, rig, wait] { runtime.rigs->fetches().Forget(rig.Text(), wait); }});
    } else {
      go_on(runtime.rigs->Fetch(rig));
    }
  };
  return PostStep(runtime, runtime.fetches, client, fetch);
}

Step PostWithRig(const Call& call, const v1::SessionSource& source, Workers::Work work,
                 StepMoved moved) {
  const auto hex = ParseRigName("", source.rig());
  const auto lane = [&call, source]() -> Workers& { return LaneOf(call, source); };
  if (!hex.ok()) {
    return PostStep(call.method().runtime, lane(), call.caller().client(), std::move(work));
  }
  return PostWhenFetched(call, {call.caller().tenant, *hex}, lane, std::move(work),
                         std::move(moved));
}

namespace {

// Makes the session `name`, which other servers know, on this one.
Step RestoreTarget(const Call& call, const std::string& name, SessionDone done, StepMoved moved) {
  Runtime& runtime = call.method().runtime;
  const auto find = [&call, name, done = std::move(done),
                     moved = std::move(moved)](const absl::Status& turn) {
    const auto record = turn.ok() ? CatchExceptions([&] { return FindRecord(call, name); })
                                  : absl::StatusOr<SessionRecord>(turn);
    if (!record.ok()) {
      done(record.status());
      return;
    }
    const auto make = [&call, name, done, record = *record](const absl::Status& ready) {
      if (!ready.ok()) {
        done(ready);
        return;
      }
      auto session = CatchExceptions([&] { return MakeRestored(call, name, record); });
      done(session.ok() ? UseSession(*session) : std::move(session));
    };
    moved(PostWithRig(call, record->source, make, moved));
  };
  return PostStep(runtime, runtime.fetches, call.caller().client(), find);
}

}  // namespace

Step PostWithSession(const Call& call, const std::string& name, Workers& lane, Workers::Work work,
                     StepMoved moved) {
  Runtime& runtime = call.method().runtime;
  const auto post = [&call, &runtime, &lane, work] {
    return PostStep(runtime, lane, call.caller().client(), work);
  };
  if (!MayRestore(call, name)) return post();
  const auto done = [post, moved, work](const absl::StatusOr<std::shared_ptr<Session>>& session) {
    // The work itself says that a session is unknown.
    if (session.ok() || absl::IsNotFound(session.status())) {
      moved(post());
    } else {
      work(session.status());
    }
  };
  return RestoreTarget(call, name, done, moved);
}

Step FindTarget(const Call& call, const v1::Target& target, SessionDone done, StepMoved moved,
                const std::string& path) {
  Runtime& runtime = call.method().runtime;
  switch (target.target_case()) {
    case v1::Target::kSession: {
      auto known =
          runtime.sessions.Use(call.caller().tenant, target.session(), runtime.clock.Now());
      if (absl::IsNotFound(known.status()) && runtime.records != nullptr) {
        return RestoreTarget(call, target.session(), std::move(done), std::move(moved));
      }
      done(std::move(known));
      return {};
    }
    case v1::Target::kSource: {
      const auto open = [&call, source = target.source(), done = std::move(done),
                         path](const absl::Status& ready) {
        if (!ready.ok()) {
          done(ready);
          return;
        }
        auto session = CatchExceptions([&] { return SharedSession(call, source); });
        done(session.ok() ? std::move(session) : WithPath(session.status(), path));
      };
      return PostWithRig(call, target.source(), open, std::move(moved));
    }
    default:
      done(InvalidField(path, "not set, need a session or a source"));
      return {};
  }
}

}  // namespace sinew::server
