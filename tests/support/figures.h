// figures.h - bodies of capsules around skeletons, for tests of fitted skeletons.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

#include "core/base/vectors.h"
#include "core/fit/skeleton_template.h"
#include "tests/support/bodies.h"

namespace sinew::testing {

// A closed capsule around a segment.
inline Body Capsule(const Vec3d& a, const Vec3d& b, double radius) {
  constexpr std::uint32_t kAround = 16, kRings = 10;  // half of the rings around each end
  const Vec3d along = Unit(b - a);
  const Vec3d aside = Unit(Cross(along, std::abs(along.x) < 0.8 ? Vec3d{1, 0, 0} : Vec3d{0, 1, 0}));
  const Vec3d other = Cross(along, aside);
  Body body;
  for (std::uint32_t ring = 0; ring < kRings; ++ring) {
    const bool first = ring < kRings / 2;
    // From pole to equator, and back.
    const double angle = (first ? ring + 0.5 : ring - 0.5) / (kRings - 1) * std::numbers::pi;
    for (std::uint32_t k = 0; k < kAround; ++k) {
      const double turn = 2 * std::numbers::pi * k / kAround;
      body.points.push_back((first ? a : b) - radius * std::cos(angle) * along +
                            radius * std::sin(angle) *
                                (std::cos(turn) * aside + std::sin(turn) * other));
    }
  }
  for (std::uint32_t k = 0; k < kAround; ++k) {
    const std::uint32_t next = (k + 1) % kAround;
    for (std::uint32_t ring = 0; ring + 1 < kRings; ++ring) {
      const std::uint32_t at = ring * kAround;
      body.faces.push_back({at + k, at + next, at + kAround + next, at + kAround + k});
    }
  }
  std::vector<std::uint32_t> low, high;
  for (std::uint32_t k = 0; k < kAround; ++k) {
    low.push_back(kAround - 1 - k);
    high.push_back((kRings - 1) * kAround + k);
  }
  body.faces.push_back(low);
  body.faces.push_back(high);
  return body;
}

struct Figure {
  fit::SkeletonTemplate skeleton;
  std::vector<Vec3d> places;  // of its joints
  Body body;
  double height = 0;
};

// Capsules around bones at `places`.
inline Figure Fleshed(fit::SkeletonTemplate skeleton, std::vector<Vec3d> places) {
  Figure figure{.skeleton = std::move(skeleton), .places = std::move(places), .body = {}};
  double low = 1e9, high = -1e9;
  for (std::size_t j = 1; j < figure.places.size(); ++j) {
    const fit::TemplateJoint& joint = figure.skeleton.joints[j];
    const bool trunk = joint.partner == fit::kNone && joint.name != "tail";
    Append(figure.body,
           Capsule(figure.places[joint.parent], figure.places[j], trunk ? 0.13 : 0.06));
    low = std::min(low, figure.places[j].y);
    high = std::max(high, figure.places[j].y);
  }
  figure.height = high - low + 0.2;
  return figure;
}

inline Figure Standing(const char* name) {
  fit::SkeletonTemplate skeleton = ValueOrDie(fit::BuiltInTemplate(name));
  std::vector<Vec3d> places;
  for (const fit::TemplateJoint& joint : skeleton.joints) places.push_back(joint.place);
  return Fleshed(std::move(skeleton), std::move(places));
}

// Bones of other lengths and directions than the template's, equally for left and right.
inline Figure Perturbed(const char* name, unsigned seed) {
  fit::SkeletonTemplate skeleton = ValueOrDie(fit::BuiltInTemplate(name));
  std::mt19937 random(seed);
  std::vector<Vec3d> bones(skeleton.joints.size());
  for (std::size_t j = 1; j < bones.size(); ++j) {
    const fit::TemplateJoint& joint = skeleton.joints[j];
    if (joint.partner != fit::kNone && joint.partner < j) {
      bones[j] = {-bones[joint.partner].x, bones[joint.partner].y, bones[joint.partner].z};
      continue;
    }
    const Vec3d bone = joint.place - skeleton.joints[joint.parent].place;
    const double length = std::uniform_real_distribution<>(0.8, 1.25)(random);
    const double bend = std::uniform_real_distribution<>(-0.25, 0.25)(random);
    const Vec3d turned = {bone.x, std::cos(bend) * bone.y - std::sin(bend) * bone.z,
                          std::sin(bend) * bone.y + std::cos(bend) * bone.z};
    bones[j] = length * turned;
  }
  std::vector<Vec3d> places = bones;
  for (std::size_t j = 1; j < bones.size(); ++j) {
    places[j] = places[skeleton.joints[j].parent] + bones[j];
  }
  return Fleshed(std::move(skeleton), std::move(places));
}

}  // namespace sinew::testing
