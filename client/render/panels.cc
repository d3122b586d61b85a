#include "client/render/panels.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "client/render/colour_ramp.h"
#include "client/render/text.h"
#include "core/base/status.h"

namespace sinew::client {
namespace {

constexpr Rgb kPaper = {250, 250, 250};
constexpr Rgb kInk = {28, 30, 34};
constexpr Rgb kFaint = {96, 100, 108};
constexpr double kWantedAspect = 16.0 / 9;
// Maximum number of lines of wrapped text.
constexpr std::size_t kLabelLines = 4, kNoteLines = 4, kTitleLines = 3;

// A row of swatches.
using SwatchRow = std::vector<Swatch>;

// Text of one panel, cut into lines.
struct PanelText {
  std::vector<std::string> label, note;
  std::vector<SwatchRow> swatches;
};

// Distance between the baselines of text of a size.
constexpr int LineOf(int size) {
  return size * 3 / 2;
}

// Everything in pixels, from the size of the pictures.
struct Sheet {
  int columns = 1, rows = 1;
  int cell_width = 0, cell_height = 0;  // of the pictures
  int gap = 0;
  int label_size = 0, note_size = 0, title_size = 0;  // pixels per em
  int text_height = 0, title_height = 0, legend_height = 0;
  int swatch_space = 0, swatch_height = 0;
  int width = 0, height = 0;
  std::vector<PanelText> texts;
  std::vector<std::string> title, legend;  // legend: its title where it does not fit beside the bar
  std::vector<SwatchRow> swatches;
};

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

int SwatchWidth(Font& font, const Swatch& swatch, int size) {
  return size + size / 2 + font.Width(swatch.text, size);
}

// Fills rows of `width`; a text longer than a row is truncated.
std::vector<SwatchRow> Rows(Font& font, std::span<const Swatch> swatches, int size, int width) {
  std::vector<SwatchRow> rows;
  int used = 0;
  for (Swatch swatch : swatches) {
    swatch.text = font.Fit(swatch.text, size, width - size - size / 2);
    const int more = SwatchWidth(font, swatch, size);
    if (rows.empty() || used + size + more > width) {
      rows.emplace_back();
      used = more;
    } else {
      used += size + more;
    }
    rows.back().push_back(std::move(swatch));
  }
  return rows;
}

// Text sizes follow from the picture size, then the number of lines and rows.
void PlanPanelTexts(Font& font, std::span<const Panel> panels, Sheet& sheet) {
  for (const Panel& panel : panels) {
    PanelText& text = sheet.texts.emplace_back();
    text.label = font.Wrap(panel.label, sheet.label_size, sheet.cell_width, kLabelLines);
    text.note = font.Wrap(panel.note, sheet.note_size, sheet.cell_width, kNoteLines);
    text.swatches = Rows(font, panel.swatches, sheet.note_size, sheet.cell_width);
    const auto small_lines = static_cast<int>(text.note.size() + text.swatches.size());
    sheet.text_height =
        std::max(sheet.text_height, static_cast<int>(text.label.size()) * LineOf(sheet.label_size) +
                                        small_lines * LineOf(sheet.note_size));
  }
}

// The parts above and below all panels; needs sheet.width.
void PlanCommonTexts(Font& font, const PanelOptions& options, Sheet& sheet) {
  const int room = sheet.width - 2 * sheet.gap;
  while (sheet.title_size > sheet.label_size &&
         font.Width(options.title, sheet.title_size) > room) {
    --sheet.title_size;
  }
  sheet.title = font.Wrap(options.title, sheet.title_size, room, kTitleLines);
  sheet.title_height = static_cast<int>(sheet.title.size()) * LineOf(sheet.title_size);
  if (options.legend) {
    const Legend& legend = *options.legend;
    const int size = sheet.note_size, texts = font.Width(legend.title, size) +
                                              font.Width(legend.low, size) +
                                              font.Width(legend.high, size);
    if (texts + sheet.width / 3 + 6 * size > room) {
      sheet.legend = font.Wrap(legend.title, size, room, kNoteLines);
    }
    sheet.legend_height =
        size * 5 / 2 + static_cast<int>(sheet.legend.size()) * LineOf(sheet.note_size);
  }
  sheet.swatches = Rows(font, options.swatches, sheet.note_size, room);
  sheet.swatch_height = static_cast<int>(sheet.swatches.size()) * LineOf(sheet.note_size);
  if (sheet.swatch_height > 0) sheet.swatch_height += sheet.note_size / 2;
  // A gap, so that they are not read as belonging to one panel.
  if (sheet.swatch_height > 0 && !options.legend) sheet.swatch_space = sheet.note_size;
}

absl::Status CheckSides(std::size_t panels, std::int64_t width, std::int64_t height) {
  if (width <= kMaxImageSide && height <= kMaxImageSide) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "size: ", panels, panels == 1 ? " panel makes " : " panels make ", width, " x ", height,
      " pixels, need at most ", kMaxImageSide, " on each side: fewer or smaller panels"));
}

absl::StatusOr<Sheet> Plan(Font& font, std::span<const Panel> panels, const PanelOptions& options) {
  Sheet sheet;
  sheet.cell_width = static_cast<int>(panels[0].image.width);
  sheet.cell_height = static_cast<int>(panels[0].image.height);
  const int base = std::min(sheet.cell_width, sheet.cell_height);
  sheet.label_size = std::clamp(base / 18, 13, 64);
  sheet.note_size = std::clamp(base / 24, 11, 48);
  sheet.title_size = std::clamp(base / 13, 16, 96);
  sheet.gap = std::max(4, base / 40);
  sheet.cell_width = std::max(sheet.cell_width, kMinTextWidth);
  const auto count = static_cast<int>(std::min<std::size_t>(panels.size(), kMaxImageSide));
  sheet.columns = BestColumns(count, sheet.cell_width, sheet.cell_height);
  sheet.rows = (count + sheet.columns - 1) / sheet.columns;
  const std::int64_t width =
      std::int64_t{sheet.columns} * (sheet.cell_width + sheet.gap) + sheet.gap;
  sheet.width = static_cast<int>(std::min<std::int64_t>(width, kMaxImageSide));
  PlanPanelTexts(font, panels, sheet);
  PlanCommonTexts(font, options, sheet);
  const std::int64_t height =
      std::int64_t{sheet.rows} * (sheet.cell_height + sheet.text_height + sheet.gap) + sheet.gap +
      sheet.title_height + sheet.legend_height + sheet.swatch_space + sheet.swatch_height;
  SINEW_RETURN_IF_ERROR(CheckSides(panels.size(), width, height));
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

// Lines of text, centred in `width`, the first one's baseline at `baseline`. Returns the
// last baseline.
int DrawLines(Font& font, std::span<const std::string> lines, int size, int left, int width,
              int baseline, Rgb colour, Image& sheet) {
  for (const std::string& line : lines) {
    font.Draw(line, size, left + (width - font.Width(line, size)) / 2, baseline, colour, sheet);
    baseline += LineOf(size);
  }
  return baseline;
}

void FillBox(int left, int top, int width, int height, Rgb colour, Image& sheet) {
  for (int y = std::max(0, top); y < std::min<int>(static_cast<int>(sheet.height), top + height);
       ++y) {
    for (int x = std::max(0, left); x < std::min<int>(static_cast<int>(sheet.width), left + width);
         ++x) {
      sheet.Set(static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y), colour);
    }
  }
}

// Rows of swatches, each centred in `width`.
void DrawSwatches(Font& font, std::span<const SwatchRow> rows, int size, int left, int width,
                  int baseline, Image& sheet) {
  for (const SwatchRow& row : rows) {
    int total = -size;
    for (const Swatch& swatch : row) total += size + SwatchWidth(font, swatch, size);
    int x = left + (width - total) / 2;
    for (const Swatch& swatch : row) {
      FillBox(x - 1, baseline - size * 7 / 8 - 1, size + 2, size + 2, kFaint, sheet);
      FillBox(x, baseline - size * 7 / 8, size, size, swatch.colour, sheet);
      font.Draw(swatch.text, size, x + size + size / 2, baseline, kFaint, sheet);
      x += size + SwatchWidth(font, swatch, size);
    }
    baseline += LineOf(size);
  }
}

void DrawPanel(Font& font, const Image& image, const PanelText& text, const Sheet& plan, int left,
               int top, Image& sheet) {
  Copy(image, left + (plan.cell_width - static_cast<int>(image.width)) / 2, top, sheet);
  const int below = top + plan.cell_height;
  DrawLines(font, text.label, plan.label_size, left, plan.cell_width,
            below + plan.label_size * 5 / 4, kInk, sheet);
  const int first = below + static_cast<int>(text.label.size()) * LineOf(plan.label_size) +
                    plan.note_size * 5 / 4;
  const int next =
      DrawLines(font, text.note, plan.note_size, left, plan.cell_width, first, kFaint, sheet);
  DrawSwatches(font, text.swatches, plan.note_size, left, plan.cell_width, next, sheet);
}

// The ramp in the middle with the text of its ends on both sides, the title before or above it.
void DrawLegend(Font& font, const Legend& legend, const Sheet& plan, Image& sheet) {
  const int size = plan.note_size, space = size * 3 / 4;
  const int bar = plan.width / 3;
  const int room = std::max(1, plan.width - bar - 6 * space);
  const int baseline = plan.height - plan.gap - plan.swatch_height - size * 2 / 3;
  const bool above = !plan.legend.empty();
  if (above) {
    DrawLines(font, plan.legend, size, plan.gap, plan.width - 2 * plan.gap,
              baseline - static_cast<int>(plan.legend.size()) * LineOf(size), kInk, sheet);
  }
  const std::string title = above ? std::string() : legend.title;
  const std::string low = font.Fit(legend.low, size, room / (above ? 2 : 4));
  const std::string high = font.Fit(legend.high, size, room / (above ? 2 : 4));
  const int texts = font.Width(title, size) + font.Width(low, size) + font.Width(high, size);
  int x = (plan.width - texts - bar - 4 * space) / 2;
  font.Draw(title, size, x, baseline, kInk, sheet);
  x += font.Width(title, size) + 2 * space;
  font.Draw(low, size, x, baseline, kFaint, sheet);
  x += font.Width(low, size) + space;
  for (int column = 0; column < bar; ++column) {
    FillBox(x + column, baseline - size, 1, size + size / 4, RampColour((column + 0.5) / bar),
            sheet);
  }
  font.Draw(high, size, x + bar + space, baseline, kFaint, sheet);
}

}  // namespace

absl::Status CheckPanels(std::size_t panels, std::uint32_t width, std::uint32_t height) {
  const auto count = static_cast<int>(std::min<std::size_t>(panels, kMaxImageSide));
  const int cell = std::max(static_cast<int>(width), kMinTextWidth);
  const std::int64_t columns = BestColumns(count, cell, static_cast<int>(height));
  return CheckSides(panels, columns * width, (count + columns - 1) / columns * height);
}

absl::StatusOr<Image> ComposePanels(std::span<const Panel> panels, const PanelOptions& options) {
  SINEW_ASSIGN_OR_RETURN(Font font, Font::Open());
  SINEW_ASSIGN_OR_RETURN(const Sheet plan, Plan(font, panels, options));
  Image sheet(static_cast<std::uint32_t>(plan.width), static_cast<std::uint32_t>(plan.height),
              kPaper);
  for (std::size_t k = 0; k < panels.size(); ++k) {
    const int column = static_cast<int>(k) % plan.columns, row = static_cast<int>(k) / plan.columns;
    DrawPanel(font, panels[k].image, plan.texts[k], plan,
              plan.gap + column * (plan.cell_width + plan.gap),
              plan.gap + plan.title_height + row * (plan.cell_height + plan.text_height + plan.gap),
              sheet);
  }
  const int room = plan.width - 2 * plan.gap;
  DrawLines(font, plan.title, plan.title_size, plan.gap, room, plan.gap + plan.title_size, kInk,
            sheet);
  if (options.legend) DrawLegend(font, *options.legend, plan, sheet);
  DrawSwatches(font, plan.swatches, plan.note_size, plan.gap, room,
               plan.height - plan.gap - plan.swatch_height + plan.note_size, sheet);
  return sheet;
}

}  // namespace sinew::client
