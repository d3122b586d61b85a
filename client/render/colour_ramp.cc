#include "client/render/colour_ramp.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace sinew::client {
namespace {

// Every eighth of matplotlib's viridis (van der Walt and Smith, CC0); between them linear in sRGB
// is within 3 / 255.
constexpr std::array<Rgb, 9> kViridis = {{{68, 1, 84},
                                          {71, 44, 122},
                                          {59, 81, 139},
                                          {44, 113, 142},
                                          {33, 144, 141},
                                          {39, 173, 129},
                                          {92, 200, 99},
                                          {170, 220, 50},
                                          {253, 231, 37}}};
// From clay as it is drawn without colours over orange to dark red, ever darker.
constexpr std::array<Rgb, 9> kHeat = {{{194, 183, 171},
                                       {216, 179, 138},
                                       {233, 172, 104},
                                       {247, 156, 74},
                                       {252, 130, 56},
                                       {245, 84, 40},
                                       {222, 34, 30},
                                       {182, 4, 38},
                                       {118, 0, 38}}};
constexpr Rgb kNotANumber = {255, 0, 255};

}  // namespace

Rgb RampColour(double value, Ramp ramp) {
  if (std::isnan(value)) return kNotANumber;
  const std::array<Rgb, 9>& stops = ramp == Ramp::kHeat ? kHeat : kViridis;
  const double at = std::clamp(value, 0.0, 1.0) * static_cast<double>(stops.size() - 1);
  const auto from = std::min(static_cast<std::size_t>(at), stops.size() - 2);
  const double part = at - static_cast<double>(from);
  Rgb colour;
  for (std::size_t c = 0; c < 3; ++c) {
    const double mixed = stops[from][c] * (1 - part) + stops[from + 1][c] * part;
    colour[c] = static_cast<std::uint8_t>(std::lround(mixed));
  }
  return colour;
}

std::vector<float> RampColours(std::span<const float> values, double low, double high, Ramp ramp) {
  std::vector<float> colours;
  colours.reserve(values.size() * 3);
  for (float value : values) {
    const double offset = value - low;
    const Rgb colour = RampColour(std::isnan(value) ? offset
                                  : high > low      ? offset / (high - low)
                                                    : 0,
                                  ramp);
    for (std::uint8_t c : colour) colours.push_back(static_cast<float>(c) / 255);
  }
  return colours;
}

}  // namespace sinew::client
