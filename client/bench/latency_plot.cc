#include "client/bench/latency_plot.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "client/render/text.h"
#include "core/base/status.h"

namespace sinew::bench {
namespace {

using client::Font;
using client::Image;
using client::Rgb;

constexpr Rgb kSheet = {255, 255, 255}, kText = {40, 42, 48}, kGrid = {224, 226, 230};
// Told apart without colour vision (Okabe and Ito).
constexpr std::array<Rgb, 8> kColours = {{{0, 114, 178},
                                          {213, 94, 0},
                                          {0, 158, 115},
                                          {204, 121, 167},
                                          {86, 180, 233},
                                          {230, 159, 0},
                                          {0, 0, 0},
                                          {120, 120, 120}}};
constexpr int kTextSize = 12, kLine = 18;  // pixels

struct Spot {
  double x, y;
};

// Lays `colour` over the pixel as far as `cover`, 0 to 1, says.
void Blend(Image& image, int x, int y, Rgb colour, double cover) {
  if (x < 0 || y < 0 || x >= static_cast<int>(image.width) || y >= static_cast<int>(image.height)) {
    return;
  }
  const auto column = static_cast<std::uint32_t>(x), row = static_cast<std::uint32_t>(y);
  Rgb pixel = image.At(column, row);
  for (std::size_t c = 0; c < 3; ++c) {
    pixel[c] = static_cast<std::uint8_t>(std::lround(std::lerp(pixel[c], colour[c], cover)));
  }
  image.Set(column, row, pixel);
}

// A straight line with smooth edges: a pixel is covered as far as its centre is near.
void DrawLine(Image& image, Spot from, Spot to, double thickness, Rgb colour) {
  const double dx = to.x - from.x, dy = to.y - from.y, length = std::hypot(dx, dy);
  const double reach = thickness / 2 + 1;
  const auto low = [&](double a, double b) { return static_cast<int>(std::min(a, b) - reach); };
  const auto high = [&](double a, double b) { return static_cast<int>(std::max(a, b) + reach); };
  for (int y = low(from.y, to.y); y <= high(from.y, to.y); ++y) {
    for (int x = low(from.x, to.x); x <= high(from.x, to.x); ++x) {
      const double along =
          length > 0 ? std::clamp(((x - from.x) * dx + (y - from.y) * dy) / length, 0.0, length)
                     : 0;
      const double part = length > 0 ? along / length : 0;
      const double distance = std::hypot(x - from.x - part * dx, y - from.y - part * dy);
      const double cover = std::clamp((thickness + 1) / 2 - distance, 0.0, 1.0);
      if (cover > 0) Blend(image, x, y, colour, cover);
    }
  }
}

// Maps slow parts and milliseconds to pixels.
struct Axes {
  double left, right, top, bottom;
  double slowest_part;  // 1 / 10,000: the right edge is p99.99
  double low, high;     // ms

  double X(double slower) const {
    return std::lerp(left, right, std::log(0.5 / slower) / std::log(0.5 / slowest_part));
  }
  double Y(double ms) const {
    return std::lerp(bottom, top, std::log(ms / low) / std::log(high / low));
  }
};

// 1, 2 and 5 times powers of ten.
std::vector<double> Ticks(double low, double high) {
  std::vector<double> ticks;
  for (double power = std::pow(10, std::floor(std::log10(low))); power <= high; power *= 10) {
    for (const double step : {1, 2, 5}) {
      if (power * step >= low * 0.999 && power * step <= high * 1.001)
        ticks.push_back(power * step);
    }
  }
  return ticks;
}

// What tells a curve from others: a colour and, from the ninth on, dashes.
struct Pen {
  explicit Pen(std::size_t curve)
      : colour(kColours[curve % kColours.size()]), dashed(curve >= kColours.size()) {}
  // Whether it draws `way` pixels after its start.
  bool IsDown(double way) const { return !dashed || std::fmod(way, 12) < 7; }
  Rgb colour;
  bool dashed;
};

void DrawPath(Image& image, const Pen& pen, std::span<const Spot> path) {
  double way = 0;
  for (std::size_t k = 1; k < path.size(); ++k) {
    if (pen.IsDown(way)) DrawLine(image, path[k - 1], path[k], 2, pen.colour);
    way += std::hypot(path[k].x - path[k - 1].x, path[k].y - path[k - 1].y);
  }
}

// The share of slower poses where a curve ends, with the slowest of `count`.
double EndOf(std::size_t count) {
  return 0.5 / static_cast<double>(count);
}

void DrawCurve(Image& image, const Axes& axes, const std::vector<float>& sorted, const Pen& pen) {
  const auto count = static_cast<double>(sorted.size());
  const double end = std::min(0.499, EndOf(sorted.size()));
  const int steps = std::max(1, static_cast<int>(axes.X(end) - axes.left) / 2);
  std::vector<Spot> path;
  for (int k = 0; k <= steps; ++k) {
    const double slower = 0.5 * std::pow(2 * end, static_cast<double>(k) / steps);
    const auto rank = static_cast<std::size_t>(std::ceil((1 - slower) * count - 1e-9));
    const double ms = sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
    path.push_back({axes.X(slower), axes.Y(std::max(ms, axes.low))});
  }
  DrawPath(image, pen, path);
}

std::string TimeText(double ms) {
  return ms < 1000 ? absl::StrFormat("%g ms", ms) : absl::StrFormat("%g s", ms / 1000);
}

}  // namespace

absl::StatusOr<Image> PlotLatency(std::span<const LatencyCurve> curves, const std::string& title,
                                  std::uint32_t width, std::uint32_t height) {
  SINEW_ASSIGN_OR_RETURN(Font font, Font::Open());
  Image image(width, height, kSheet);
  std::vector<std::vector<float>> sorted;
  double low = std::numeric_limits<double>::max(), high = 0;
  std::size_t most = 0;
  for (const LatencyCurve& curve : curves) {
    std::vector<float>& values = sorted.emplace_back(curve.latencies);
    std::ranges::sort(values);
    low = std::min<double>(low, values[(values.size() - 1) / 2]);
    high = std::max<double>(high, values.back());
    most = std::max(most, values.size());
  }
  low = std::max(low, 1e-3) / 1.25;
  high = std::max(high, low * 2) * 1.25;
  const double slowest = std::min(0.01, EndOf(most));
  // Below, in two columns if they are wide enough; a third of the height at most.
  const std::size_t columns = curves.size() > 1 && width >= 640 ? 2 : 1;
  const std::size_t rows =
      std::min<std::size_t>((curves.size() + columns - 1) / columns, height / 3 / kLine);
  const Axes axes{.left = 64,
                  .right = width - 16.0,
                  .top = 2.0 * kLine,
                  .bottom = height - (2.7 + static_cast<double>(rows)) * kLine,
                  .slowest_part = slowest,
                  .low = low,
                  .high = high};
  const auto write = [&](const std::string& text, double x, double y) {
    font.Draw(text, kTextSize, static_cast<int>(x), static_cast<int>(y), kText, image);
  };
  write(font.Fit(title, kTextSize, static_cast<int>(width) - 24), 12, kLine);
  double last = height;
  for (const double ms : Ticks(low, high)) {
    const double y = axes.Y(ms);
    DrawLine(image, {axes.left, y}, {axes.right, y}, 1, kGrid);
    const std::string text = TimeText(ms);
    if (last - y < kTextSize) continue;  // it would touch the one below
    write(text, axes.left - 8 - font.Width(text, kTextSize), y + kTextSize / 3.0);
    last = y;
  }
  for (double slower = 0.5; slower >= slowest * 0.999; slower = slower == 0.5 ? 0.1 : slower / 10) {
    const double x = axes.X(slower);
    DrawLine(image, {x, axes.top}, {x, axes.bottom}, 1, kGrid);
    const std::string text = absl::StrFormat("p%.10g", 100 * (1 - slower));
    write(text, std::min(x, axes.right - 20) - font.Width(text, kTextSize) / 2.0,
          axes.bottom + kLine);
  }
  write("share of the poses that were at least as fast", axes.left, axes.bottom + 2 * kLine);
  const double column = (axes.right - axes.left) / static_cast<double>(columns);
  for (std::size_t k = 0; k < curves.size(); ++k) {
    const Pen pen(k);
    DrawCurve(image, axes, sorted[k], pen);
    if (k >= rows * columns) continue;
    const double x = axes.left + column * static_cast<double>(k / rows),
                 y = axes.bottom + kLine * (3 + static_cast<double>(k % rows));
    std::vector<Spot> sample;
    for (int step = 0; step <= 24; ++step) sample.push_back({x + step, y - 4});
    DrawPath(image, pen, sample);
    write(font.Fit(curves[k].label, kTextSize, static_cast<int>(column) - 40), x + 32, y);
  }
  return image;
}

}  // namespace sinew::bench
