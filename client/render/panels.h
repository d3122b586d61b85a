// panels.h - several pictures side by side, with a title, labels and a legend.
#pragma once

#include <absl/status/statusor.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "client/render/colour_ramp.h"
#include "client/render/image.h"

namespace sinew::client {

// The meaning of one colour.
struct Swatch {
  Rgb colour = {};
  std::string text;
};

struct Panel {
  Image image;
  std::string label;                  // below the picture, UTF-8; may be empty
  std::string note;                   // smaller, e.g. a measured number; may be empty
  std::vector<Swatch> swatches = {};  // colours of this picture, below the note
};

// The colour ramp with the values of its ends.
struct Legend {
  std::string title;  // quantity and unit
  std::string low;    // text at the ramp's start
  std::string high;   // text at its other end
  Ramp ramp = Ramp::kViridis;
};

struct PanelOptions {
  std::string title;                  // above all, may be empty
  std::uint32_t columns = 0;          // 0 = chosen for about 16 : 9
  std::optional<Legend> legend;       // below all
  std::vector<Swatch> swatches = {};  // colours of all pictures, below the legend
};

inline constexpr int kMinTextWidth = 180;  // pixels

// Lays the panels out row by row, in cells of the size of the largest picture and, with text, at
// least kMinTextWidth wide. Text that does not fit is made smaller or wrapped to a few lines;
// longer text is truncated with an ellipsis. Needs the font
// DejaVu Sans (Debian package fonts-dejavu-core) when there is text to draw. kInvalidArgument: no
// panel, an empty or malformed image, a result above kMaxImageSide. kFailedPrecondition: no font.
absl::StatusOr<Image> ComposePanels(std::span<const Panel> panels, const PanelOptions& options);

}  // namespace sinew::client
