// sinew delete: removes rigs and sessions.
#include <absl/strings/match.h>

#include <nlohmann/json.hpp>

#include "client/bake/base/errors.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/commands/commands.h"
#include "client/cli/commands/session_json.h"
#include "core/base/status.h"

namespace sinew::cli {
namespace {

absl::Status Delete(Context& context, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    SINEW_RETURN_IF_ERROR(CheckName(name, {"rigs/", "sessions/"}));
  }
  SINEW_ASSIGN_OR_RETURN(const client::Client connection, context.Connect());
  nlohmann::ordered_json deleted = nlohmann::ordered_json::array();
  for (const std::string& name : names) {
    const bool is_rig = absl::StartsWith(name, "rigs/");
    const absl::Status status = is_rig ? connection.DeleteRig(name, context.call())
                                       : connection.DeleteSession(name, context.call());
    if (absl::IsNotFound(status)) {
      return WithHint(status, is_rig ? "see `sinew rigs`" : "see `sinew sessions`");
    }
    if (!status.ok()) {
      return absl::StrContains(status.message(), name) ? status : bake::Prefixed(name, status);
    }
    deleted.push_back(name);
    if (!context.json()) context.Print(name + "\n");
  }
  if (context.json()) context.PrintJson(deleted);
  return absl::OkStatus();
}

}  // namespace

void AddDelete(CommandList& commands) {
  auto [set, names] = commands.Add<std::vector<std::string>>(
      "delete", "Delete rigs and sessions; print the names deleted", Delete);
  set.AddList("NAME", names, "rigs/... or sessions/...").Required();
  set.SetFooter(R"(Stops at the first that cannot be deleted.
Examples:
  sinew delete sessions/0123
  sinew delete $(sinew rigs --json | jq -r '.[].rig')
See also: sinew rigs, sinew sessions.)");
}

}  // namespace sinew::cli
