#include "server/convert/warnings.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/support/small_rigs.h"
#include "tests/support/tube.h"

namespace sinew::server {
namespace {

TEST(Warnings, AreBounded) {
  RigSource source = testing::TubeWithMusclesSource();
  Muscle thick = source.muscles[1];
  thick.width = thick.depth = 1.5;
  for (int k = 0; k < 100; ++k) {
    thick.name = "thick" + std::to_string(k);
    source.muscles.push_back(thick);
  }
  const Warnings warnings =
      WarningsOf({LbsParams{}, MuscleParams{}}, testing::MakeRig(std::move(source)));
  ASSERT_EQ(warnings.size(), 17);
  EXPECT_EQ(warnings[0].field(), "rig.muscles[2]");
  EXPECT_EQ(warnings[16].message(), "rig: and 84 more");
}

}  // namespace
}  // namespace sinew::server
