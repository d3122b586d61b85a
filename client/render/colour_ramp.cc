#include "client/render/colour_ramp.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace sinew::client {
namespace {

// From clay as it is drawn without colours over orange to dark red, ever darker.
constexpr std::array<Rgb, 9> kStops = {{{194, 183, 171},
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

Rgb RampColour(double value) {
  if (std::isnan(value)) return kNotANumber;
  const double at = std::clamp(value, 0.0, 1.0) * static_cast<double>(kStops.size() - 1);
  const auto from = std::min(static_cast<std::size_t>(at), kStops.size() - 2);
  const double part = at - static_cast<double>(from);
  Rgb colour;
  for (std::size_t c = 0; c < 3; ++c) {
    const double mixed = kStops[from][c] * (1 - part) + kStops[from + 1][c] * part;
    colour[c] = static_cast<std::uint8_t>(std::lround(mixed));
  }
  return colour;
}

std::vector<float> RampColours(std::span<const float> values, double high) {
  std::vector<float> colours;
  colours.reserve(values.size() * 3);
  for (const float value : values) {
    for (const std::uint8_t c : RampColour(value / high)) {
      colours.push_back(static_cast<float>(c) / 255);
    }
  }
  return colours;
}

}  // namespace sinew::client
