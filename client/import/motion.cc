#include "client/import/motion.h"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>

#include "client/import/scene_graph.h"

namespace sinew::client {
namespace {

// The keys around a time: value k at u = 0, value k + 1 at u = 1.
struct Span {
  std::size_t key = 0;
  double u = 0, seconds = 0;
};

// Key times are float32 in most files: frame k must meet the key written for it, so times compare
// as floats.
Span FindSpan(const std::vector<double>& times, double t) {
  const auto later = [](double value, double key) {
    return static_cast<float>(value) < static_cast<float>(key);
  };
  const auto after = std::upper_bound(times.begin(), times.end(), t, later);
  if (after == times.begin()) return {};
  Span span;
  span.key = static_cast<std::size_t>(after - times.begin()) - 1;
  if (after == times.end()) return span;
  span.seconds = times[span.key + 1] - times[span.key];
  span.u = std::clamp((t - times[span.key]) / span.seconds, 0.0, 1.0);
  return span;
}

using Quaternion = std::array<double, 4>;  // x, y, z, w

Quaternion Normalised(const Quaternion& q) {
  const double length = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  return {q[0] / length, q[1] / length, q[2] / length, q[3] / length};
}

// Spherical interpolation along the shorter arc, u in [0, 1]. Inputs of any non-zero length.
Quaternion Slerp(const Quaternion& a, const Quaternion& b, double u) {
  const Quaternion p = Normalised(a), q = Normalised(b);
  const double cosine = p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3];
  double weight_p = 1 - u, weight_q = u;
  // Nearly equal: the sine is too small to divide by, and the chord is as good as the arc.
  if (std::abs(cosine) < 1 - 1e-12) {
    const double angle = std::acos(std::abs(cosine));
    weight_p = std::sin((1 - u) * angle) / std::sin(angle);
    weight_q = std::sin(u * angle) / std::sin(angle);
  }
  if (cosine < 0) weight_q = -weight_q;
  Quaternion out;
  for (std::size_t i = 0; i < 4; ++i) out[i] = weight_p * p[i] + weight_q * q[i];
  return Normalised(out);
}

// The nearest translation, rotation, scale form; shear is dropped. A mirrored matrix gets a
// negative x scale.
Trs Decompose(const AffineD& a) {
  using Rows = Eigen::Matrix<double, 3, 4, Eigen::RowMajor>;
  const Eigen::Matrix3d linear = Eigen::Map<const Rows>(a.m.data()).leftCols<3>();
  Eigen::Vector3d scale = linear.colwise().norm();
  const double determinant = linear.determinant();
  if (determinant < 0) scale.x() = -scale.x();
  Trs trs;
  trs.translation = {a.m[3], a.m[7], a.m[11]};
  trs.scale = {scale.x(), scale.y(), scale.z()};
  if (determinant == 0) return trs;
  const Eigen::Quaterniond q(Eigen::Matrix3d(linear * scale.cwiseInverse().asDiagonal()));
  trs.rotation = {q.x(), q.y(), q.z(), q.w()};
  return trs;
}

// One component of a cubic spline between two keys, tangents scaled by the distance of the keys.
// Source: glTF 2.0 specification, appendix C.
double Hermite(double value, double out_tangent, double in_tangent, double next, const Span& span) {
  const double u = span.u, u2 = u * u, u3 = u2 * u;
  return (2 * u3 - 3 * u2 + 1) * value + span.seconds * (u3 - 2 * u2 + u) * out_tangent +
         (-2 * u3 + 3 * u2) * next + span.seconds * (u3 - u2) * in_tangent;
}

// out [width]
void EvaluateTrack(const Track& track, double t, std::vector<double>& out) {
  const Span span = FindSpan(track.times, t);
  const std::size_t width = track.width;
  out.resize(width);
  if (track.interpolation == Interpolation::kCubic) {
    const double* key = track.values.data() + span.key * 3 * width;
    for (std::size_t i = 0; i < width; ++i) {
      out[i] = span.u > 0 ? Hermite(key[width + i], key[2 * width + i], key[3 * width + i],
                                    key[4 * width + i], span)
                          : key[width + i];
    }
    return;
  }
  const double* key = track.values.data() + span.key * width;  // width 0: weights of no shape
  std::copy_n(key, width, out.begin());
  if (track.interpolation == Interpolation::kStep || span.u <= 0) return;
  if (track.property == TrackProperty::kRotation) {
    const Quaternion q =
        Slerp({key[0], key[1], key[2], key[3]}, {key[4], key[5], key[6], key[7]}, span.u);
    std::copy(q.begin(), q.end(), out.begin());
    return;
  }
  for (std::size_t i = 0; i < width; ++i) out[i] = (1 - span.u) * key[i] + span.u * key[width + i];
}

// Puts `value` where the track says; true if that is in `trs`.
bool Apply(const Track& track, const SceneNode& node, const std::vector<double>& value, Trs& trs,
           std::vector<float>& controls) {
  switch (track.property) {
    case TrackProperty::kTranslation:
      std::copy_n(value.begin(), 3, trs.translation.begin());
      return true;
    case TrackProperty::kScale:
      std::copy_n(value.begin(), 3, trs.scale.begin());
      return true;
    case TrackProperty::kRotation:
      std::copy_n(value.begin(), 4, trs.rotation.begin());
      return true;
    case TrackProperty::kWeights:
      for (std::size_t c = 0; c < node.controls; ++c) {
        controls[node.first_control + c] = static_cast<float>(value[c]);
      }
      return false;
  }
  return false;
}

}  // namespace

void ComposeGlobals(const AnimatedScene& scene, ScenePose& pose) {
  for (const std::uint32_t n : scene.order) {
    const std::int32_t parent = scene.nodes[n].parent;
    pose.global[n] = parent < 0
                         ? pose.local[n]
                         : Compose(pose.global[static_cast<std::size_t>(parent)], pose.local[n]);
  }
}

ScenePose PoseAtRest(const AnimatedScene& scene, const RigData& rig) {
  ScenePose pose;
  for (const Control& control : rig.controls) pose.controls.push_back(control.default_value);
  for (const SceneNode& node : scene.nodes) pose.local.push_back(node.Local());
  pose.global.resize(scene.nodes.size());
  ComposeGlobals(scene, pose);
  return pose;
}

absl::Status TrackMotion::Evaluate(const AnimatedScene& scene, double seconds,
                                   ScenePose& pose) const {
  std::vector<double> value;
  // Tracks of one node are neighbours, so its transform is composed once.
  for (std::size_t i = 0; i < tracks_.size();) {
    const std::uint32_t node = tracks_[i].node;
    const SceneNode& source = scene.nodes[node];
    Trs trs = source.matrix ? Decompose(*source.matrix) : source.trs;
    bool moved = false;
    for (; i < tracks_.size() && tracks_[i].node == node; ++i) {
      EvaluateTrack(tracks_[i], seconds, value);
      moved |= Apply(tracks_[i], source, value, trs, pose.controls);
    }
    if (moved) pose.local[node] = ToAffine(trs);
  }
  ComposeGlobals(scene, pose);
  return absl::OkStatus();
}

}  // namespace sinew::client
