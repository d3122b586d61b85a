// sinew sessions: lists sessions with the progress of their bind.
#include <absl/strings/str_format.h>

#include <nlohmann/json.hpp>

#include "client/bake/base/quantity.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/base/table.h"
#include "client/cli/commands/commands.h"
#include "client/cli/commands/session_json.h"
#include "core/base/status.h"

namespace sinew::cli {
namespace {

constexpr std::size_t kShortRig = 24;  // characters of a rig's name, enough to be unique
constexpr char kExpiryHint[] =
    "see `sinew sessions`; a session expires some time after its last use";

void AddRow(const client::Session& session, Table& table) {
  const bool failed = session.state == client::SessionState::kFailed;
  table.Add({session.name, StateName(session.state),
             Cell(session.progress, absl::StrFormat("%.0f %%", session.progress * 100)),
             Cell(nullptr, ExpiresIn(session)),
             Cell(session.bound_bytes, bake::BytesText(session.bound_bytes)),
             session.rig.substr(0, kShortRig),
             failed                        ? session.problem.message
             : session.recipe_text.empty() ? session.recipe_json
                                           : session.recipe_text});
}

absl::Status Sessions(Context& context, const std::vector<std::string>& names) {
  for (const std::string& name : names) SINEW_RETURN_IF_ERROR(CheckName(name, {"sessions/"}));
  SINEW_ASSIGN_OR_RETURN(const client::Client connection, context.Connect());
  std::vector<client::Session> sessions;
  for (const std::string& name : names) {
    const auto session = connection.GetSession(name, context.call());
    if (absl::IsNotFound(session.status())) return WithHint(session.status(), kExpiryHint);
    SINEW_RETURN_IF_ERROR(session.status());
    sessions.push_back(*session);
  }
  if (names.empty()) {
    SINEW_RETURN_IF_ERROR(connection.ForEachSession(
        [&](const client::Session& session) {
          sessions.push_back(session);
          return true;
        },
        context.call()));
  }
  Table table({{"session"}, {"state"}, {"bound"}, {"expires in"}, {"size"}, {"rig"}, {"deformer"}});
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const client::Session& session : sessions) {
    json.push_back(SessionJson(session));
    AddRow(session, table);
  }
  context.PrintResult(json, table.Text());
  return absl::OkStatus();
}

}  // namespace

void AddSessions(CommandList& commands) {
  auto [set, names] = commands.Add<std::vector<std::string>>(
      "sessions", "List sessions with state, bind progress and expiry", Sessions);
  set.AddList("NAME", names, "Only these (default: all)");
  set.SetFooter(R"(Examples:
  sinew sessions
  sinew sessions sessions/0123 --json        # with the recipe, every default filled in
Behind a balancer the list is that of the server that answers; each finds any session by its name.
See also: sinew bind, sinew delete, sinew stats.)");
}

}  // namespace sinew::cli
