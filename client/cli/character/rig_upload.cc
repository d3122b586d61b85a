#include "client/cli/character/rig_upload.h"

#include "client/cli/base/quantity.h"
#include "client/cli/character/muscle_file.h"
#include "core/base/status.h"

namespace sinew::cli {

absl::StatusOr<client::UploadedRig> UploadCharacter(Context& context,
                                                    const CharacterFile& character) {
  SINEW_ASSIGN_OR_RETURN(const client::Client connection, context.Connect());
  const auto line = context.MakeProgress("Upload");
  absl::StatusOr<client::UploadedRig> uploaded = connection.UploadRig(
      std::string_view(character.rig_bytes),
      [line](std::uint64_t held, std::uint64_t size) {
        line->Update(size == 0 ? 1 : static_cast<double>(held) / static_cast<double>(size),
                     BytesText(size));
      },
      context.call());
  line->Close();
  if (!uploaded.ok()) return PlacedInMuscleFile(character.muscles, uploaded.status());
  return uploaded;
}

}  // namespace sinew::cli
