#include "client/bake/pictures/fit_picture.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <utility>

#include "client/rig/rest_pose.h"
#include "core/base/types.h"

namespace sinew::bake {
namespace {

// From model space to a picture.
AffineD ToPicture(const client::FitFacing& facing, double azimuth) {
  const Vec3d up{facing.up[0], facing.up[1], facing.up[2]};
  const Vec3d front{facing.forward[0], facing.forward[1], facing.forward[2]};
  const Vec3d left = Cross(up, front);
  const double turn = azimuth * std::numbers::pi / 180;
  const Vec3d towards = std::cos(turn) * front + std::sin(turn) * left;
  const Vec3d side = Cross(up, towards);
  return {{side.x, side.y, side.z, 0, up.x, up.y, up.z, 0, towards.x, towards.y, towards.z, 0}};
}

}  // namespace

PosedPanel FitPanel(const client::RigData& rig, std::span<const float> joints,
                    const client::FitFacing& facing, double azimuth, std::string label) {
  AffineD turn = ToPicture(facing, azimuth);
  PosedPanel panel;
  panel.label = std::move(label);
  panel.note = " ";  // the distance between views says nothing
  panel.positions = client::PosedPositions(rig, joints);
  // Every panel shows its own body: on the ground, in the middle.
  constexpr double kFar = std::numeric_limits<double>::infinity();
  Vec3d low{kFar, kFar, kFar}, high{-kFar, -kFar, -kFar};
  for (std::size_t v = 0; v < panel.positions.size(); v += 3) {
    const float* const p = &panel.positions[v];
    const Vec3d at = Apply(turn, {p[0], p[1], p[2]});
    low = {std::min(low.x, at.x), std::min(low.y, at.y), std::min(low.z, at.z)};
    high = {std::max(high.x, at.x), std::max(high.y, at.y), std::max(high.z, at.z)};
  }
  turn.m[3] = -(low.x + high.x) / 2;
  turn.m[7] = -low.y;
  turn.m[11] = -(low.z + high.z) / 2;
  for (std::size_t v = 0; v < panel.positions.size(); v += 3) {
    float* p = &panel.positions[v];
    const Vec3f at = ToFloat(Apply(turn, {p[0], p[1], p[2]}));
    p[0] = at.x;
    p[1] = at.y;
    p[2] = at.z;
  }
  for (std::size_t j = 0; j < joints.size() / 12; ++j) {
    for (const double x : Compose(turn, client::MatrixAt(joints, j)).m) {
      panel.joints.push_back(static_cast<float>(x));
    }
  }
  return panel;
}

}  // namespace sinew::bake
