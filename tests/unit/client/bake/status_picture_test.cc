#include "client/bake/pictures/status_picture.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "client/render/ellipsoids.h"
#include "client/render/panels.h"
#include "client/render/render.h"

namespace sinew::bake {
namespace {

using client::VertexStatus;

TEST(StatePicture, ColoursAndCountsVertices) {
  const VertexStatus vertex_status[] = {VertexStatus::kFitted, VertexStatus::kNotDisplaced,
                                        VertexStatus::kFitted, VertexStatus::kExcluded,
                                        static_cast<VertexStatus>(200)};
  PosedPanel panel;
  ColourByStatus(vertex_status, panel);
  ASSERT_EQ(panel.colours.size(), 15u);
  EXPECT_GT(panel.colours[1], panel.colours[0]) << "fitted is green";
  EXPECT_GT(panel.colours[3], 2 * panel.colours[5]) << "not displaced is yellow";
  EXPECT_GT(panel.colours[4], 2 * panel.colours[5]);
  EXPECT_EQ(panel.colours[0], panel.colours[6]);
  ASSERT_EQ(panel.swatches.size(), 4u) << "only states there are";
  EXPECT_EQ(panel.swatches[0].text, "not displaced 1");
  EXPECT_EQ(panel.swatches[1].text, "fitted 2");
  EXPECT_EQ(panel.swatches[3].text, "unknown 1");
}

TEST(StatePicture, LegendColoursAreDistinguishable) {
  std::vector<VertexStatus> vertex_status;
  for (std::size_t k = 0; k <= client::kVertexStatus; ++k) {
    vertex_status.push_back(static_cast<VertexStatus>(k));
  }
  PosedPanel panel;
  ColourByStatus(vertex_status, panel);
  std::vector<client::Swatch> legend = panel.swatches;
  ASSERT_EQ(legend.size(), vertex_status.size());
  legend.push_back({client::kMuscleColour, "muscles"});
  legend.push_back({client::kWrongSideColour, "inside of the surface"});
  for (const client::Swatch& a : legend) {
    for (const client::Swatch& b : legend) {
      if (a.text == b.text) continue;
      double squared = 0;
      for (std::size_t c = 0; c < 3; ++c) {
        squared += std::pow(a.colour[c] - b.colour[c], 2);
      }
      EXPECT_GT(std::sqrt(squared), 80) << a.text << " and " << b.text;
    }
  }
}

TEST(StatePicture, JsonNamesEveryStatus) {
  const VertexStatus vertex_status[] = {VertexStatus::kIterationLimit};
  const auto json = VertexStatusJson(CountVertexStatus(vertex_status));
  EXPECT_EQ(json.dump(),
            R"({"not_displaced":0,"fitted":0,"gradient_divergence":0,"potential_pit":0,)"
            R"("iteration_limit":1,"zero_gradient":0,"excluded":0,"unmoved":0,)"
            R"("at_rest_level":0,"contact":0,"move_limit":0})");
}

TEST(StatePicture, HelpExplainsEveryLegendName) {
  std::vector<VertexStatus> vertex_status;
  for (std::size_t k = 0; k < client::kVertexStatus; ++k) {
    vertex_status.push_back(static_cast<VertexStatus>(k));
  }
  PosedPanel panel;
  ColourByStatus(vertex_status, panel);
  for (const client::Swatch& swatch : panel.swatches) {
    const std::string name = swatch.text.substr(0, swatch.text.rfind(' '));
    EXPECT_NE(VertexStatusHelp().find("  " + name + "  "), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace sinew::bake
