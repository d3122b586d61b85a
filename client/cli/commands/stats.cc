// sinew stats: version, load and limits of the server.
#include <absl/strings/str_cat.h>

#include <nlohmann/json.hpp>

#include "client/bake/base/quantity.h"
#include "client/cli/base/table.h"
#include "client/cli/commands/commands.h"
#include "core/base/status.h"

namespace sinew::cli {
namespace {

Table Limits(const client::ServerInfo& info) {
  Table table({{"limit", "name"}, {"value", "value"}, {"unit", "unit"}, {"what", "description"}});
  for (const client::Limit& limit : info.limits) {
    table.Add({limit.name, limit.value, limit.unit, limit.description});
  }
  return table;
}

nlohmann::ordered_json InfoJson(const client::ServerInfo& info) {
  const client::ServerStats& stats = info.stats;
  return {{"version", info.version},
          {"simd", info.simd},
          {"threads", info.threads},
          {"tenant_only", stats.tenant_only},
          {"uptime_seconds", stats.uptime_seconds},
          {"rigs", stats.rigs},
          {"rig_bytes", stats.rig_bytes},
          {"sessions", stats.sessions},
          {"bound_entries", stats.bound_entries},
          {"bound_bytes", stats.bound_bytes},
          {"streams", stats.streams},
          {"frames_sent", stats.frames_sent},
          {"binds_running", stats.binds_running},
          {"binds_queued", stats.binds_queued},
          {"limits", Limits(info).Json()}};
}

std::string StatsText(const client::ServerInfo& info) {
  const client::ServerStats& stats = info.stats;
  Table table({{"server"}, {absl::StrCat("sinewd ", info.version)}});
  table.Add({"instruction set", info.simd});
  table.Add({"threads", bake::CountText(info.threads)});
  table.Add(
      {"rigs", absl::StrCat(bake::CountText(stats.rigs), ", ", bake::BytesText(stats.rig_bytes))});
  table.Add({"sessions", bake::CountText(stats.sessions)});
  if (stats.tenant_only) {
    table.Add({"all clients", "not shown: needs a token with the scope admin"});
    return table.Text();
  }
  table.Add({"up for", bake::DurationText(absl::Seconds(stats.uptime_seconds))});
  table.Add({"bound", absl::StrCat(bake::CountText(stats.bound_entries), ", ",
                                   bake::BytesText(stats.bound_bytes))});
  table.Add(
      {"binds", absl::StrCat(stats.binds_running, " running, ", stats.binds_queued, " queued")});
  table.Add({"open streams", bake::CountText(stats.streams)});
  table.Add({"frames sent", bake::CountText(stats.frames_sent)});
  return table.Text();
}

absl::Status Stats(Context& context, bool limits) {
  SINEW_ASSIGN_OR_RETURN(const client::Client connection, context.Connect());
  SINEW_ASSIGN_OR_RETURN(const client::ServerInfo info, connection.GetServerInfo(context.call()));
  context.PrintResult(InfoJson(info), limits ? Limits(info).Text() : StatsText(info));
  return absl::OkStatus();
}

}  // namespace

void AddStats(CommandList& commands) {
  auto [set, limits] = commands.Add<bool>("stats", "Version, load and limits of the server", Stats);
  set.AddFlag("--limits", limits, "Print the limits on requests instead");
  set.SetFooter(R"(Examples:
  sinew stats
  sinew stats --limits
  sinew stats --json --server build-host:50051
See also: sinew rigs, sinew sessions, sinew bench.)");
}

}  // namespace sinew::cli
