// sinew upload: stores a rig on the server and prints its name.
#include <absl/strings/str_cat.h>

#include <nlohmann/json.hpp>

#include "client/bake/character/character_file.h"
#include "client/bake/character/import_warnings.h"
#include "client/bake/passes/bound_character.h"
#include "client/cli/character/read_options.h"
#include "client/cli/commands/commands.h"
#include "core/base/status.h"

namespace sinew::cli {
namespace {

struct Options {
  std::string file;
  bake::ReadOptions read;
};

absl::Status Upload(Context& context, const Options& options) {
  SINEW_ASSIGN_OR_RETURN(const bake::CharacterFile character,
                         ReadAndWarn(context, options.file, options.read));
  SINEW_ASSIGN_OR_RETURN(const client::UploadedRig uploaded,
                         bake::UploadCharacter(context.Connect(), context, character));
  const client::RigSummary& rig = uploaded.rig;
  context.PrintResult({{"rig", rig.name},
                       {"bytes", rig.size_bytes},
                       {"sent_bytes", uploaded.sent_bytes},
                       {"was_stored", uploaded.was_stored},
                       {"vertices", rig.vertices},
                       {"joints", rig.joints.size()},
                       {"warnings", bake::ImportWarnings(character)}},
                      rig.name + "\n");
  return absl::OkStatus();
}

}  // namespace

void AddUpload(CommandList& commands) {
  auto [set, options] = commands.Add<Options>(
      "upload", "Store a rig on the server and print its name, rigs/sha256-...", Upload);
  set.AddText("FILE", options.file, "Character file, .sinewrig or model:NAME").Required();
  AddReadOptions(set, options.read);
  set.SetFooter(R"(The name is the SHA-256 of the bytes: uploading the same rig again sends nothing.
Examples:
  sinew upload hero.glb
  sinew bind $(sinew upload hero.glb) --deformer ddm
See also: sinew bind, sinew rigs, sinew delete.)");
}

}  // namespace sinew::cli
