#include "server/calls/open_session.h"

#include <absl/strings/str_cat.h>

#include <utility>

#include "core/base/status.h"
#include "core/deform/engine/deformer.h"
#include "server/base/catch_exceptions.h"
#include "server/base/status.h"
#include "server/convert/recipe.h"
#include "server/convert/unknown_fields.h"

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
  SINEW_ASSIGN_OR_RETURN(auto lease,
                         runtime.sessions.Add(call.caller(), std::move(session), ttl, now));
  return UseSession(lease.session);
}

}  // namespace

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
  return known ? runtime.control : runtime.estimates;
}

absl::StatusOr<std::shared_ptr<Session>> MakeSession(const Call& call,
                                                     const v1::SessionSource& source,
                                                     const ResolvedSource& resolved) {
  auto session = std::make_shared<Session>();
  session->name = RandomSessionName();
  session->source = source;
  session->recipe = ToProto(resolved.recipe);
  session->determinism_digest = resolved.determinism_digest;
  SINEW_ASSIGN_OR_RETURN(
      session->bound, call.method().runtime.bound->Acquire(
                          resolved.name, resolved.rig, resolved.recipe, resolved.determinism_digest,
                          call.caller().client(), call.stop_token()));
  return session;
}

Step FindTarget(const Call& call, const v1::Target& target, SessionDone done,
                const std::string& path) {
  Runtime& runtime = call.method().runtime;
  switch (target.target_case()) {
    case v1::Target::kSession:
      done(runtime.sessions.Use(call.caller().tenant, target.session(), runtime.clock.Now()));
      return {};
    case v1::Target::kSource: {
      Workers& lane = LaneOf(call, target.source());
      const auto open = [&call, source = target.source(), done = std::move(done),
                         path](const absl::Status& turn) {
        if (!turn.ok()) {
          done(turn);
          return;
        }
        auto session = CatchExceptions([&] { return SharedSession(call, source); });
        done(session.ok() ? std::move(session) : WithPath(session.status(), path));
      };
      return {&lane, lane.PostStep(call.caller().client(), open)};
    }
    default:
      done(InvalidField(path, "not set, need a session or a source"));
      return {};
  }
}

}  // namespace sinew::server
