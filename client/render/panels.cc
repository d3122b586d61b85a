#include "client/render/panels.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>

#include "client/cpp/status_macros.h"
#include "client/render/colour_ramp.h"
#include "client/render/text.h"

namespace sinew::client {
namespace {

constexpr Rgb kPaper = {250, 250, 250};
constexpr Rgb kInk = {28, 30, 34};
constexpr Rgb kFaint = {96, 100, 108};
constexpr double kWantedAspect = 16.0 / 9;

// Everything in pixels, from the largest picture.
struct Sheet {
  int columns = 1, rows = 1;
  int cell_width = 0, cell_height = 0;  // of the pictures
  int gap = 0;
  int label_size = 0, note_size = 0, title_size = 0;  // pixels per em
  int label_height = 0, title_height = 0, legend_height = 0;
  int width = 0, height = 0;
};

absl::Status Check(std::span<const Panel> panels) {
  if (panels.empty()) return absl::InvalidArgumentError("panels: 0, need at least 1");
  for (std::size_t k = 0; k < panels.size(); ++k) {
    const Image& image = panels[k].image;
    const bool sized = image.width >= 1 && image.height >= 1 && image.width <= kMaxImageSide &&
                       image.height <= kMaxImageSide;
    if (!sized || image.rgb.size() != std::size_t{image.width} * image.height * 3) {
      return absl::InvalidArgumentError(absl::StrCat(
          "panels[", k, "].image: ", image.width, " x ", image.height, " with ", image.rgb.size(),
          " bytes, need 1 to ", kMaxImageSide, " on each side and 3 bytes a pixel"));
    }
  }
  return absl::OkStatus();
}

int BestColumns(int panels, int cell_width, int cell_height) {
  int best = 1;
  double best_error = 1e30;
  for (int columns = 1; columns <= panels; ++columns) {
    const int rows = (panels + columns - 1) / columns;
    const double aspect = double{1} * columns * cell_width / (double{1} * rows * cell_height);
    const double empty = static_cast<double>(rows * columns - panels) / panels;
    const double error = std::abs(std::log(aspect / kWantedAspect)) + empty;
    if (error < best_error) {
      best = columns;
      best_error = error;
    }
  }
  return best;
}

absl::StatusOr<Sheet> Plan(std::span<const Panel> panels, const PanelOptions& options) {
  Sheet sheet;
  bool labels = false, notes = false;
  for (const Panel& panel : panels) {
    sheet.cell_width = std::max(sheet.cell_width, static_cast<int>(panel.image.width));
    sheet.cell_height = std::max(sheet.cell_height, static_cast<int>(panel.image.height));
    labels |= !panel.label.empty();
    notes |= !panel.note.empty();
  }
  const int base = std::min(sheet.cell_width, sheet.cell_height);
  sheet.label_size = std::clamp(base / 18, 13, 64);
  sheet.note_size = std::clamp(base / 24, 11, 48);
  sheet.title_size = std::clamp(base / 13, 16, 96);
  sheet.gap = std::max(4, base / 40);
  if (labels) sheet.label_height += sheet.label_size * 3 / 2;
  if (notes) sheet.label_height += sheet.note_size * 3 / 2;
  if (!options.title.empty()) sheet.title_height = sheet.title_size * 3 / 2;
  if (options.legend.has_value()) sheet.legend_height = sheet.note_size * 5 / 2;
  const auto count = static_cast<int>(std::min<std::size_t>(panels.size(), kMaxImageSide));
  sheet.columns = options.columns == 0 ? BestColumns(count, sheet.cell_width, sheet.cell_height)
                                       : static_cast<int>(std::min<std::uint32_t>(
                                             options.columns, static_cast<std::uint32_t>(count)));
  sheet.rows = (count + sheet.columns - 1) / sheet.columns;
  const std::int64_t width =
      std::int64_t{sheet.columns} * (sheet.cell_width + sheet.gap) + sheet.gap;
  const std::int64_t height =
      std::int64_t{sheet.rows} * (sheet.cell_height + sheet.label_height + sheet.gap) + sheet.gap +
      sheet.title_height + sheet.legend_height;
  if (width > kMaxImageSide || height > kMaxImageSide) {
    return absl::InvalidArgumentError(absl::StrCat("panels: ", panels.size(), " make ", width,
                                                   " x ", height, " pixels, need at most ",
                                                   kMaxImageSide, " on each side"));
  }
  sheet.width = static_cast<int>(width);
  sheet.height = static_cast<int>(height);
  return sheet;
}

void Copy(const Image& from, int left, int top, Image& to) {
  for (std::uint32_t y = 0; y < from.height; ++y) {
    const std::size_t row = static_cast<std::size_t>(top) + y;
    const auto begin =
        from.rgb.begin() + static_cast<std::ptrdiff_t>(std::size_t{y} * from.width * 3);
    std::copy(begin, begin + static_cast<std::ptrdiff_t>(from.width * 3),
              to.rgb.begin() + static_cast<std::ptrdiff_t>(
                                   (row * to.width + static_cast<std::size_t>(left)) * 3));
  }
}

void DrawCentred(Font& font, const std::string& text, int size, int left, int width, int baseline,
                 Rgb colour, Image& sheet) {
  const std::string fitting = font.Fit(text, size, width);
  font.Draw(fitting, size, left + (width - font.Width(fitting, size)) / 2, baseline, colour, sheet);
}

void DrawPanel(Font* font, const Panel& panel, const Sheet& plan, int left, int top, Image& sheet) {
  const int inset_x = (plan.cell_width - static_cast<int>(panel.image.width)) / 2;
  const int inset_y = (plan.cell_height - static_cast<int>(panel.image.height)) / 2;
  Copy(panel.image, left + inset_x, top + inset_y, sheet);
  if (font == nullptr) return;
  int baseline = top + plan.cell_height;
  if (!panel.label.empty()) {
    baseline += plan.label_size * 5 / 4;
    DrawCentred(*font, panel.label, plan.label_size, left, plan.cell_width, baseline, kInk, sheet);
  }
  if (!panel.note.empty()) {
    baseline += plan.note_size * 3 / 2;
    DrawCentred(*font, panel.note, plan.note_size, left, plan.cell_width, baseline, kFaint, sheet);
  }
}

// The ramp in the middle, its ends' texts beside it, the title in front.
void DrawLegend(Font& font, const Legend& legend, const Sheet& plan, Image& sheet) {
  const int size = plan.note_size, space = size * 3 / 4;
  const int bar = plan.width / 3;
  const int room = std::max(1, plan.width - bar - 6 * space);
  const std::string low = font.Fit(legend.low, size, room / 4);
  const std::string high = font.Fit(legend.high, size, room / 4);
  const std::string title =
      font.Fit(legend.title, size, room - font.Width(low, size) - font.Width(high, size));
  const int texts = font.Width(title, size) + font.Width(low, size) + font.Width(high, size);
  const int baseline = plan.height - plan.gap - size * 2 / 3;
  int x = (plan.width - texts - bar - 4 * space) / 2;
  font.Draw(title, size, x, baseline, kInk, sheet);
  x += font.Width(title, size) + 2 * space;
  font.Draw(low, size, x, baseline, kFaint, sheet);
  x += font.Width(low, size) + space;
  for (int column = 0; column < bar; ++column) {
    const Rgb colour = RampColour((column + 0.5) / bar, legend.ramp);
    for (int y = baseline - size; y < baseline + size / 4; ++y) {
      if (x + column < 0 || x + column >= plan.width || y < 0) continue;
      sheet.Set(static_cast<std::uint32_t>(x + column), static_cast<std::uint32_t>(y), colour);
    }
  }
  font.Draw(high, size, x + bar + space, baseline, kFaint, sheet);
}

}  // namespace

absl::StatusOr<Image> ComposePanels(std::span<const Panel> panels, const PanelOptions& options) {
  SINEW_RETURN_IF_ERROR(Check(panels));
  SINEW_ASSIGN_OR_RETURN(const Sheet plan, Plan(panels, options));
  std::optional<Font> font;
  if (plan.label_height + plan.title_height + plan.legend_height > 0) {
    SINEW_ASSIGN_OR_RETURN(font, Font::Open());
  }
  Image sheet(static_cast<std::uint32_t>(plan.width), static_cast<std::uint32_t>(plan.height),
              kPaper);
  for (std::size_t k = 0; k < panels.size(); ++k) {
    const int column = static_cast<int>(k) % plan.columns, row = static_cast<int>(k) / plan.columns;
    DrawPanel(
        font.has_value() ? &*font : nullptr, panels[k], plan,
        plan.gap + column * (plan.cell_width + plan.gap),
        plan.gap + plan.title_height + row * (plan.cell_height + plan.label_height + plan.gap),
        sheet);
  }
  if (!options.title.empty()) {
    DrawCentred(*font, options.title, plan.title_size, plan.gap, plan.width - 2 * plan.gap,
                plan.gap + plan.title_size, kInk, sheet);
  }
  if (options.legend.has_value()) DrawLegend(*font, *options.legend, plan, sheet);
  return sheet;
}

}  // namespace sinew::client
