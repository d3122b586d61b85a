// Key interpolation and frame counts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "sinew/import.h"
#include "tests/support/gltf_builder.h"

namespace sinew::client {
namespace {

using testing::GltfBuilder;
using ::testing::HasSubstr;
using testing::MakeStrip;

struct Motion {
  const char* path = "translation";
  std::vector<float> times, values;
  const char* interpolation = "LINEAR";
};

ImportedScene WithMotion(const Motion& motion) {
  GltfBuilder b = MakeStrip();
  testing::AddAnimation(b, 2, motion.path, motion.times, motion.values,
                        std::string(motion.path) == "rotation" ? "VEC4" : "VEC3",
                        motion.interpolation);
  auto scene = ImportFile(b.Write());
  EXPECT_TRUE(scene.ok()) << scene.status();
  return scene.ok() ? *std::move(scene) : ImportedScene();
}

// The matrix of joint 1, `tip`, at a frame.
std::vector<float> TipAt(const ImportedScene& scene, std::int64_t frame, double fps) {
  SampleOptions options;
  options.fps = fps;
  options.first_frame = options.last_frame = frame;
  const auto clip = SampleClip(scene, 0, options);
  EXPECT_TRUE(clip.ok()) << clip.status();
  return {clip->joint_transforms.begin() + 12, clip->joint_transforms.begin() + 24};
}

TEST(Sampling, HoldsTheFirstAndTheLastValue) {
  const ImportedScene scene = WithMotion({"translation", {1, 2}, {5, 0, 0, 7, 0, 0}});
  EXPECT_EQ(scene.clips.at(0).start, 1);
  EXPECT_EQ(scene.clips[0].end, 2);
  EXPECT_EQ(TipAt(scene, 0, 10)[3], 5);
  EXPECT_EQ(TipAt(scene, 10, 10)[3], 5);
  EXPECT_FLOAT_EQ(TipAt(scene, 15, 10)[3], 6);
  EXPECT_EQ(TipAt(scene, 20, 10)[3], 7);
  EXPECT_EQ(TipAt(scene, 1000, 10)[3], 7);
}

TEST(Sampling, CountsFramesFromZeroToTheLastKey) {
  const ImportedScene scene =
      WithMotion({"translation", {0.5f, 0.7f}, {0, 0, 0, 0, 0, 0}});  // 0.7f is below 0.7
  EXPECT_EQ(ClipFrames(scene.clips[0], 10), 8) << "0.7f * 10 rounds to 7";
  EXPECT_EQ(ClipFrames(scene.clips[0], 24), 17);
  const auto clip =
      SampleClip(scene, 0, SampleOptions{.fps = 24, .first_frame = 1, .last_frame = 16, .step = 4});
  ASSERT_TRUE(clip.ok());
  EXPECT_EQ(clip->frames, 4u);
  EXPECT_EQ(clip->first_frame, 1);
  EXPECT_EQ(clip->step, 4);
  EXPECT_EQ(clip->joint_transforms.size(), 4u * 2 * 12);
  EXPECT_EQ(clip->name, "clip");
}

TEST(Sampling, StepsAtKeyFrameDespiteRounding) {
  std::vector<float> times, values;
  for (int k = 0; k <= 60; ++k) {
    times.push_back(static_cast<float>(k / 30.0));
    values.insert(values.end(), {static_cast<float>(k), 0, 0});
  }
  const ImportedScene scene = WithMotion({"translation", times, values, "STEP"});
  for (int k = 0; k <= 60; ++k) EXPECT_EQ(TipAt(scene, k, 30)[3], k);
  EXPECT_EQ(TipAt(scene, 3, 60)[3], 1) << "between two keys the first holds";
}

TEST(Sampling, RotatesShorterWayAtConstantSpeed) {
  const auto half = [](double degrees) { return degrees * std::numbers::pi / 360; };
  // 0 to 120 degrees about z, the second key with the opposite sign.
  const ImportedScene scene =
      WithMotion({"rotation",
                  {0, 1},
                  {0, 0, 0, 1, 0, 0, static_cast<float>(-std::sin(half(120))),
                   static_cast<float>(-std::cos(half(120)))}});
  for (const int tenth : {0, 1, 3, 5, 9, 10}) {
    const std::vector<float> m = TipAt(scene, tenth, 10);
    EXPECT_NEAR(std::atan2(m[4], m[0]), half(24.0 * tenth), 1e-6) << tenth;
  }
}

TEST(Sampling, FollowsCubicSplines) {
  // One component is t^3 between 0 and 2: value 0 and 8, slopes 0 and 12. Keys hold in-tangent,
  // value, out-tangent.
  const ImportedScene scene = WithMotion({"translation",
                                          {0, 2},
                                          {9, 9, 9, 0, 1, 0, 0, 0, 0, 12, 0, 0, 8, 1, 0, 9, 9, 9},
                                          "CUBICSPLINE"});
  for (const int k : {0, 1, 4, 7, 16, 20}) {
    const double t = k / 10.0;
    EXPECT_NEAR(TipAt(scene, k, 10)[3], t * t * t, 1e-5);
    EXPECT_NEAR(TipAt(scene, k, 10)[7], 1, 1e-6);
  }
  EXPECT_EQ(TipAt(scene, 30, 10)[3], 8);
}

TEST(Sampling, NormalisesCubicRotations) {
  const ImportedScene scene =
      WithMotion({"rotation",
                  {0, 1},
                  {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0},
                  "CUBICSPLINE"});
  const std::vector<float> m = TipAt(scene, 5, 10);
  EXPECT_NEAR(std::hypot(m[0], m[4], m[8]), 1, 1e-6);
  EXPECT_NEAR(m[4], 1, 1e-6) << "half of 180 degrees";
}

TEST(Sampling, FindsClipsByNameAndNumber) {
  const ImportedScene scene = WithMotion({"translation", {0}, {0, 0, 0}});
  EXPECT_EQ(*FindClip(scene, "clip"), 0u);
  EXPECT_EQ(*FindClip(scene, "0"), 0u);
  EXPECT_THAT(std::string(FindClip(scene, "1").status().message()), HasSubstr("'clip'"));
  EXPECT_THAT(std::string(FindClip(scene, "Clip").status().message()),
              HasSubstr("did you mean clip?"));
  EXPECT_EQ(FindClip(scene, "-1").status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(Sampling, RefusesBadRanges) {
  const ImportedScene scene = WithMotion({"translation", {0, 1}, {0, 0, 0, 1, 0, 0}});
  const auto code = [&](SampleOptions options) {
    return SampleClip(scene, 0, options).status().code();
  };
  using absl::StatusCode;
  EXPECT_EQ(code({.fps = 0}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.fps = std::nan("")}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.fps = 1e300}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.first_frame = -1}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.first_frame = 5, .last_frame = 4}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.last_frame = -2}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.step = 0}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.last_frame = INT64_MAX}), StatusCode::kInvalidArgument) << "terabytes";
  EXPECT_EQ(SampleClip(scene, 1).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(SampleClip(ImportedScene(), 0).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace sinew::client
