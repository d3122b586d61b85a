// measured.h - poses a rig with a recipe and measures the frame.
#pragma once

#include <gtest/gtest.h>

#include <span>
#include <vector>

#include "core/deform/engine/deformer.h"
#include "core/deform/engine/recipe_text.h"
#include "core/metrics/meter.h"

namespace sinew::metrics {

inline std::vector<Vec3f> MovedPoints(std::span<const Vec3f> points, const AffineD& motion) {
  std::vector<Vec3f> moved;
  for (const Vec3f& p : points) moved.push_back(ToFloat(Apply(motion, ToDouble(p))));
  return moved;
}

inline std::vector<Vec3f> Deformed(const Rig& rig, const char* recipe_text,
                                   std::span<const Affine> pose,
                                   std::span<const float> controls = {}) {
  Task task;
  const auto deformer = Deformer::Bind(rig, *ParseRecipe(recipe_text), task);
  EXPECT_TRUE(deformer.ok()) << deformer.status();
  std::vector<Vec3f> positions(rig.vertices());
  FrameOut out{.positions = std::as_writable_bytes(std::span(positions))};
  Workspace workspace;
  const absl::Status status = deformer->Evaluate({.joints = pose, .controls = controls}, out,
                                                 workspace, Task({.parallel = false}));
  EXPECT_TRUE(status.ok()) << status;
  return positions;
}

inline FrameMetrics Measured(const Rig& rig, std::span<const Vec3f> positions,
                             std::span<const Affine> pose, bool self_intersections = false) {
  Task task;
  const auto meter = Meter::Create(rig, {.self_intersections = self_intersections}, task);
  EXPECT_TRUE(meter.ok()) << meter.status();
  const auto figures = meter->Measure(positions, pose, task);
  EXPECT_TRUE(figures.ok()) << figures.status();
  return *figures;
}

inline FrameMetrics Measured(const Rig& rig, const char* recipe_text, std::span<const Affine> pose,
                             bool self_intersections = false) {
  return Measured(rig, Deformed(rig, recipe_text, pose), pose, self_intersections);
}

}  // namespace sinew::metrics
