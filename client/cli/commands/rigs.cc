// sinew rigs: lists the rigs the server stores.
#include <absl/strings/str_cat.h>

#include <nlohmann/json.hpp>

#include "client/bake/base/quantity.h"
#include "client/cli/base/table.h"
#include "client/cli/commands/commands.h"
#include "core/base/status.h"

namespace sinew::cli {
namespace {

// The names of the meshes, and in JSON all that is known of them.
Cell MeshesOf(const client::RigSummary& rig) {
  std::string names;
  nlohmann::ordered_json meshes = nlohmann::ordered_json::array();
  for (const client::MeshRange& mesh : rig.meshes) {
    absl::StrAppend(&names, names.empty() ? "" : ", ", mesh.name);
    meshes.push_back({{"name", mesh.name},
                      {"vertex_offset", mesh.vertex_offset},
                      {"vertices", mesh.vertex_count},
                      {"faces", mesh.face_count}});
  }
  return {meshes, rig.vertices > 0 ? names : "-"};
}

absl::Status Rigs(Context& context) {
  SINEW_ASSIGN_OR_RETURN(const client::Client connection, context.Connect());
  Table table({{"rig", "rig"},
               {"vertices", "vertices"},
               {"faces", "faces"},
               {"size", "bytes"},
               {"meshes", "meshes"},
               {"", "without_weights"},
               {"", "create_time"}});
  SINEW_RETURN_IF_ERROR(connection.ForEachRig(
      [&](const client::RigSummary& rig) {
        // Only the size is known of a rig that another server holds.
        const auto count = [&](std::uint64_t number) {
          return Cell(number, rig.vertices > 0 ? bake::CountText(number) : "-");
        };
        table.Add({rig.name, count(rig.vertices), count(rig.faces),
                   Cell(rig.size_bytes, bake::BytesText(rig.size_bytes)), MeshesOf(rig),
                   Cell(rig.without_weights, ""),
                   absl::FormatTime(absl::RFC3339_sec, rig.create_time, absl::UTCTimeZone())});
        return true;
      },
      context.call()));
  context.PrintResult(table.Json(), table.Text());
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
