#include "server/calls/open_session.h"

#include <absl/strings/str_cat.h>

#include <utility>

#include "core/base/status.h"
#include "core/deform/engine/deformer.h"
#include "server/base/status.h"
#include "server/calls/call.h"
#include "server/convert/recipe.h"
#include "server/convert/unknown_fields.h"

namespace sinew::server {
namespace {

absl::StatusOr<std::shared_ptr<Session>> SharedSession(Runtime& runtime,
                                                       const v1::SessionSpec& spec,
                                                       const std::stop_token& stop) {
  SINEW_ASSIGN_OR_RETURN(const ResolvedSpec resolved, ResolveSpec(runtime, spec));
  const auto now = std::chrono::system_clock::now();
  if (auto known = runtime.sessions.FindShared(spec.rig(), resolved.numerics, now)) return known;
  SINEW_ASSIGN_OR_RETURN(auto session, MakeSession(runtime, spec, resolved, stop));
  session->shared = true;
  const auto ttl = std::chrono::nanoseconds(
      static_cast<std::int64_t>(runtime.config.sessions.shared_ttl_seconds * 1e9));
  SINEW_ASSIGN_OR_RETURN(auto lease, runtime.sessions.Add(std::move(session), ttl, now));
  return lease.session;
}

}  // namespace

absl::StatusOr<ResolvedSpec> ResolveSpec(Runtime& runtime, const v1::SessionSpec& spec) {
  SINEW_RETURN_IF_ERROR(RefuseUnknownFields(spec, "spec"));
  SINEW_ASSIGN_OR_RETURN(const std::string hex, ParseRigName("spec.rig", spec.rig()));
  ResolvedSpec resolved;
  SINEW_ASSIGN_OR_RETURN(resolved.recipe, RecipeOf(spec, runtime.config.sessions));
  resolved.numerics = Numerics(resolved.recipe);
  if (!spec.numerics().empty() && spec.numerics() != resolved.numerics) {
    return WithReason(
        absl::FailedPreconditionError(absl::StrCat("spec.numerics: got ", spec.numerics(),
                                                   ", this server computes ", resolved.numerics)),
        v1::REASON_NUMERICS_MISMATCH);
  }
  SINEW_ASSIGN_OR_RETURN(const auto stored, runtime.rigs->Get(hex));
  if (stored->summary.without_weights()) {
    return WithReason(
        absl::FailedPreconditionError(absl::StrCat(
            "spec.rig: ", spec.rig(),
            " has meshes without skin weights; call ComputeWeights (sinew weights) first")),
        v1::REASON_NO_WEIGHTS);
  }
  resolved.rig = stored->rig;
  return resolved;
}

absl::StatusOr<std::shared_ptr<Session>> MakeSession(Runtime& runtime, const v1::SessionSpec& spec,
                                                     const ResolvedSpec& resolved,
                                                     const std::stop_token& stop) {
  auto session = std::make_shared<Session>();
  session->name = RandomSessionName();
  session->spec = spec;
  session->recipe = ToProto(resolved.recipe);
  session->numerics = resolved.numerics;
  SINEW_ASSIGN_OR_RETURN(session->bound, runtime.bound->Acquire(resolved.rig, resolved.recipe,
                                                                resolved.numerics, stop));
  return session;
}

void FindTarget(Runtime& runtime, const v1::Target& target, std::stop_token stop, SessionDone done,
                const std::string& path) {
  switch (target.target_case()) {
    case v1::Target::kSession:
      done(runtime.sessions.Use(target.session(), std::chrono::system_clock::now()));
      return;
    case v1::Target::kSpec: {
      const absl::Status posted =
          runtime.workers.Post([&runtime, spec = target.spec(), stop, done, path] {
            auto session = Fenced([&] { return SharedSession(runtime, spec, stop); });
            done(session.ok() ? std::move(session) : WithPath(session.status(), path));
          });
      if (!posted.ok()) done(posted);
      return;
    }
    default:
      done(InvalidField(path, "not set, need a session or a spec"));
  }
}

}  // namespace sinew::server
