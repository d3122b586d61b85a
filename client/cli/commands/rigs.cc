// sinew rigs: lists the rigs the server stores.
#include <absl/strings/str_cat.h>

#include <nlohmann/json.hpp>

#include "client/bake/base/quantity.h"
#include "client/cli/base/table.h"
#include "client/cli/commands/commands.h"
#include "core/base/status.h"

namespace sinew::cli {
namespace {

std::string MeshNames(const client::RigSummary& rig) {
  std::string names;
  for (const client::MeshRange& mesh : rig.meshes)
    absl::StrAppend(&names, names.empty() ? "" : ", ", mesh.name);
  return names;
}

nlohmann::ordered_json RigJson(const client::RigSummary& rig) {
  nlohmann::ordered_json meshes = nlohmann::ordered_json::array();
  for (const client::MeshRange& mesh : rig.meshes) {
    meshes.push_back({{"name", mesh.name},
                      {"vertex_offset", mesh.vertex_offset},
                      {"vertices", mesh.vertex_count},
                      {"faces", mesh.face_count}});
  }
  return {
      {"rig", rig.name},
      {"bytes", rig.size_bytes},
      {"vertices", rig.vertices},
      {"faces", rig.faces},
      {"meshes", meshes},
      {"without_weights", rig.without_weights},
      {"create_time", absl::FormatTime(absl::RFC3339_sec, rig.create_time, absl::UTCTimeZone())}};
}

absl::Status Rigs(Context& context) {
  SINEW_ASSIGN_OR_RETURN(const client::Client connection, context.Connect());
  using enum Table::Align;
  Table table({{"rig"}, {"vertices", kRight}, {"faces", kRight}, {"size", kRight}, {"meshes"}});
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  SINEW_RETURN_IF_ERROR(connection.ForEachRig(
      [&](const client::RigSummary& rig) {
        json.push_back(RigJson(rig));
        // Only the size is known of a rig that another server holds.
        const bool known = rig.vertices > 0;
        table.Add({rig.name, known ? bake::CountText(rig.vertices) : "-",
                   known ? bake::CountText(rig.faces) : "-", bake::BytesText(rig.size_bytes),
                   known ? MeshNames(rig) : "-"});
        return true;
      },
      context.call()));
  context.PrintResult(json, table.Text());
  return absl::OkStatus();
}

}  // namespace

void AddRigs(CommandList& commands) {
  commands.Add("rigs", "List the rigs the server stores", Rigs).SetFooter(R"(Examples:
  sinew rigs
  sinew rigs --json
See also: sinew upload, sinew delete.)");
}

}  // namespace sinew::cli
