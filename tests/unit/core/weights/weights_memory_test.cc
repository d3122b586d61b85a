// The memory limit holds: an accepted computation never allocates more than the limit.
#include <absl/functional/function_ref.h>
#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>

#include "core/weights/rig_weights.h"
#include "core/weights/weights.h"
#include "tests/support/allocation_meter.h"
#include "tests/support/bodies.h"

namespace sinew {
namespace {

using ::sinew::testing::Body;

// Runs `work` with the smallest limit that it accepts.
void ExpectWithinTheLeastLimit(absl::FunctionRef<absl::Status(std::size_t)> work) {
  std::size_t high = 1'000'000;
  ASSERT_TRUE(absl::IsResourceExhausted(work(high)));
  while (!work(high).ok()) high += high / 20;  // rejections are early, so this is cheap
  const std::size_t peak = testing::PeakOf([&] { ASSERT_TRUE(work(high).ok()); });
  EXPECT_LE(peak, high);
  EXPECT_GT(peak, high / 20);  // the estimate is not absurdly high
}

void ExpectWithinTheLeastLimit(const Body& body, const WeightOptions& options) {
  const Mesh mesh = testing::MeshOf(body);
  ExpectWithinTheLeastLimit([&](std::size_t limit) {
    Task task({.memory_limit = limit});
    return ComputeWeights(mesh, body.bones, options, task).status();
  });
}

class Memory : public ::testing::TestWithParam<WeightMethod> {};
TEST_P(Memory, PeakWithinSmallestAcceptedLimit) {
  Body body = testing::Legs();
  for (std::uint32_t j = 3; j < 20; ++j) {
    body.bones.push_back({j, {0.3 * j, 1.1, 0}, {0.3 * j + 0.3, 1.1, 0}});
  }
  ExpectWithinTheLeastLimit(body, {.method = GetParam(), .smooth = 2, .resolution = 96});
}

TEST_P(Memory, CountsCoincidentJoints) {
  Body body = testing::Canonical();
  body.bones.clear();
  for (std::uint32_t j = 0; j < 1025; ++j) body.bones.push_back({j, {-5, 0, 0}, {5, 0, 0}});
  ExpectWithinTheLeastLimit(body, {.method = GetParam(), .resolution = 16});
}

// Cylinders far apart, each bound in place.
RigWeightsInput Parted(std::uint32_t parts) {
  RigWeightsInput input{.mesh = {},
                        .skeleton = testing::ValueOrDie(Skeleton::Create(
                            {{.name = "root", .parent = kNoParent}, {.name = "tip", .parent = 0}},
                            {AffineD{}, AffineD{{1, 0, 0, 5, 0, 1, 0, 0, 0, 0, 1, 0}}})),
                        .bindings = {},
                        .carriers = {1, 1}};
  input.mesh.face_offsets = {0};
  for (std::uint32_t p = 0; p < parts; ++p) {
    const double at = 100.0 * p;
    const Body body = testing::Cylinder(at, at + 10, 1, 40, 24);
    const auto first = static_cast<std::uint32_t>(input.mesh.positions.size());
    input.mesh.parts.push_back({absl::StrCat("part", p), first,
                                static_cast<std::uint32_t>(body.points.size()),
                                static_cast<std::uint32_t>(input.mesh.face_offsets.size() - 1),
                                static_cast<std::uint32_t>(body.faces.size())});
    for (const Vec3d& point : body.points) input.mesh.positions.push_back(ToFloat(point));
    for (const auto& face : body.faces) {
      for (const std::uint32_t v : face) input.mesh.face_vertices.push_back(first + v);
      input.mesh.face_offsets.push_back(
          static_cast<std::uint32_t>(input.mesh.face_vertices.size()));
    }
    auto& bindings = input.bindings.emplace_back();
    for (std::uint16_t j = 0; j < 2; ++j) {
      bindings.push_back(
          {.joint = j, .inverse_bind = {{1, 0, 0, -at - 5 * j, 0, 1, 0, 0, 0, 0, 1, 0}}});
    }
  }
  return input;
}

TEST_P(Memory, CountsResultsOfEarlierParts) {
  const RigWeightsInput input = Parted(60);
  ExpectWithinTheLeastLimit([&](std::size_t limit) {
    const auto weights =
        ComputeRigWeights(input, {.method = GetParam(), .resolution = 16}, {.memory_limit = limit});
    EXPECT_TRUE(!weights.ok() || weights->inverse_bind.size() == 60);
    return weights.status();
  });
}
INSTANTIATE_TEST_SUITE_P(Methods, Memory,
                         ::testing::Values(WeightMethod::kCapsule, WeightMethod::kHeat,
                                           WeightMethod::kGeodesic),
                         [](const auto& p) { return testing::NameOf(p.param); });

// Each face crosses a quarter of a million voxel columns.
TEST(VoxelMemory, CountsFewLargeFaces) {
  Body body;
  for (std::uint32_t k = 0; k < 100; ++k) {
    const double z = 0.0005 * k;
    for (const auto& [x, y] : {std::pair{0.0, 0.0}, {1.0, 0.0}, {1.0, 1.0}, {0.0, 1.0}}) {
      body.points.push_back({x, y, z});
    }
    body.faces.push_back({4 * k, 4 * k + 1, 4 * k + 2, 4 * k + 3});
  }
  body.bones = {{0, {0, 0, 0}, {1, 1, 0}}};
  const Mesh mesh = testing::MeshOf(body);
  constexpr std::size_t kLimit = 200'000'000;
  const std::size_t peak = testing::PeakOf([&] {
    Task task({.memory_limit = kLimit});
    EXPECT_TRUE(absl::IsResourceExhausted(
        ComputeWeights(mesh, body.bones, {.method = WeightMethod::kGeodesic, .resolution = 512},
                       task)
            .status()));
  });
  EXPECT_LE(peak, kLimit);
}

}  // namespace
}  // namespace sinew
