// posed_picture.h - posed rigs as pictures side by side, on one camera.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "client/render/image.h"
#include "client/render/panels.h"
#include "sinew/rig_data.h"

namespace sinew::cli {

// One result of a deformer.
struct PosedPanel {
  std::string label;
  std::vector<float> positions;  // [V * 3] all meshes, rig order
  std::vector<float> colours{};  // [V * 3] sRGB in [0, 1], or empty = clay
};

struct PictureOptions {
  std::string title;
  std::uint32_t width = 800, height = 800;  // of each panel
  double azimuth = 35, elevation = 14;      // degrees
  bool wire = false;
  std::optional<client::Legend> legend;  // of the colours
  // Called now and then with the part that is drawn, up to 1; false stops with kCancelled.
  std::function<bool(double)> progress{};
};

// Colours every panel but the first by how far its points lie from the first one's, on one scale,
// and sets the legend. One panel: nothing.
void ColourByDistance(std::vector<PosedPanel>& panels, PictureOptions& options);

// Draws the panels, all meshes of `rig` together; behind the first, a note says how far each lies
// from it. kInvalidArgument: no panel, or positions that are not finite (a pose that blew up);
// errors of client::Render.
absl::StatusOr<client::Image> DrawPanels(const client::RigData& rig,
                                         const std::vector<PosedPanel>& panels,
                                         const PictureOptions& options);

}  // namespace sinew::cli
