// posed_picture.h - posed rigs as pictures side by side, on one camera.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "client/render/camera.h"
#include "client/render/image.h"
#include "client/render/panels.h"
#include "sinew/frame.h"
#include "sinew/rig_data.h"

namespace sinew::bake {

// One result of a deformer.
struct PosedPanel {
  std::string label;
  std::vector<float> positions;  // [V * 3] all meshes, rig order
  std::vector<float> colours{};  // [V * 3] sRGB in [0, 1], or empty = clay
  std::string note{};  // below the label; empty = how far the points lie from the first panel's
  std::vector<client::Swatch> swatches{};  // what the colours mean
  // Drawn under a see-through skin, if there are any.
  std::vector<client::PosedMuscle> muscles{};
  std::vector<float> joints{};  // [J * 12] joint to model: bones
};

struct PictureOptions {
  std::string title;
  std::uint32_t width = 800, height = 800;  // of each panel
  client::Framing framing;                  // `up` and `aspect` follow from rig and size
  bool wire = false;
  double diagonal = 0;  // distances are in % of it; 0 = of the box of the first panel
  std::optional<client::Legend> legend;  // of the colours
  // Called now and then with the part that is drawn, up to 1; false stops with kCancelled.
  std::function<bool(double)> progress{};
};

// Colours every panel but the first by how far its points lie from the first one's, on one scale,
// and sets the legend. One panel: nothing.
void ColourByDistance(std::vector<PosedPanel>& panels, PictureOptions& options);

// Draws the panels, all meshes of `rig` together; after the first, a note states how far each is
// from it. Where a surface is seen from its inside, a swatch says so. kInvalidArgument: no panel,
// or positions that are not finite (a pose that blew up); errors of client::Render.
absl::StatusOr<client::Image> DrawPanels(const client::RigData& rig,
                                         const std::vector<PosedPanel>& panels,
                                         const PictureOptions& options);

}  // namespace sinew::bake
