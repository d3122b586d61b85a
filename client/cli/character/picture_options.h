// picture_options.h - the options of a picture, the same in every command that draws one.
#pragma once

#include <absl/status/statusor.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "client/bake/files/output_file.h"
#include "client/bake/pictures/posed_picture.h"
#include "client/cli/base/options.h"
#include "client/cli/run/context.h"

namespace sinew::cli {

struct PictureRequest {
  std::string size;            // WIDTHxHEIGHT of each panel, or empty
  std::optional<double> zoom;  // unset = all of the mesh, or a part with look_at
  std::string look_at;         // a joint's name, or empty
  bake::PictureOptions options;
};

// Adds --size, --azimuth, --elevation, --zoom, --look-at and --wire; with `picture`, each of them
// needs that option.
void AddPictureOptions(OptionSet& set, PictureRequest& request, std::optional<Option> picture = {});

// Reads --size into the options. UsageError.
absl::Status ReadPictureSize(PictureRequest& request);

// Points the camera at the joint of --look-at, placed by `joints` [J * 12], joint to model, and
// reads --zoom. kNotFound: no such joint.
absl::Status AimPicture(const client::RigData& rig, std::span<const float> joints,
                        PictureRequest& request);

// Without --size, shrinks the panels if there are so many that drawing would take minutes.
void ShrinkPanels(std::size_t panels, PictureRequest& request);

// UsageError: `path` does not end in .png. `option` names it.
absl::Status CheckPng(const std::string& option, const std::string& path);

// "hand.glb, Fist, frame 12 (0.50 s)" for pose `index` of a clip.
std::string PictureTitle(const std::string& label, const client::ClipData& clip,
                         std::size_t index = 0);

// DrawPanels with a progress line, then the PNG to `out`; Ctrl-C stops it and leaves no file.
// kCancelled, errors of DrawPanels and OutputFile.
absl::StatusOr<client::Image> DrawPicture(const Context& context, const client::RigData& rig,
                                          const std::vector<bake::PosedPanel>& panels,
                                          bake::PictureOptions options, bake::OutputFile& out);

}  // namespace sinew::cli
