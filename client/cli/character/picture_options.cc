#include "client/cli/character/picture_options.h"
#include "client/bake/base/errors.h"
#include "client/bake/base/quantity.h"
#include "client/bake/files/name_pattern.h"

#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "client/bake/character/joint_suggestion.h"
#include "client/cli/base/exit_code.h"
#include "client/render/image.h"
#include "client/render/render.h"
#include "core/base/status.h"

namespace sinew::cli {
namespace {

constexpr double kJointZoom = 4;
constexpr std::size_t kFewPanels = 6;
constexpr std::uint32_t kSmallSide = 400;

}  // namespace

void AddPictureOptions(OptionSet& set, PictureRequest& request, std::optional<Option> picture) {
  const Option options[] = {
      set.AddText("--size", request.size,
                  "Of each panel, WIDTHxHEIGHT (default 800x800; 400x400 for the weights of more "
                  "than 6 joints)"),
      set.AddNumber("--azimuth", request.options.framing.azimuth, -360, 360,
                    "Camera around the up axis, degrees; 0 = the front"),
      set.AddNumber("--elevation", request.options.framing.elevation, -85, 85,
                    "Camera above the horizon, degrees"),
      set.AddNumber("--zoom", request.zoom, 0.1, 1000,
                    "Magnification; 1 shows everything (default: 1, with --look-at 4)"),
      set.AddText("--look-at", request.look_at, "Joint at the centre of the picture"),
      set.AddFlag("--wire", request.options.wire, "Draw the edges of the faces")};
  for (const Option& option : options) {
    if (picture) option.Needs(*picture);
  }
}

absl::Status ReadPictureSize(PictureRequest& request) {
  if (request.size.empty()) return absl::OkStatus();
  bake::PictureOptions& picture = request.options;
  const std::vector<std::string> sides = absl::StrSplit(request.size, 'x');
  if (sides.size() != 2 || !absl::SimpleAtoi(sides[0], &picture.width) ||
      !absl::SimpleAtoi(sides[1], &picture.height) || picture.width < 16 || picture.height < 16 ||
      picture.width > client::kMaxRenderSide || picture.height > client::kMaxRenderSide) {
    return UsageError(absl::StrCat("--size: got \"", request.size,
                                   "\", need WIDTHxHEIGHT, each 16 to ", client::kMaxRenderSide,
                                   ", e.g. 1280x720"));
  }
  return absl::OkStatus();
}

void ShrinkPanels(std::size_t panels, PictureRequest& request) {
  if (!request.size.empty() || panels <= kFewPanels) return;
  request.options.width = request.options.height = kSmallSide;
}

absl::Status AimPicture(const client::RigData& rig, std::span<const float> joints,
                        PictureRequest& request) {
  request.options.framing.zoom = request.zoom.value_or(request.look_at.empty() ? 1 : kJointZoom);
  if (request.look_at.empty()) return absl::OkStatus();
  const absl::StatusOr<std::size_t> joint = bake::FindJoint(rig, request.look_at);
  if (!joint.ok()) return bake::Prefixed("--look-at", joint.status());
  if (joints.size() < (*joint + 1) * 12) {
    return absl::InvalidArgumentError(
        absl::StrCat("--look-at: the rest pose has no place for \"", request.look_at, "\""));
  }
  const std::span<const float> matrix = joints.subspan(*joint * 12, 12);
  request.options.framing.look_at = client::Point{matrix[3], matrix[7], matrix[11]};
  return absl::OkStatus();
}

absl::Status CheckPng(const std::string& option, const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  if (!absl::EqualsIgnoreCase(extension, ".png")) {
    return UsageError(absl::StrCat(option, ": got \"", path, "\", need .png"));
  }
  for (const char* word : {"mesh", "clip", "deformer"}) {
    if (!bake::HasWord(path, word)) continue;
    return UsageError(
        absl::StrCat(option, ": got {", word, "}, need a plain name: this is one picture"));
  }
  return absl::OkStatus();
}

std::string PictureTitle(const std::string& label, const client::ClipData& clip,
                         std::size_t index) {
  if (clip.name.empty()) return absl::StrCat(label, ", at rest");
  const double frame = clip.FrameNumber(index);
  return absl::StrFormat("%s, %s, frame %s (%.2f s)", label, clip.name, bake::ExactText(frame),
                         frame / clip.fps);
}

absl::StatusOr<client::Image> DrawPicture(const Context& context, const client::RigData& rig,
                                          const std::vector<bake::PosedPanel>& panels,
                                          bake::PictureOptions options, bake::OutputFile& out) {
  const auto line = context.MakeProgress("Draw");
  options.progress = [&](double part) {
    line->Update(part);
    return context.CheckStop().ok();
  };
  SINEW_ASSIGN_OR_RETURN(client::Image image, bake::DrawPanels(rig, panels, options));
  SINEW_ASSIGN_OR_RETURN(const std::string png, client::EncodePng(image));
  line->Close();
  SINEW_RETURN_IF_ERROR(context.CheckStop());
  SINEW_RETURN_IF_ERROR(out.Write(png));
  SINEW_RETURN_IF_ERROR(out.Commit());
  return image;
}

}  // namespace sinew::cli
