// posed_picture.h - posed rigs as pictures side by side, on one camera.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "client/render/image.h"
#include "sinew/rig_data.h"

namespace sinew::cli {

// One result of a deformer.
struct PosedPanel {
  std::string label;
  std::vector<float> positions;  // [V * 3] all meshes, rig order
};

struct PictureOptions {
  std::string title;
  std::uint32_t width = 800, height = 800;  // of each panel
  double azimuth = 35, elevation = 14;      // degrees
  bool wire = false;
};

// Draws the panels, all meshes of `rig` together; behind the first, a note says how far each lies
// from it. kInvalidArgument: no panel, or positions that are not finite (a pose that blew up);
// errors of client::Render.
absl::StatusOr<client::Image> DrawPanels(const client::RigData& rig,
                                         const std::vector<PosedPanel>& panels,
                                         const PictureOptions& options);

}  // namespace sinew::cli
