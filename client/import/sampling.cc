// Clip sampling: key interpolation, then forward kinematics over all nodes in double.
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "client/import/import.h"
#include "client/import/scene_graph.h"
#include "core/base/closest_names.h"
#include "core/base/status.h"

namespace sinew::client {
namespace {

constexpr std::uint64_t kMaxSampleBytes = std::uint64_t{4} << 30;

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
void Evaluate(const Track& track, double t, std::vector<double>& out) {
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

// Poses a scene at one time and appends the result; keeps its buffers between frames.
class Poser {
 public:
  Poser(const AnimatedScene& scene, const RigData& rig)
      : scene_(scene), global_(scene.nodes.size()) {
    for (const Control& control : rig.controls) defaults_.push_back(control.default_value);
    for (const SceneNode& node : scene.nodes) rest_.push_back(node.Local());
  }

  // clip may be null: the rest pose.
  void Append(const SourceClip* clip, double t, ClipData& out) {
    local_ = rest_;
    controls_ = defaults_;
    if (clip != nullptr) Animate(*clip, t);
    for (const std::uint32_t n : scene_.order) {
      const std::int32_t parent = scene_.nodes[n].parent;
      global_[n] =
          parent < 0 ? local_[n] : Compose(global_[static_cast<std::size_t>(parent)], local_[n]);
    }
    for (const std::uint32_t n : scene_.joint_nodes) {
      for (const double x : global_[n].m) out.joint_transforms.push_back(static_cast<float>(x));
    }
    out.controls.insert(out.controls.end(), controls_.begin(), controls_.end());
    ++out.frames;
  }

 private:
  void Animate(const SourceClip& clip, double t) {
    // Tracks of one node are neighbours, so its transform is composed once.
    for (std::size_t i = 0; i < clip.size();) {
      const std::uint32_t node = clip[i].node;
      const SceneNode& source = scene_.nodes[node];
      Trs trs = source.matrix ? Decompose(*source.matrix) : source.trs;
      bool moved = false;
      for (; i < clip.size() && clip[i].node == node; ++i) {
        Evaluate(clip[i], t, value_);
        moved |= Apply(clip[i], source, trs);
      }
      if (moved) local_[node] = ToAffine(trs);
    }
  }

  // Puts value_ where the track says; true if that is in `trs`.
  bool Apply(const Track& track, const SceneNode& node, Trs& trs) {
    switch (track.property) {
      case TrackProperty::kTranslation:
        std::copy_n(value_.begin(), 3, trs.translation.begin());
        return true;
      case TrackProperty::kScale:
        std::copy_n(value_.begin(), 3, trs.scale.begin());
        return true;
      case TrackProperty::kRotation:
        std::copy_n(value_.begin(), 4, trs.rotation.begin());
        return true;
      case TrackProperty::kWeights:
        for (std::size_t c = 0; c < node.controls; ++c) {
          controls_[node.first_control + c] = static_cast<float>(value_[c]);
        }
        return false;
    }
    return false;
  }

  const AnimatedScene& scene_;
  std::vector<AffineD> rest_, local_, global_;
  std::vector<float> defaults_, controls_;
  std::vector<double> value_;
};

absl::Status CheckFrameNumbers(const std::vector<double>& numbers) {
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    if (std::isfinite(numbers[k]) && numbers[k] >= (k == 0 ? 0 : numbers[k - 1])) continue;
    return InvalidArgument("frame_numbers[", k, "]: got ", numbers[k],
                           ", need finite numbers from 0 on that do not fall");
  }
  return absl::OkStatus();
}

}  // namespace

std::int64_t ClipFrames(const ClipInfo& clip, double fps) {
  return static_cast<std::int64_t>(std::min(std::floor(clip.end * fps + 1e-6), 9e15)) + 1;
}

absl::StatusOr<std::size_t> FindClip(const ImportedScene& scene, const std::string& name_or_index) {
  for (std::size_t c = 0; c < scene.clips.size(); ++c) {
    if (scene.clips[c].name == name_or_index) return c;
  }
  std::uint64_t index = 0;
  if (absl::SimpleAtoi(name_or_index, &index) && index < scene.clips.size()) {
    return static_cast<std::size_t>(index);
  }
  const auto quoted = [](std::string* out, const ClipInfo& clip) {
    absl::StrAppend(out, "'", clip.name, "'");
  };
  std::vector<std::string> names;
  for (const ClipInfo& clip : scene.clips) names.push_back(clip.name);
  return InvalidArgument("clip: got '", name_or_index, "', the file has ", scene.clips.size(),
                         scene.clips.empty() ? "" : ": ", absl::StrJoin(scene.clips, ", ", quoted),
                         DidYouMean(name_or_index, names));
}

absl::StatusOr<ClipData> SampleClip(const ImportedScene& scene, std::size_t clip,
                                    const SampleOptions& options) {
  if (scene.animation == nullptr || clip >= scene.clips.size()) {
    return InvalidArgument("clip: got ", clip, ", the file has ", scene.clips.size());
  }
  if (!std::isfinite(options.fps) || options.fps <= 0) {
    return InvalidArgument("fps: got ", options.fps, ", need more than 0");
  }
  const ClipInfo& info = scene.clips[clip];
  const std::int64_t last = options.last_frame == -1
                                ? std::max(ClipFrames(info, options.fps) - 1, options.first_frame)
                                : options.last_frame;
  if (options.first_frame < 0 || last < options.first_frame || options.step < 1) {
    return InvalidArgument("frames: got ", options.first_frame, "-", last, "x", options.step,
                           ", need 0 <= first <= last and a step >= 1");
  }
  SINEW_RETURN_IF_ERROR(CheckFrameNumbers(options.frame_numbers));
  const std::uint64_t frames =
      options.frame_numbers.empty()
          ? static_cast<std::uint64_t>((last - options.first_frame) / options.step) + 1
          : options.frame_numbers.size();
  const std::uint64_t floats = scene.rig.joints.size() * 12 + scene.rig.controls.size();
  if (frames > kMaxSampleBytes / sizeof(float) / std::max<std::uint64_t>(floats, 1)) {
    return InvalidArgument("frames: ", frames, " frames of ", floats,
                           " numbers, need at most 4 GiB in all");
  }
  ClipData out;
  out.name = info.name;
  out.fps = options.fps;
  out.first_frame = options.first_frame;
  out.step = options.step;
  out.frame_numbers = options.frame_numbers;
  out.joint_transforms.reserve(frames * scene.rig.joints.size() * 12);
  out.controls.reserve(frames * scene.rig.controls.size());
  Poser poser(*scene.animation, scene.rig);
  for (std::uint64_t i = 0; i < frames; ++i) {
    poser.Append(&scene.animation->clips[clip], out.FrameNumber(i) / options.fps, out);
  }
  const auto finite = [](float x) { return std::isfinite(x); };
  if (!std::all_of(out.joint_transforms.begin(), out.joint_transforms.end(), finite) ||
      !std::all_of(out.controls.begin(), out.controls.end(), finite)) {
    return InvalidArgument("clip '", info.name,
                           "': a joint or control leaves the range of float32");
  }
  return out;
}

ClipData RestPose(const ImportedScene& scene) {
  ClipData out;
  out.name = "rest";
  if (scene.animation != nullptr) Poser(*scene.animation, scene.rig).Append(nullptr, 0, out);
  return out;
}

}  // namespace sinew::client
