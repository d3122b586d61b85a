#include "client/cli/character/bound_character.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

#include "client/cli/base/exit_code.h"
#include "client/cli/base/quantity.h"
#include "client/cli/character/muscle_file.h"
#include "client/cli/character/recipe_argument.h"
#include "client/cli/character/recipe_text.h"
#include "core/base/status.h"

namespace sinew::cli {
namespace {

// Controls may tense muscles instead.
bool DrivesAShape(const client::RigData& rig, const std::string& control) {
  return std::ranges::any_of(rig.meshes, [&](const client::Mesh& mesh) {
    return std::ranges::any_of(
        mesh.shapes, [&](const client::Shape& shape) { return shape.control == control; });
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

client::UploadProgress ShowOn(const std::shared_ptr<Progress>& line) {
  return [line](std::uint64_t held, std::uint64_t size) {
    line->Update(size == 0 ? 1 : static_cast<double>(held) / static_cast<double>(size),
                 BytesText(size));
  };
}

}  // namespace

absl::StatusOr<client::UploadedRig> UploadCharacter(Context& context,
                                                    const CharacterFile& character) {
  SINEW_ASSIGN_OR_RETURN(const client::Client connection, context.Connect());
  const auto line = context.MakeProgress("Upload", Progress::Part::kFirst);
  absl::StatusOr<client::UploadedRig> uploaded =
      connection.UploadRig(std::string_view(character.rig_bytes), ShowOn(line), context.call());
  line->Close();
  if (!uploaded.ok()) return PlacedInMuscleFile(character.muscles, uploaded.status());
  return uploaded;
}

absl::StatusOr<client::Session> WaitUntilBound(Context& context, const client::Client& connection,
                                               const std::string& name) {
  const auto line = context.MakeProgress("Bind");
  absl::StatusOr<client::Session> session = connection.WaitSession(
      name, [line](const client::Session& seen) { line->Update(seen.progress); }, context.call());
  // An interrupted user does not need the bind; a session shared with others only loses this lease.
  if (absl::IsCancelled(session.status())) (void)connection.DeleteSession(name, {});
  return session;
}

absl::StatusOr<client::Character> BindCharacter(Context& context, const CharacterFile& character,
                                                const std::string& recipe_text) {
  SINEW_ASSIGN_OR_RETURN(const client::Client connection, context.Connect());
  const auto upload = context.MakeProgress("Upload", Progress::Part::kFirst),
             bind = context.MakeProgress("Bind", Progress::Part::kFirst);
  client::CharacterOptions options;
  options.upload_progress = ShowOn(upload);
  options.session_progress = [upload, bind](const client::Session& session) {
    upload->Close();
    bind->Update(session.progress, session.recipe_text);
  };
  absl::StatusOr<client::Character> bound = client::Character::Create(
      connection, character.rig_bytes, recipe_text, options, context.call());
  upload->Close();
  bind->Close();
  if (!bound.ok()) return PlacedInMuscleFile(character.muscles, bound.status());
  context.Warn(PlacedInMuscleFile(character.muscles, bound->session().warnings));
  return bound;
}

absl::Status OfDeformer(const std::string& argument, const CharacterFile& character,
                        const absl::Status& status) {
  const bool of_muscles =
      !character.muscles.empty() && absl::StartsWith(status.message(), character.muscles + ": ");
  return of_muscles ? status : Prefixed(RecipeLabel(argument), status);
}

void WarnUnusedControls(const Context& context, const client::RigData& rig,
                        const client::Character& character, const client::ClipData& clip) {
  if (MovesShapes(rig, clip) && !absl::StrContains(character.session().recipe_json, "\"shapes\"")) {
    context.WarnOnce(absl::StrCat("clip '", clip.name,
                                  "' sets morph targets, which stay at rest under '",
                                  RecipeText(character.session().recipe_json),
                                  "': put \"shapes | \" in front, as in 'shapes | lbs'"));
  }
}

void ReleaseCharacter(const Context& context, const client::Character& character) {
  client::CallOptions call = context.call();
  call.deadline = absl::Seconds(2);
  character.Release(call).IgnoreError();
}

client::Pose PoseOf(const client::ClipData& clip, std::size_t index) {
  const std::size_t joints = clip.joint_transforms.size() / clip.frames;
  const std::size_t controls = clip.controls.size() / clip.frames;
  client::Pose pose;
  pose.joint_transforms = std::span(clip.joint_transforms).subspan(index * joints, joints);
  pose.controls = std::span(clip.controls).subspan(index * controls, controls);
  pose.time = clip.FrameNumber(index) / clip.fps;
  return pose;
}

}  // namespace sinew::cli
