#include "core/distil/pose_samples.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/base/trs.h"
#include "core/base/vectors.h"
#include "core/rig/signed_rotation.h"

namespace sinew {
namespace {

constexpr double kNearTurns = std::numbers::pi / 180;

// A number for each index, PCG RXS M XS (O'Neill 2014).
std::uint64_t Pcg(std::uint64_t seed, std::uint64_t index) {
  constexpr std::uint64_t kMultiplier = 6364136223846793005u, kIncrement = 1442695040888963407u;
  std::uint64_t state = (seed * kMultiplier + kIncrement + index) * kMultiplier + kIncrement;
  state = ((state >> ((state >> 59u) + 5u)) ^ state) * 12605985483714917081u;
  return (state >> 43u) ^ state;
}

// In [0, 1).
double Uniform(std::uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

}  // namespace

Vec3d TurnOf(const Mat3d& rotation) {
  const auto [x, y, z, w] = QuaternionOf(rotation);
  const double sign = w < 0 ? -1 : 1;
  const Vec3d axis = {sign * x, sign * y, sign * z};
  const double length = Length(axis);
  return length > 0 ? (2 * std::atan2(length, sign * w) / length) * axis : Vec3d{};
}

Mat3d RotationOf(const Vec3d& turn) {
  const double angle = Length(turn);
  const double s = angle > 0 ? std::sin(angle / 2) / angle : 0.5;
  return Linear(ToAffine({.rotation = {s * turn.x, s * turn.y, s * turn.z, std::cos(angle / 2)}}));
}

Vec3d TurnRange::Clamp(const Vec3d& turn) const {
  const Vec3d inside = {std::clamp(turn.x, low.x, high.x), std::clamp(turn.y, low.y, high.y),
                        std::clamp(turn.z, low.z, high.z)};
  const double angle = Length(inside);
  return angle > most ? (most / angle) * inside : inside;
}

TurnRange FreeRange(double angle) {
  return {.low = {-angle, -angle, -angle}, .high = {angle, angle, angle}, .most = angle};
}

TurnMeter::TurnMeter(const Skeleton& skeleton) : skeleton_(skeleton) {
  for (std::size_t j = 0; j < skeleton.joints(); ++j) {
    rest_.push_back(LocalRotation(j, skeleton.rest_model()));
  }
}

Mat3d TurnMeter::LocalRotation(std::size_t joint, std::span<const AffineD> model) const {
  const auto rotation = [&](std::size_t j) {
    const Mat3d linear = Linear(model[j]);
    return Factor(linear, SignOf(linear)).rotation;
  };
  const std::uint32_t parent = skeleton_.joint(joint).parent;
  if (parent == kNoParent) return rotation(joint);
  return Multiply(Transpose(rotation(parent)), rotation(joint));
}

bool TurnMeter::mirrors(std::size_t joint) const {
  return Determinant(Linear(skeleton_.rest_local()[joint])) < 0;
}

std::vector<Vec3d> TurnMeter::Measure(std::span<const AffineD> model) const {
  std::vector<Vec3d> turns;
  for (std::size_t j = 0; j < rest_.size(); ++j) {
    const bool flat = Determinant(Linear(model[j])) == 0;
    turns.push_back(flat ? Vec3d{}
                         : TurnOf(Multiply(Transpose(rest_[j]), LocalRotation(j, model))));
  }
  return turns;
}

std::vector<TurnRange> RangesOf(std::span<const std::vector<Vec3d>> poses, std::size_t joints,
                                double margin) {
  std::vector<TurnRange> ranges(joints);
  for (std::size_t j = 0; j < joints; ++j) {
    for (double Vec3d::*const part : {&Vec3d::x, &Vec3d::y, &Vec3d::z}) {
      double low = 0, high = 0;  // rest
      for (const std::vector<Vec3d>& turns : poses) {
        low = std::min(low, turns[j].*part);
        high = std::max(high, turns[j].*part);
      }
      const double more = margin / 2 * (high - low);
      ranges[j].low.*part = low - more;
      ranges[j].high.*part = high + more;
    }
  }
  return ranges;
}

std::vector<AffineD> TurnedPose(const Skeleton& skeleton, std::span<const Vec3d> turns) {
  std::vector<AffineD> local, model;
  for (std::size_t j = 0; j < skeleton.joints(); ++j) {
    const Mat3d rotation = RotationOf(turns[j]);
    AffineD turn;
    for (std::size_t k = 0; k < 9; ++k) turn.m[k / 3 * 4 + k % 3] = rotation.m[k];
    local.push_back(Compose(skeleton.rest_local()[j], turn));
    const std::uint32_t parent = skeleton.joint(j).parent;
    model.push_back(parent == kNoParent
                        ? local[j]
                        : skeleton.ToModel(j, model[parent], local[parent], local[j]));
  }
  return model;
}

std::vector<Vec3d> RandomTurns(std::span<const TurnRange> ranges, std::uint64_t seed,
                               std::uint64_t pose) {
  std::vector<Vec3d> turns;
  for (std::size_t j = 0; j < ranges.size(); ++j) {
    const TurnRange& range = ranges[j];
    const auto draw = [&](std::uint64_t axis, double low, double high) {
      return std::lerp(low, high, Uniform(Pcg(Pcg(seed, pose), 3 * j + axis)));
    };
    turns.push_back(
        range.Clamp({draw(0, range.low.x, range.high.x), draw(1, range.low.y, range.high.y),
                     draw(2, range.low.z, range.high.z)}));
  }
  return turns;
}

std::vector<Vec3d> SpanningTurns(const TurnRange& range) {
  std::vector<Vec3d> turns;
  const auto add = [&](const Vec3d& wanted) {
    const Vec3d turn = range.Clamp(wanted);
    const bool is_near = std::ranges::any_of(
        turns, [&](const Vec3d& other) { return Length(turn - other) < kNearTurns; });
    if (!is_near) turns.push_back(turn);
  };
  add({});
  for (const double part : {1.0, 0.5}) {
    for (double Vec3d::*const axis : {&Vec3d::x, &Vec3d::y, &Vec3d::z}) {
      for (const Vec3d& end : {range.low, range.high}) {
        Vec3d turn;
        turn.*axis = part * end.*axis;
        add(turn);
      }
    }
  }
  for (int corner = 0; corner < 8; ++corner) {
    const auto pick = [&](int bit, double low, double high) { return corner & bit ? high : low; };
    add({pick(1, range.low.x, range.high.x), pick(2, range.low.y, range.high.y),
         pick(4, range.low.z, range.high.z)});
  }
  return turns;
}

std::vector<std::size_t> HeldOutPoses(std::size_t n, std::uint64_t seed) {
  std::vector<std::size_t> poses(n > 0 ? n - 1 : 0);
  std::iota(poses.begin(), poses.end(), std::size_t{1});
  std::ranges::sort(poses, {}, [&](std::size_t pose) { return Pcg(~seed, pose); });
  poses.resize(std::min(poses.size(), n / 3));
  std::ranges::sort(poses);
  return poses;
}

}  // namespace sinew
