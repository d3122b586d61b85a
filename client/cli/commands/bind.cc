// sinew bind: creates a session and waits until it is ready.
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "client/bake/base/quantity.h"
#include "client/bake/character/character_file.h"
#include "client/bake/character/import_warnings.h"
#include "client/bake/character/recipe_argument.h"
#include "client/bake/passes/bound_character.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/character/read_options.h"
#include "client/cli/commands/commands.h"
#include "client/cli/commands/session_json.h"
#include "core/base/status.h"

namespace sinew::cli {
namespace {

struct Options {
  std::string rig, deformer, ttl;
  bake::ReadOptions read;
  bool dry_run = false;
};

// The name of the rig on the server, and in `warnings` those of its import.
absl::StatusOr<std::string> RigOf(Context& context, const std::string& rig,
                                  const bake::ReadOptions& read,
                                  std::vector<std::string>& warnings) {
  if (absl::StartsWith(rig, "rigs/")) {
    if (!read.muscles.empty()) {
      return UsageError("--muscles: needs a FILE, a stored rig has its own");
    }
    if (read.unweighted != bake::ReadOptions().unweighted) {
      return UsageError("--unweighted: needs a FILE, what a stored rig holds is final");
    }
    return rig;
  }
  SINEW_ASSIGN_OR_RETURN(const bake::CharacterFile character, ReadAndWarn(context, rig, read));
  SINEW_RETURN_IF_ERROR(bake::CheckSkins(character));
  warnings = bake::ImportWarnings(character);
  SINEW_ASSIGN_OR_RETURN(const client::UploadedRig uploaded,
                         bake::UploadCharacter(context.Connect(), context, character));
  return uploaded.rig.name;
}

std::string EstimateText(const client::Estimate& estimate) {
  return absl::StrCat("bind about ", bake::DurationText(estimate.bind_time), "\nframe about ",
                      bake::DurationText(estimate.frame_time), "\nbound data at most ",
                      bake::BytesText(estimate.bound_bytes),
                      ", an upper bound, often several times what is needed\npeak memory at most ",
                      bake::BytesText(estimate.peak_bytes), ", an upper bound\n");
}

void NoteMeasures(const Context& context, const client::Session& session) {
  for (const client::BindStatistic& statistic : session.statistics) {
    context.Note(absl::StrCat("stage ", statistic.stage + 1, ": ", statistic.name, " ",
                              bake::NumberText(statistic.value), statistic.unit.empty() ? "" : " ",
                              statistic.unit, " (", statistic.description, ")"));
  }
}

absl::Status Bind(Context& context, const Options& options) {
  client::SessionRequest request;
  SINEW_ASSIGN_OR_RETURN(request.recipe, bake::ReadRecipe(options.deformer));
  if (!options.ttl.empty()) {
    SINEW_ASSIGN_OR_RETURN(request.ttl, bake::ParseDuration("--ttl", options.ttl));
  }
  request.validate_only = options.dry_run;
  std::vector<std::string> warnings;
  SINEW_ASSIGN_OR_RETURN(request.rig, RigOf(context, options.rig, options.read, warnings));
  SINEW_ASSIGN_OR_RETURN(const client::Client connection, context.Connect());
  absl::StatusOr<client::Session> created = connection.CreateSession(request, context.call());
  if (absl::IsNotFound(created.status())) {
    return WithHint(created.status(), "see `sinew rigs`, or `sinew upload FILE`");
  }
  SINEW_ASSIGN_OR_RETURN(client::Session session, std::move(created));
  if (!options.dry_run) {
    SINEW_ASSIGN_OR_RETURN(session, bake::WaitUntilBound(context, connection, session.name));
  }
  context.Warn(session.warnings);
  NoteMeasures(context, session);
  nlohmann::ordered_json json = SessionJson(session);
  for (const std::string& warning : warnings) json["warnings"].push_back(warning);
  context.PrintResult(
      json, options.dry_run ? EstimateText(session.estimate) : absl::StrCat(session.name, "\n"));
  return absl::OkStatus();
}

}  // namespace

void AddBind(CommandList& commands) {
  auto [set, options] = commands.Add<Options>(
      "bind", "Bind a rig to a recipe (creates a session); print its name, sessions/...",
      [](Context& context, const Options& given) {
        return context.Lost(Bind(context, given), "no session is ready");
      });
  set.AddText("RIG", options.rig,
              "rigs/sha256-... as `sinew upload` prints, or a FILE (uploaded first)")
      .Required();
  AddReadOptions(set, options.read);
  set.AddText("--deformer", options.deformer, "Recipe such as ddm, or @recipe.json").Required();
  set.AddText("--ttl", options.ttl,
              "How long the session lives after its last use: 90, 10m, 1h (default: the server's)");
  set.AddFlag("--dry-run", options.dry_run,
              "Only check and estimate: upper bounds for memory, guesses for time");
  set.SetFooter(
      R"(Sessions with equal rig and deformer share their bound data: the second bind takes no time.
Examples:
  sinew bind hero.glb --deformer ddm
  sinew bind rigs/sha256-0123... --deformer 'enhanced_ddm(radius=0.03)' --ttl 1h
See also: sinew methods, sinew sessions, sinew delete.)");
}

}  // namespace sinew::cli
