// sinew render: a picture of one frame, several deformers side by side; or of the skin's weights.
#include <absl/strings/str_cat.h>

#include <nlohmann/json.hpp>

#include "client/bake/character/import_warnings.h"
#include "client/bake/character/recipe_argument.h"
#include "client/bake/files/output_file.h"
#include "client/bake/passes/bound_character.h"
#include "client/bake/passes/clip_stream.h"
#include "client/bake/pictures/posed_picture.h"
#include "client/bake/pictures/status_picture.h"
#include "client/bake/pictures/weight_picture.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/character/motion_options.h"
#include "client/cli/character/picture_options.h"
#include "client/cli/character/read_options.h"
#include "client/cli/commands/commands.h"
#include "client/render/panels.h"
#include "client/rig/rest_pose.h"
#include "core/base/status.h"

namespace sinew::cli {
namespace {

struct Options {
  std::string file, out, weights;
  bake::ReadOptions read;
  std::vector<std::string> deformers;
  bake::MotionRequest motion;
  double frame = 0;
  bool vertex_status = false, translucent = false, skeleton = false;
  PictureRequest picture;
};

// What a picture shows, and what --json reports about it.
struct Drawing {
  std::vector<bake::PosedPanel> panels;
  nlohmann::ordered_json facts = nlohmann::ordered_json::object();
};

client::OutputOptions OutputFor(const Options& options) {
  client::OutputOptions output;
  output.attributes = {client::Attribute::kPositions};
  if (options.vertex_status) output.attributes.push_back(client::Attribute::kVertexStatus);
  output.muscles = options.translucent;
  return output;
}

absl::Status AddVertexStatus(const client::FrameView& frame, bake::PosedPanel& panel,
                             Drawing& drawing) {
  std::vector<client::VertexStatus> vertex_status(frame.vertices());
  SINEW_RETURN_IF_ERROR(frame.CopyVertexStatus(vertex_status));
  bake::ColourByStatus(vertex_status, panel);
  drawing.facts["vertex_status"].push_back(
      {{"deformer", panel.label},
       {"counts", bake::VertexStatusJson(bake::CountVertexStatus(vertex_status))}});
  return absl::OkStatus();
}

absl::Status AddDeformed(Context& context, const bake::CharacterFile& character,
                         const client::ClipData& clip, const std::string& argument,
                         const Options& options, Drawing& drawing) {
  SINEW_ASSIGN_OR_RETURN(const std::string recipe_text, bake::ReadRecipe(argument));
  SINEW_ASSIGN_OR_RETURN(const client::Character bound,
                         bake::BindCharacter(context.Connect(), context, character, recipe_text));
  bake::WarnOfClip(context, character.rig, bound, clip);
  bake::PosedPanel panel;
  panel.label = bake::RecipeLabel(argument);
  const auto take = [&](const client::FrameView& frame) -> absl::Status {
    SINEW_ASSIGN_OR_RETURN(panel.positions, frame.Positions());
    if (options.vertex_status) SINEW_RETURN_IF_ERROR(AddVertexStatus(frame, panel, drawing));
    if (options.translucent) {
      panel.muscles.assign(frame.muscles().begin(), frame.muscles().end());
      drawing.facts["muscles"] = panel.muscles.size();
    }
    return absl::OkStatus();
  };
  SINEW_RETURN_IF_ERROR(bake::StreamClip(context, bound, clip,
                                         {.label = "Pose", .output = OutputFor(options)}, take));
  if (options.skeleton) panel.joints = clip.joint_transforms;
  bake::ReleaseCharacter(context, bound);
  drawing.panels.push_back(std::move(panel));
  return absl::OkStatus();
}

// The pose to draw; a file without clips is drawn in its rest pose, which has no name.
absl::StatusOr<client::ClipData> PoseToDraw(const Context& context,
                                            const bake::CharacterFile& character,
                                            const Options& options) {
  const bool still = character.clips.empty() && options.motion.poses.empty();
  if (!still || !options.motion.clip.empty()) {
    return ChooseMotion(context, character, options.motion);
  }
  context.Note(absl::StrCat(character.label, " has no clip: drawn in its rest pose"));
  client::ClipData rest;
  if (character.scene) {
    rest = client::RestPose(*character.scene);
    rest.name.clear();
    return rest;
  }
  rest.frames = 1;
  rest.joint_transforms = client::RestJoints(character.rig);
  return rest;
}

absl::StatusOr<Drawing> DrawDeformed(Context& context, const bake::CharacterFile& character,
                                     Options& options) {
  SINEW_ASSIGN_OR_RETURN(const client::ClipData clip, PoseToDraw(context, character, options));
  SINEW_RETURN_IF_ERROR(
      AimPicture(character.rig, client::PoseOf(clip, 0).joint_transforms, options.picture));
  options.picture.options.title = PictureTitle(character.label, clip);
  Drawing drawing;
  for (const std::string& deformer : options.deformers) {
    SINEW_RETURN_IF_ERROR(context.CheckStop());
    const absl::Status added = AddDeformed(context, character, clip, deformer, options, drawing);
    if (added.ok()) continue;
    const absl::Status lost = context.Lost(added, "no picture is drawn");
    return options.deformers.size() == 1
               ? lost
               : bake::OfDeformer(deformer, character, context.NameOptions(lost));
  }
  return drawing;
}

absl::StatusOr<Drawing> DrawWeights(const Context& context, const bake::CharacterFile& character,
                                    Options& options) {
  const client::RigData& rig = character.rig;
  SINEW_ASSIGN_OR_RETURN(const bake::RigWeights weights,
                         bake::ReadWeights(rig, "weights", options.weights));
  SINEW_RETURN_IF_ERROR(AimPicture(rig, client::RestJoints(rig), options.picture));
  if (options.weights == "all" && weights.carrying > weights.joints.size()) {
    context.Note(absl::StrCat(
        "drawn are the ", weights.joints.size(), " joints with most weight, of ", weights.carrying,
        "; --weights JOINT draws any, `sinew inspect FILE --joints` lists them"));
  }
  options.picture.options.title = absl::StrCat(character.label, ", weights at rest");
  Drawing drawing;
  ShrinkPanels(weights.joints.size(), options.picture);
  drawing.panels = bake::WeightPanels(rig, weights, options.picture.options);
  if (options.skeleton) {
    for (bake::PosedPanel& panel : drawing.panels) panel.joints = client::RestJoints(rig);
  }
  for (const bake::JointShare& joint : weights.joints) {
    drawing.facts["weights"].push_back({{"joint", rig.joints[joint.joint].name},
                                        {"vertices", joint.vertices},
                                        {"sum", joint.sum},
                                        {"largest", joint.largest}});
  }
  drawing.facts["joints_with_weights"] = weights.carrying;
  return drawing;
}

// The skeleton in the mesh, which may have no weights yet.
absl::StatusOr<Drawing> DrawRest(const bake::CharacterFile& character, Options& options) {
  const std::vector<float> joints = client::RestJoints(character.rig);
  SINEW_RETURN_IF_ERROR(AimPicture(character.rig, joints, options.picture));
  options.picture.options.title = PictureTitle(character.label, {});
  bake::PosedPanel panel;
  panel.positions = client::RestPositions(character.rig);
  panel.joints = joints;
  Drawing drawing;
  drawing.panels.push_back(std::move(panel));
  return drawing;
}

absl::Status CheckWhat(const Options& options) {
  if (options.deformers.empty() && options.weights.empty() && !options.skeleton) {
    return UsageError(
        "--deformer: got none, need one or more, or --weights JOINT, or --skeleton for the rest "
        "pose");
  }
  return absl::OkStatus();
}

absl::Status Render(Context& context, Options options) {
  SINEW_RETURN_IF_ERROR(CheckWhat(options));
  SINEW_RETURN_IF_ERROR(ReadPictureSize(options.picture));
  SINEW_RETURN_IF_ERROR(CheckPng("--out", options.out));
  // Before the server works; panels of weights are counted later.
  SINEW_RETURN_IF_ERROR(client::CheckPanels(options.deformers.size(), options.picture.options.width,
                                            options.picture.options.height));
  options.motion.frames = bake::FrameSet::One(options.frame, "frame");
  SINEW_ASSIGN_OR_RETURN(const bake::CharacterFile character,
                         ReadAndWarn(context, options.file, options.read));
  SINEW_ASSIGN_OR_RETURN(bake::OutputFile out, bake::OutputFile::Create(options.out));
  SINEW_ASSIGN_OR_RETURN(const Drawing drawing,
                         !options.weights.empty()    ? DrawWeights(context, character, options)
                         : options.deformers.empty() ? DrawRest(character, options)
                                                     : DrawDeformed(context, character, options));
  SINEW_ASSIGN_OR_RETURN(
      const client::Image image,
      DrawPicture(context, character.rig, drawing.panels, options.picture.options, out));
  nlohmann::ordered_json labels = nlohmann::ordered_json::array();
  for (const bake::PosedPanel& panel : drawing.panels) labels.push_back(panel.label);
  nlohmann::ordered_json json = {
      {"out", options.out},     {"width", image.width},
      {"height", image.height}, {"title", options.picture.options.title},
      {"panels", labels},       {"warnings", bake::ImportWarnings(character)}};
  json.update(drawing.facts);
  context.PrintResult(json, options.out + "\n");
  return absl::OkStatus();
}

}  // namespace

void AddRender(CommandList& commands) {
  auto [set, options] = commands.Add<Options>(
      "render", "Draw one frame, one panel per deformer, without GPU or display", Render);
  set.AddText("FILE", options.file, "Character file, .sinewrig or model:NAME").Required();
  AddReadOptions(set, options.read);
  const Option deformer = set.AddList("--deformer", options.deformers,
                                      "Recipe or @recipe.json; repeat for panels side by side")
                              .Values(1, 64);
  AddMotionOptions(set, options.read, options.motion);
  const Option frame = set.AddNumber("--frame", options.frame, 0, 1'000'000'000,
                                     "Frame of the clip, such as 12 or 12.5");
  set.AddFlag("--vertex-status", options.vertex_status,
              "Colour vertices by their projection status, with counts (for implicit)")
      .Needs(deformer);
  set.AddFlag("--translucent", options.translucent,
              "Show the posed muscles of the rig under a translucent skin")
      .Needs(deformer);
  set.AddFlag("--skeleton", options.skeleton,
              "Show joints and bones under a translucent skin; without --deformer, at rest");
  set.AddText("--weights", options.weights,
              "Instead of a frame: the rest mesh coloured by the weights of JOINT, or with all one "
              "panel per joint")
      .Placeholder("JOINT|all")
      .Excludes(deformer)
      .Excludes(frame);
  set.AddText("--out", options.out, "The picture, PNG").Required();
  AddPictureOptions(set, options.picture);
  set.SetFooter(absl::StrCat(
      R"(All panels share pose and camera; each states its largest distance from the first.
If the connection drops, waits up to 30 s for the server and says so.
Status of vertices in --vertex-status, with its colour; --json has '_' for blanks:
)",
      bake::VertexStatusHelp(),
      R"(Examples:
  sinew render hero.glb --deformer ddm --frame 12 --out hero.png
  sinew render hero.glb --deformer lbs dqs ddm enhanced_ddm --clip Run --frame 7 --size 640x720 --out run.png
  sinew render model:hand --deformer lbs --deformer ddm --frame 24 --look-at index_proximal --out hand.png --local
  sinew render hero.glb --deformer implicit_skinning --vertex-status --frame 12 --out status.png
  sinew render hero.glb --weights all --size 320x480 --out weights.png
  sinew render hero.sinewrig --deformer ddm --clip-file walk.fbx --retarget --frame 12 --skeleton --out walk.png
See also: sinew methods, sinew bake.)"));
}

}  // namespace sinew::cli
