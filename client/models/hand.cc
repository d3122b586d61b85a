// The hand: a union of tapered capsules around its bones, polygonised, weighted along the bones.
#include <absl/strings/str_cat.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include "client/models/capsule.h"
#include "client/models/joint_chain.h"
#include "client/models/models.h"
#include "client/models/surface_nets.h"
#include "core/base/status.h"

namespace sinew::client {
namespace {

using Eigen::Quaterniond;
using Eigen::Vector3d;

constexpr double kDegree = std::numbers::pi / 180;
constexpr double kHeight = 0.29;  // of the box the surface is sampled in
const Vector3d kLow(-0.085, -0.085, -0.032), kHigh(0.105, kLow.y() + kHeight, 0.046);
constexpr int kDiffusionRounds = 5;
constexpr double kSmallestWeight = 0.004;
constexpr std::size_t kMaxInfluences = 4;

enum class Part : std::uint8_t { kPalm, kFinger, kThumb };

// A capsule that the joint carries.
struct Bone : Capsule {
  std::uint32_t joint = 0;
  Part part = Part::kPalm;
};

struct Finger {
  const char* name;
  Vector3d root, knuckle;         // of the metacarpal
  double angle;                   // of the finger to +Y, degrees towards +X
  std::array<double, 3> lengths;  // of the phalanges
  std::array<double, 4> radii;    // knuckle to tip
  double palm_radius;
  std::array<double, 4> curl;  // in the fist: metacarpal and phalanges, degrees
  double delay;                // of the motion, fraction of the clip
};

// Proportions of an adult hand of 0.19 m.
const std::array<Finger, 4> kFingers = {{
    {"index",
     {0.015, 0.018, 0},
     {0.0285, 0.090, 0},
     10,
     {0.044, 0.026, 0.018},
     {0.0097, 0.0090, 0.0081, 0.0070},
     0.0128,
     {0, 78, 98, 62},
     0.045},
    {"middle",
     {0.004, 0.018, 0},
     {0.0080, 0.094, 0.001},
     2,
     {0.048, 0.029, 0.019},
     {0.0099, 0.0092, 0.0083, 0.0071},
     0.0132,
     {0, 82, 100, 62},
     0.030},
    {"ring",
     {-0.007, 0.018, 0},
     {-0.0135, 0.089, 0.0005},
     -7,
     {0.044, 0.027, 0.018},
     {0.0095, 0.0088, 0.0079, 0.0068},
     0.0128,
     {3, 84, 100, 62},
     0.015},
    {"pinky",
     {-0.017, 0.018, 0},
     {-0.0335, 0.079, -0.001},
     -17,
     {0.034, 0.020, 0.017},
     {0.0084, 0.0077, 0.0070, 0.0061},
     0.0120,
     {7, 84, 98, 60},
     0.0},
}};

// The thumb: where its joints and tip are at rest and in the fist, across the bent fingers.
const std::array<Vector3d, 4> kThumbRest = {
    Vector3d(0.019, 0.018, 0.008), Vector3d(0.046, 0.047, 0.018), Vector3d(0.066, 0.074, 0.021),
    Vector3d(0.079, 0.098, 0.020)};
const std::array<Vector3d, 4> kThumbFist = {
    Vector3d(0.019, 0.018, 0.008), Vector3d(0.043, 0.041, 0.033), Vector3d(0.037, 0.065, 0.059),
    Vector3d(0.014, 0.075, 0.064)};
constexpr std::array<double, 4> kThumbRadii = {0.0150, 0.0118, 0.0106, 0.0082};
constexpr double kThumbLag = 0.10;  // closes after the fingers and opens before them

struct HandSkeleton {
  std::vector<ChainJoint> joints;
  std::vector<Bone> bones;
};

void AddFinger(const Finger& finger, HandSkeleton& hand) {
  const Vector3d along(std::sin(finger.angle * kDegree), std::cos(finger.angle * kDegree), 0);
  std::array<Vector3d, 5> points = {finger.root, finger.knuckle};
  for (std::size_t i = 0; i < 3; ++i) points[i + 2] = points[i + 1] + finger.lengths[i] * along;
  static constexpr std::array<const char*, 4> kNames = {"metacarpal", "proximal", "middle",
                                                        "distal"};
  for (std::size_t i = 0; i < 4; ++i) {
    const auto joint = static_cast<std::uint32_t>(hand.joints.size());
    const auto parent = i == 0 ? 0 : static_cast<std::int32_t>(joint) - 1;
    hand.joints.push_back({absl::StrCat(finger.name, "_", kNames[i]), parent,
                           Frame(points[i], points[i + 1] - points[i], Vector3d::UnitZ())});
    const bool palm = i == 0;
    hand.bones.push_back(
        {{points[i], points[i + 1], palm ? finger.palm_radius : finger.radii[i - 1],
          palm ? finger.palm_radius * 0.93 : finger.radii[i]},
         joint,
         palm ? Part::kPalm : Part::kFinger});
  }
}

HandSkeleton MakeSkeleton() {
  HandSkeleton hand;
  hand.joints.push_back(
      {"wrist", -1, Frame(Vector3d::Zero(), Vector3d::UnitY(), Vector3d::UnitZ())});
  for (const double x : {-0.0085, 0.0085}) {
    hand.bones.push_back(
        {{Vector3d(x, -0.055, 0), Vector3d(x, 0.012, 0), 0.0175, 0.0165}, 0, Part::kPalm});
  }
  static constexpr std::array<const char*, 3> kNames = {"thumb_metacarpal", "thumb_proximal",
                                                        "thumb_distal"};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto joint = static_cast<std::uint32_t>(hand.joints.size());
    hand.joints.push_back(
        {kNames[i], i == 0 ? 0 : static_cast<std::int32_t>(joint) - 1,
         Frame(kThumbRest[i], kThumbRest[i + 1] - kThumbRest[i], Vector3d(-1, 0, 1))});
    hand.bones.push_back({{kThumbRest[i], kThumbRest[i + 1], kThumbRadii[i], kThumbRadii[i + 1]},
                          joint,
                          Part::kThumb});
  }
  for (const Finger& finger : kFingers) AddFinger(finger, hand);
  return hand;
}

double HandField(const std::vector<Bone>& bones, const Vector3d& p) {
  constexpr double kFar = 1;
  double palm = kFar, fingers = kFar, thumb = kFar;
  for (const Bone& bone : bones) {
    const double d = bone.Distance(p);
    switch (bone.part) {
      case Part::kPalm:
        palm = SmoothMin(palm, d, 0.013);
        break;
      case Part::kFinger:
        fingers = SmoothMin(fingers, d, 0.0025);
        break;
      case Part::kThumb:
        thumb = SmoothMin(thumb, d, 0.004);
        break;
    }
  }
  return SmoothMin(SmoothMin(palm, fingers, 0.008), thumb, 0.014);
}

// [J] weights of a point by its nearest bone, blended with the joint above and the one below around
// the joints.
Eigen::VectorXd BoneWeights(const HandSkeleton& hand, const Vector3d& p) {
  const Bone* nearest = &hand.bones[0];
  for (const Bone& bone : hand.bones) {
    if (bone.Distance(p) < nearest->Distance(p)) nearest = &bone;
  }
  Eigen::VectorXd weights = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(hand.joints.size()));
  const double at = nearest->Along(p) * nearest->length();
  const std::int32_t above = hand.joints[nearest->joint].parent;
  double own = 1;
  if (above >= 0) {
    const double width = nearest->radius_from;
    const double upper = 1 - SmoothStep(-width, width, at);
    weights[above] += upper;
    own -= upper;
  }
  for (std::size_t j = 0; j < hand.joints.size() && nearest->joint != 0; ++j) {
    if (hand.joints[j].parent != static_cast<std::int32_t>(nearest->joint)) continue;
    const double width = nearest->radius_to;
    const double lower = std::min(own, SmoothStep(-width, width, at - nearest->length()));
    weights[static_cast<Eigen::Index>(j)] += lower;
    own -= lower;
  }
  weights[nearest->joint] += own;
  return weights;
}

// Keeps the strongest influences of one vertex, normalised.
void AddInfluences(const Eigen::VectorXd& weights, Skin& skin) {
  std::vector<std::uint32_t> kept;
  for (Eigen::Index j = 0; j < weights.size(); ++j) {
    if (weights[j] >= kSmallestWeight) kept.push_back(static_cast<std::uint32_t>(j));
  }
  std::stable_sort(kept.begin(), kept.end(),
                   [&](std::uint32_t l, std::uint32_t r) { return weights[l] > weights[r]; });
  kept.resize(std::min(kept.size(), kMaxInfluences));
  double sum = 0;
  for (const std::uint32_t j : kept) sum += weights[j];
  skin.influence_counts.push_back(static_cast<std::uint32_t>(kept.size()));
  for (const std::uint32_t j : kept) {
    skin.influence_joints.push_back(j);
    skin.influence_weights.push_back(static_cast<float>(weights[j] / sum));
  }
}

// Diffusion over the surface removes the steps where the nearest bone changes from one finger to
// the next.
void AddWeights(const HandSkeleton& hand, const QuadMesh& surface, int rounds, Skin& skin) {
  std::vector<Eigen::VectorXd> weights, next(surface.vertices.size());
  for (const Vector3d& p : surface.vertices) weights.push_back(BoneWeights(hand, p));
  const auto neighbours = Neighbours(surface);
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t v = 0; v < weights.size(); ++v) {
      next[v] = weights[v];
      for (const std::uint32_t n : neighbours[v]) next[v] += weights[n];
      next[v] /= static_cast<double>(neighbours[v].size() + 1);
    }
    weights.swap(next);
  }
  for (const Eigen::VectorXd& w : weights) AddInfluences(w, skin);
}

// How far a finger with this delay is closed, 0 to 1, at a fraction of the clip; 0 at both ends.
double Closing(double phase, double delay) {
  return SmoothStep(0.06 + delay, 0.36 + delay, phase) -
         SmoothStep(0.60 - delay, 0.92 - delay, phase);
}

// [J] rotations of the joints in their rest frames when the hand is a fist.
std::vector<Quaterniond> FistRotations(const HandSkeleton& hand) {
  std::vector<Quaterniond> local(hand.joints.size(), Quaterniond::Identity());
  Eigen::Matrix3d above = Eigen::Matrix3d::Identity();
  for (std::size_t i = 0; i < 3; ++i) {
    const Eigen::Matrix3d turned = Quaterniond::FromTwoVectors(kThumbRest[i + 1] - kThumbRest[i],
                                                               kThumbFist[i + 1] - kThumbFist[i])
                                       .toRotationMatrix();
    const Eigen::Matrix3d rest = hand.joints[i + 1].rest.linear();
    local[i + 1] =
        Quaterniond(Eigen::Matrix3d(rest.transpose() * above.transpose() * turned * rest));
    above = turned;
  }
  for (std::size_t f = 0; f < kFingers.size(); ++f) {
    for (std::size_t i = 0; i < 4; ++i) {
      const double gather =
          i == 1 ? 0.8 * kFingers[f].angle * kDegree : 0;  // fingers close side by side
      local[4 + f * 4 + i] = Eigen::AngleAxisd(gather, Vector3d::UnitZ()) *
                             Eigen::AngleAxisd(kFingers[f].curl[i] * kDegree, Vector3d::UnitX());
    }
  }
  return local;
}

ClipData MakeClip(const HandSkeleton& hand, std::uint32_t frames) {
  const std::vector<Quaterniond> fist = FistRotations(hand);
  ClipData clip;
  clip.name = "fist";
  for (std::uint32_t frame = 0; frame < frames; ++frame) {
    const double phase = static_cast<double>(frame) / frames;
    std::vector<Quaterniond> local(hand.joints.size(), Quaterniond::Identity());
    for (std::size_t j = 1; j < local.size(); ++j) {
      const double closed =
          j < 4 ? Closing(phase, kThumbLag) : Closing(phase, kFingers[(j - 4) / 4].delay);
      local[j] = Quaterniond::Identity().slerp(closed, fist[j]);
    }
    AppendFrame(hand.joints, local, clip);
  }
  return clip;
}

}  // namespace

absl::StatusOr<Model> Hand(const HandOptions& options) {
  if (options.resolution < 60 || options.resolution > 400) {
    return absl::InvalidArgumentError(
        absl::StrCat("hand.resolution: got ", options.resolution, ", need 60 to 400"));
  }
  if (options.frames < 1 || options.frames > 100'000) {
    return absl::InvalidArgumentError(
        absl::StrCat("hand.frames: got ", options.frames, ", need 1 to 100000"));
  }
  const HandSkeleton hand = MakeSkeleton();
  const double cell = kHeight / options.resolution;
  const QuadMesh surface =
      SurfaceNets([&](const Vector3d& p) { return HandField(hand.bones, p); }, kLow, kHigh, cell);
  Model model;
  model.rig.label = "hand";
  Mesh mesh;
  mesh.name = "hand";
  for (const Vector3d& p : surface.vertices) {
    for (int axis = 0; axis < 3; ++axis) mesh.positions.push_back(static_cast<float>(p[axis]));
  }
  mesh.face_sizes.assign(surface.quads.size(), 4);
  for (const auto& quad : surface.quads)
    mesh.face_vertices.insert(mesh.face_vertices.end(), quad.begin(), quad.end());
  AddJoints(hand.joints, model.rig, mesh.skin);
  // The same width on the surface whatever the resolution: diffusion spreads with the root of the
  // rounds.
  const double finer = options.resolution / 104.0;
  AddWeights(hand, surface,
             std::max(1, static_cast<int>(std::lround(kDiffusionRounds * finer * finer))),
             mesh.skin);
  model.rig.meshes.push_back(std::move(mesh));
  model.clip = MakeClip(hand, options.frames);
  return model;
}

}  // namespace sinew::client
