// The memory limit is honest: whoever is let through holds no more than the limit.
#include <gtest/gtest.h>

#include "core/weights/weights.h"
#include "tests/assets/allocation_meter.h"
#include "tests/unit/weights/bodies.h"

namespace sinew {
namespace {

class Memory : public ::testing::TestWithParam<WeightMethod> {};
TEST_P(Memory, IsWithinTheLeastLimitThatIsAccepted) {
  testing::Body body = testing::Legs();
  const Mesh mesh = testing::MeshOf(body);
  for (std::uint32_t j = 3; j < 20; ++j) {
    body.bones.push_back({j, {0.3 * j, 1.1, 0}, {0.3 * j + 0.3, 1.1, 0}});
  }
  const auto accepted = [&](std::size_t limit) {
    Task task({.memory_limit = limit});
    return ComputeWeights(mesh, body.bones, {.method = GetParam(), .smooth = 2}, task).ok();
  };
  std::size_t high = 1'000'000;
  ASSERT_FALSE(accepted(high));
  while (!accepted(high)) high += high / 20;  // refusals come early
  const std::size_t peak = testing::PeakOf([&] { ASSERT_TRUE(accepted(high)); });
  EXPECT_LE(peak, high);
  EXPECT_GT(peak, high / 20);  // nor is the bound a fairy tale
}
INSTANTIATE_TEST_SUITE_P(Methods, Memory,
                         ::testing::Values(WeightMethod::kCapsule, WeightMethod::kHeat,
                                           WeightMethod::kGeodesic),
                         [](const auto& p) { return testing::NameOf(p.param); });

}  // namespace
}  // namespace sinew
