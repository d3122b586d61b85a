#include "client/bake/passes/bound_character.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

#include "client/bake/base/errors.h"
#include "client/bake/base/quantity.h"
#include "client/bake/character/muscle_file.h"
#include "client/bake/character/recipe_argument.h"
#include "client/bake/character/recipe_text.h"
#include "client/rig/rig_units.h"
#include "core/base/status.h"

namespace sinew::bake {
namespace {

bool MovesPoints(const client::Shape& shape) {
  return std::ranges::any_of(shape.targets, [](const client::ShapeTarget& target) {
    return std::ranges::any_of(target.offsets, [](float x) { return x != 0; });
  });
}

// Controls may tense muscles instead, and files may have targets that move nothing.
bool DrivesAShape(const client::RigData& rig, const std::string& control) {
  return std::ranges::any_of(rig.meshes, [&](const client::Mesh& mesh) {
    return std::ranges::any_of(mesh.shapes, [&](const client::Shape& shape) {
      return shape.control == control && MovesPoints(shape);
    });
  });
}

bool MovesShapes(const client::RigData& rig, const client::ClipData& clip) {
  const std::size_t controls = rig.controls.size();
  for (std::size_t k = 0; k < controls; ++k) {
    bool moves = false;
    for (std::size_t at = k; at < clip.controls.size(); at += controls) {
      moves = moves || clip.controls[at] != 0;
    }
    if (moves && DrivesAShape(rig, rig.controls[k].name)) return true;
  }
  return false;
}

client::UploadProgress ShowOn(const std::shared_ptr<ProgressLine>& line) {
  return [line](std::uint64_t held, std::uint64_t size) {
    line->Update(size == 0 ? 1 : static_cast<double>(held) / static_cast<double>(size),
                 BytesText(size));
  };
}

}  // namespace

absl::Status CheckSkins(const CharacterFile& character) {
  for (const client::Mesh& mesh : character.rig.meshes) {
    if (!mesh.skin.empty()) continue;
    return InvalidArgument(character.label, ": mesh \"", mesh.name,
                           "\" has no skin weights, need some; `sinew weights` computes them");
  }
  return absl::OkStatus();
}

absl::StatusOr<client::UploadedRig> UploadCharacter(const Connection& connection,
                                                    const Monitor& monitor,
                                                    const CharacterFile& character) {
  SINEW_RETURN_IF_ERROR(connection.status());
  const auto line = monitor.MakeProgress("Upload", Monitor::Part::kFirst);
  absl::StatusOr<client::UploadedRig> uploaded =
      connection->UploadRig(std::string_view(character.rig_bytes), ShowOn(line), monitor.call());
  line->Close();
  if (!uploaded.ok()) return PlacedInMuscleFile(character.muscles, uploaded.status());
  return uploaded;
}

absl::StatusOr<client::Session> WaitUntilBound(const Monitor& monitor,
                                               const client::Client& connection,
                                               const std::string& name) {
  const auto line = monitor.MakeProgress("Bind");
  absl::StatusOr<client::Session> session = connection.WaitSession(
      name, [line](const client::Session& seen) { line->Update(seen.progress); }, monitor.call());
  // An interrupted user does not need the bind; a session shared with others only loses this lease.
  if (absl::IsCancelled(session.status())) (void)connection.DeleteSession(name, {});
  return session;
}

absl::StatusOr<client::Character> BindCharacter(const Connection& connection,
                                                const Monitor& monitor,
                                                const CharacterFile& character,
                                                const std::string& recipe_text) {
  SINEW_RETURN_IF_ERROR(CheckSkins(character));
  SINEW_RETURN_IF_ERROR(connection.status());
  const auto upload = monitor.MakeProgress("Upload", Monitor::Part::kFirst),
             bind = monitor.MakeProgress("Bind", Monitor::Part::kFirst);
  client::CharacterOptions options;
  options.upload_progress = ShowOn(upload);
  options.session_progress = [upload, bind](const client::Session& session) {
    upload->Close();
    bind->Update(session.progress, session.recipe_text);
  };
  absl::StatusOr<client::Character> bound = client::Character::Create(
      *connection, character.rig_bytes, recipe_text, options, monitor.call());
  upload->Close();
  bind->Close();
  if (!bound.ok()) return PlacedInMuscleFile(character.muscles, bound.status());
  monitor.Warn(PlacedInMuscleFile(character.muscles, bound->session().warnings));
  return bound;
}

absl::Status OfDeformer(const std::string& argument, const CharacterFile& character,
                        const absl::Status& status) {
  const bool of_muscles =
      !character.muscles.empty() && absl::StartsWith(status.message(), character.muscles + ": ");
  return of_muscles ? status : Prefixed(RecipeLabel(argument), status);
}

std::vector<std::string> ClipWarnings(const client::RigData& rig,
                                      const client::Character& character,
                                      const client::ClipData& clip) {
  std::vector<std::string> warnings;
  if (MovesShapes(rig, clip) && !absl::StrContains(character.session().recipe_json, "\"shapes\"")) {
    const std::string what =
        clip.name.empty() ? "the rest pose of the file" : absl::StrCat("clip '", clip.name, "'");
    warnings.push_back(absl::StrCat(what, " sets morph targets, which stay at rest under '",
                                    RecipeText(character.session().recipe_json),
                                    "': put \"shapes | \" in front, as in 'shapes | lbs'"));
  }
  if (std::string size = client::SuspiciousSize(rig, clip); !size.empty()) {
    warnings.push_back(std::move(size));
  }
  return warnings;
}

void WarnOfClip(const Monitor& monitor, const client::RigData& rig,
                const client::Character& character, const client::ClipData& clip) {
  for (const std::string& warning : ClipWarnings(rig, character, clip)) {
    monitor.WarnOfClip(clip.name, warning);
  }
}

void ReleaseCharacter(const Monitor& monitor, const client::Character& character) {
  client::CallOptions call = monitor.call();
  call.deadline = absl::Seconds(2);
  character.Release(call).IgnoreError();
}

}  // namespace sinew::bake
