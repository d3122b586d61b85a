#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <vector>

#include "client/models/models.h"

namespace sinew::client {
namespace {

using Eigen::Affine3d;
using RowMatrix = Eigen::Matrix<float, 3, 4, Eigen::RowMajor>;

constexpr double kSameTime = 1e-6;  // in frames of the clip

struct LocalTransform {
  Eigen::Matrix3d scale;
  Eigen::Quaterniond rotation;
  Eigen::Vector3d translation;
};

Affine3d ModelMatrix(const ClipData& clip, std::size_t joints, std::size_t frame, std::size_t j) {
  Affine3d matrix = Affine3d::Identity();
  matrix.matrix().topRows<3>() =
      Eigen::Map<const RowMatrix>(&clip.joint_transforms[(frame * joints + j) * 12]).cast<double>();
  return matrix;
}

// The joint relative to its parent.
LocalTransform LocalTransformOf(const ClipData& clip, const RigData& rig, std::size_t frame,
                                std::size_t j) {
  Affine3d local = ModelMatrix(clip, rig.joints.size(), frame, j);
  if (const std::int32_t parent = rig.joints[j].parent; parent >= 0) {
    local =
        ModelMatrix(clip, rig.joints.size(), frame, static_cast<std::size_t>(parent)).inverse() *
        local;
  }
  Eigen::Matrix3d rotation, scale;
  local.computeRotationScaling(&rotation, &scale);
  return {scale, Eigen::Quaterniond(rotation), local.translation()};
}

Affine3d Between(const LocalTransform& a, const LocalTransform& b, double t) {
  Affine3d local;
  local.fromPositionOrientationScale((1 - t) * a.translation + t * b.translation,
                                     a.rotation.slerp(t, b.rotation), Eigen::Vector3d::Ones());
  local.linear() *= (1 - t) * a.scale + t * b.scale;
  return local;
}

void AppendBetween(const ClipData& clip, const RigData& rig, std::size_t frame, double t,
                   ClipData& out) {
  std::vector<Affine3d> posed;
  for (std::size_t j = 0; j < rig.joints.size(); ++j) {
    const Affine3d local = Between(LocalTransformOf(clip, rig, frame, j),
                                   LocalTransformOf(clip, rig, frame + 1, j), t);
    const std::int32_t parent = rig.joints[j].parent;
    posed.push_back(parent < 0 ? local : posed[static_cast<std::size_t>(parent)] * local);
    const RowMatrix rows = posed[j].matrix().topRows<3>().cast<float>();
    out.joint_transforms.insert(out.joint_transforms.end(), rows.data(), rows.data() + rows.size());
  }
  const std::size_t controls = clip.controls.size() / clip.frames;  // not those of added muscles
  for (std::size_t k = 0; k < controls; ++k) {
    const double a = clip.controls[frame * controls + k],
                 b = clip.controls[(frame + 1) * controls + k];
    out.controls.push_back(static_cast<float>((1 - t) * a + t * b));
  }
}

void CopyFrame(const std::vector<float>& from, std::size_t frames, std::size_t frame,
               std::vector<float>& to) {
  const std::size_t stride = from.size() / frames;
  const auto begin = from.begin() + static_cast<std::ptrdiff_t>(frame * stride);
  to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(stride));
}

}  // namespace

ClipData Resampled(const ClipData& clip, const RigData& rig, double fps,
                   const std::vector<double>& frame_numbers) {
  if ((fps == clip.fps && frame_numbers.empty()) || clip.frames == 0) return clip;
  ClipData out;
  out.name = clip.name;
  out.fps = fps;
  const double last = static_cast<double>(clip.frames - 1);
  out.frame_numbers = frame_numbers;
  out.frames = frame_numbers.empty()
                   ? static_cast<std::size_t>(std::floor(last / clip.fps * fps + kSameTime)) + 1
                   : frame_numbers.size();
  for (std::size_t k = 0; k < out.frames; ++k) {
    const double time = std::min(out.FrameNumber(k) / fps * clip.fps, last);
    const double nearest = std::round(time), before = std::floor(time);
    if (std::abs(time - nearest) <= kSameTime) {
      const auto frame = static_cast<std::size_t>(nearest);
      CopyFrame(clip.joint_transforms, clip.frames, frame, out.joint_transforms);
      CopyFrame(clip.controls, clip.frames, frame, out.controls);
    } else {
      AppendBetween(clip, rig, static_cast<std::size_t>(before), time - before, out);
    }
  }
  return out;
}

}  // namespace sinew::client
