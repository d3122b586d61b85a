#include "client/bake/pictures/posed_picture.h"

#include <gtest/gtest.h>

#include <vector>

namespace sinew::bake {
namespace {

// A report in % of the box at rest has a picture in % of that box, also of another pose.
TEST(PosedPicture, DistancesAreOfTheDiagonalThatIsGiven) {
  const std::vector<float> here = {0, 0, 0, 3, 0, 0}, there = {0, 0, 0, 3, 0.25f, 0};
  for (const double diagonal : {0.0, 25.0}) {
    std::vector<PosedPanel> panels(2);
    panels[0].label = "a";
    panels[0].positions = here;
    panels[1].positions = there;
    PictureOptions options;
    options.diagonal = diagonal;
    ColourByDistance(panels, options);
    ASSERT_TRUE(options.legend.has_value());
    EXPECT_EQ(options.legend->high, diagonal == 0 ? "10 %" : "1 %");
    EXPECT_EQ(panels[1].colours.size(), here.size());
  }
}

}  // namespace
}  // namespace sinew::bake
