// Cancellation takes effect within one joint, not only between joints.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <stop_token>
#include <thread>
#include <vector>

#include "core/weights/geodesic.h"
#include "core/weights/weights.h"
#include "tests/support/bodies.h"

namespace sinew {
namespace {

using ::sinew::testing::Body;
using ::sinew::testing::MeshOf;

// Seconds of processor time of all threads. Fractions of one are needed, 6 under the thread
// sanitizer; without cancellation, minutes.
constexpr double kSoon = 10;

// Processor time until ComputeWeights returns after another thread cancels it, 0.1 s after
// `progress`.
double TimeToStop(const Body& body, std::uint32_t resolution, double progress) {
  const Mesh mesh = MeshOf(body);
  std::stop_source stop;
  std::atomic<bool> reached = false;
  std::clock_t asked = 0;
  std::thread other([&] {
    reached.wait(false);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    asked = std::clock();
    stop.request_stop();
  });
  Task task({.stop = stop.get_token(), .progress = [&](double done) {
               if (done < progress) return;
               reached = true;
               reached.notify_one();
             }});
  const auto computed = ComputeWeights(
      mesh, body.bones, {.method = WeightMethod::kGeodesic, .resolution = resolution}, task);
  const std::clock_t ended = std::clock();
  reached = true;
  reached.notify_one();
  other.join();
  EXPECT_TRUE(absl::IsCancelled(computed.status())) << computed.status();
  return static_cast<double>(ended - asked) / CLOCKS_PER_SEC;
}

constexpr std::uint32_t kMaxBones = 16384;
constexpr double kVoxelsMade = 0.2, kJointsDone = 0.89;  // progress values

// A slab of 1 x 1 x 0.03 with the maximum number of bones, all of one joint, `height` above its
// centre.
Body Slab(double height) {
  Body body;
  for (std::uint32_t k = 0; k < 8; ++k) {
    body.points.push_back(
        {(k & 1) != 0 ? 1.0 : 0.0, (k & 2) != 0 ? 1.0 : 0.0, (k & 4) != 0 ? 0.03 : 0.0});
  }
  body.faces = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
  for (std::uint32_t b = 0; b < kMaxBones; ++b) {
    const double y = 0.05 + 0.9 * b / kMaxBones;
    body.bones.push_back({0, {0.05, y, 0.015 + height}, {0.95, y, 0.015 + height}});
  }
  return body;
}

TEST(Stop, WithinOneJointWithManyBonesInside) {
  EXPECT_LT(TimeToStop(Slab(0), 256, kVoxelsMade), kSoon);
}

TEST(Stop, WithinOneJointWithManyBonesOutside) {
  EXPECT_LT(TimeToStop(Slab(10), 512, kVoxelsMade), kSoon);
}

TEST(Stop, DuringStraightLinesOfOpenSheets) {
  Body sheet;
  constexpr std::uint32_t kSide = 500;
  for (std::uint32_t p = 0; p < kSide * kSide; ++p) {
    const double x = p % kSide, y = p / kSide;
    sheet.points.push_back({x / kSide, y / kSide, 0});
    if (p % kSide == 0 || p < kSide) continue;
    sheet.faces.push_back({p - kSide - 1, p - kSide, p, p - 1});
  }
  sheet.bones = Slab(0).bones;
  for (Bone& bone : sheet.bones) bone.tip = bone.root;
  EXPECT_LT(TimeToStop(sheet, 16, kJointsDone), kSoon);
}

TEST(Stop, MarchStopsAtNextCheck) {
  const weights::Skin skin = testing::SkinOf(testing::Canonical());
  const weights::Voxels voxels =
      testing::ValueOrDie(weights::MakeVoxels(skin.points, skin.triangles, 128, 0, Task()));
  ASSERT_GT(voxels.count(), 20'000u);
  std::stop_source stop;
  stop.request_stop();
  const Task stopped({.stop = stop.get_token()});
  const std::vector<weights::MarchSource> sources = {{0, 0}};
  const auto reached = [&](const Task& task) {
    return std::ranges::count_if(March(voxels, sources, task),
                                 [](double distance) { return std::isfinite(distance); });
  };
  EXPECT_EQ(reached(Task()), static_cast<std::ptrdiff_t>(voxels.count()));
  EXPECT_LT(reached(stopped), 5'000);
}

}  // namespace
}  // namespace sinew
