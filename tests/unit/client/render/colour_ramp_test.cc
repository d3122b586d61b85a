#include "client/render/colour_ramp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace sinew::client {
namespace {

double Luminance(Rgb c) {
  return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2];
}

TEST(ColourRamp, DarkensMonotonically) {
  // Up to the rounding of a channel.
  for (int k = 0; k < 256; ++k) {
    EXPECT_GT(Luminance(RampColour(k / 256.0)) + 0.6, Luminance(RampColour((k + 1) / 256.0))) << k;
  }
  EXPECT_EQ(RampColour(0), (Rgb{194, 183, 171}));
  EXPECT_EQ(RampColour(1), (Rgb{118, 0, 38}));
}

TEST(ColourRamp, ClampsAndMarksNan) {
  EXPECT_EQ(RampColour(-5), RampColour(0));
  EXPECT_EQ(RampColour(HUGE_VAL), RampColour(1));
  EXPECT_EQ(RampColour(std::nan("")), (Rgb{255, 0, 255}));
}

TEST(ColourRamp, ScalesToTheGivenBound) {
  const std::vector<float> values = {0, 1, 2, NAN};
  const std::vector<float> colours = RampColours(values, 2);
  ASSERT_EQ(colours.size(), 12u);
  for (std::size_t v = 0; v < 4; ++v) {
    const Rgb wanted = RampColour(v == 3 ? std::nan("") : static_cast<double>(v) / 2);
    for (std::size_t c = 0; c < 3; ++c) EXPECT_FLOAT_EQ(colours[v * 3 + c], wanted[c] / 255.0f);
  }
}

}  // namespace
}  // namespace sinew::client
