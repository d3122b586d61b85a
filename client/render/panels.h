// panels.h - several pictures side by side, with a title, labels and a legend.
#pragma once

#include <absl/status/statusor.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

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
};

struct PanelOptions {
  std::string title;                  // above all, may be empty
  std::optional<Legend> legend;       // below all
  std::vector<Swatch> swatches = {};  // colours of all pictures, below the legend
};

// Whether as many pictures of this size fit in one, before they are drawn; their texts may still
// need more. kInvalidArgument as ComposePanels.
absl::Status CheckPanels(std::size_t panels, std::uint32_t width, std::uint32_t height);

inline constexpr int kMinTextWidth = 180;  // pixels

// Lays out one or more panels with pictures of one size row by row, in cells at least kMinTextWidth
// wide, with as many columns as give about 16 : 9. Text that does not fit is made smaller or
// wrapped to a few lines; longer text is truncated with an ellipsis. Needs the font DejaVu Sans
// (Debian package fonts-dejavu-core). kInvalidArgument: a result above kMaxImageSide.
// kFailedPrecondition: no font.
absl::StatusOr<Image> ComposePanels(std::span<const Panel> panels, const PanelOptions& options);

}  // namespace sinew::client
