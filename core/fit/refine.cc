#include "core/fit/refine.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>
#include <utility>

#include "core/base/vectors.h"

namespace sinew::fit {
namespace {

// Weights of the terms, and lengths in unit space, of the published program.
constexpr double kInside = 15000, kLength = 0.25, kAngle = 2, kSymmetry = 1;
// The difference between the shares that two bones of a chain have of their length and those of the
// template, squared. In limbs that are nearly straight nothing else tells where the middle joint
// is.
constexpr double kProportion = 60;
constexpr double kDeepEnough = 0.05, kNoise = 0.003;
constexpr int kProbes = 10;
constexpr double kStep = 1e-5;  // of differences
constexpr int kIterations = 300;
constexpr std::size_t kMemory = 8;  // pairs that L-BFGS keeps
constexpr double kEnough = 1e-7;    // relative gain of an iteration

class Energy {
 public:
  Energy(const Body& body, const SkeletonTemplate& skeleton, std::span<const Vec3d> bones)
      : body_(body),
        joints_(skeleton.joints),
        bones_(bones),
        bones_of_(joints_.size()),
        touched_(joints_.size()) {
    const auto touch = [&](std::uint32_t joint, std::uint32_t bone) {
      if (joint == kNone) return;
      std::vector<std::uint32_t>& list = touched_[joint];
      if (std::ranges::find(list, bone) == list.end()) list.push_back(bone);
    };
    for (std::uint32_t b = 1; b < joints_.size(); ++b) ++bones_of_[joints_[b].parent];
    for (std::uint32_t b = 1; b < joints_.size(); ++b) {
      touch(b, b);
      touch(joints_[b].parent, b);
      if (IsLink(joints_[b].parent)) touch(joints_[joints_[b].parent].parent, b);
      if (!IsLater(b)) continue;
      touch(joints_[b].partner, b);
      touch(joints_[joints_[b].partner].parent, b);
    }
  }

  double operator()(std::span<const Vec3d> places) const {
    double sum = 0;
    for (std::uint32_t b = 1; b < joints_.size(); ++b) sum += OfBone(b, places);
    return sum;
  }

  std::vector<Vec3d> Gradient(std::vector<Vec3d> places,
                              std::span<const std::uint8_t> fixed) const {
    std::vector<Vec3d> gradient(places.size());
    for (std::size_t j = 0; j < places.size(); ++j) {
      if (fixed[j]) continue;
      for (double Vec3d::*axis : {&Vec3d::x, &Vec3d::y, &Vec3d::z}) {
        const double at = places[j].*axis;
        double change = 0;
        for (const double side : {1.0, -1.0}) {
          places[j].*axis = at + side * kStep;
          for (const std::uint32_t b : touched_[j]) change += side * OfBone(b, places);
        }
        places[j].*axis = at;
        gradient[j].*axis = change / (2 * kStep);
      }
    }
    return gradient;
  }

 private:
  bool IsLater(std::uint32_t b) const {
    return joints_[b].partner != kNone && joints_[b].partner < b && joints_[b].partner > 0;
  }

  // Whether the joint merely divides a chain.
  bool IsLink(std::uint32_t j) const { return j > 0 && bones_of_[j] == 1; }

  double OfBone(std::uint32_t b, std::span<const Vec3d> places) const {
    const Vec3d tip = places[b], root = places[joints_[b].parent];
    const Vec3d e = tip - root, w = bones_[b];
    double inside = 0;
    for (int k = 0; k < kProbes; ++k) {
      const Vec3d p = tip + (static_cast<double>(k) / kProbes) * (root - tip);
      const double off =
          std::min(body_.ToMedial(p), 0.001 + std::max(0.0, kDeepEnough - body_.Depth(p)));
      if (off > kNoise) inside += off * off;
    }
    const double along = Dot(e, w), projected = along * along / Dot(w, w);
    double sum = kInside * inside / kProbes +
                 kLength * std::max(0.5, (1e-4 + Dot(w, w)) / (1e-4 + projected));
    const double length = Length(e);
    if (length > 1e-8) {
      const double angle = std::acos(std::clamp(along / (length * Length(w)), -1.0, 1.0));
      const double bent = 0.3 + 0.5 * angle;
      sum += kAngle * bent * bent * bent * (along < 0 ? 10 : 1);
    }
    if (const std::uint32_t above = joints_[b].parent; IsLink(above)) {
      const double before = Length(root - places[joints_[above].parent]);
      const double off =
          length / (length + before + 1e-9) - Length(w) / (Length(w) + Length(bones_[above]));
      sum += kProportion * off * off;
    }
    if (IsLater(b)) {
      const std::uint32_t other = joints_[b].partner;
      const Vec3d f = places[other] - places[joints_[other].parent];
      const double mine = Dot(e, e), its = Dot(f, f);
      sum += kSymmetry * std::max({1.05, mine / (0.001 + its), its / (0.001 + mine)});
    }
    return sum;
  }

  const Body& body_;
  const std::vector<TemplateJoint>& joints_;
  std::span<const Vec3d> bones_;
  std::vector<std::uint32_t> bones_of_;              // [joints] below each
  std::vector<std::vector<std::uint32_t>> touched_;  // [joints] bones whose energy depends on it
};

using Vectors = std::vector<Vec3d>;

double Inner(const Vectors& a, const Vectors& b) {
  double sum = 0;
  for (std::size_t j = 0; j < a.size(); ++j) sum += Dot(a[j], b[j]);
  return sum;
}
Vectors Sum(const Vectors& a, double s, const Vectors& b) {
  Vectors sum(a.size());
  for (std::size_t j = 0; j < a.size(); ++j) sum[j] = a[j] + s * b[j];
  return sum;
}

// The direction of L-BFGS (Nocedal 1980) from its last pairs of steps and changes of the gradient.
class Memory {
 public:
  void Add(Vectors step, Vectors change) {
    const double curvature = Inner(step, change);
    if (!(curvature > 0)) return;
    pairs_.push_back({std::move(step), std::move(change), curvature});
    if (pairs_.size() > kMemory) pairs_.pop_front();
  }
  void Clear() { pairs_.clear(); }
  bool empty() const { return pairs_.empty(); }

  Vectors Direction(const Vectors& gradient) const {
    Vectors q = gradient;
    std::vector<double> parts(pairs_.size());
    for (std::size_t k = pairs_.size(); k-- > 0;) {
      parts[k] = Inner(pairs_[k].step, q) / pairs_[k].curvature;
      q = Sum(q, -parts[k], pairs_[k].change);
    }
    if (!pairs_.empty()) {
      const Pair& last = pairs_.back();
      const double scale = last.curvature / Inner(last.change, last.change);
      for (Vec3d& v : q) v = scale * v;
    }
    for (std::size_t k = 0; k < pairs_.size(); ++k) {
      q = Sum(q, parts[k] - Inner(pairs_[k].change, q) / pairs_[k].curvature, pairs_[k].step);
    }
    for (Vec3d& v : q) v = -1 * v;
    return q;
  }

 private:
  struct Pair {
    Vectors step, change;
    double curvature;
  };
  std::deque<Pair> pairs_;
};

}  // namespace

std::vector<Vec3d> Refine(const Body& body, const SkeletonTemplate& skeleton,
                          std::span<const Vec3d> bones, std::span<const std::uint8_t> fixed,
                          std::vector<Vec3d> places) {
  const Energy energy(body, skeleton, bones);
  Memory memory;
  double value = energy(places);
  Vectors gradient = energy.Gradient(places, fixed);
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    Vectors direction = memory.Direction(gradient);
    double slope = Inner(direction, gradient);
    if (slope >= 0) {
      memory.Clear();
      direction = memory.Direction(gradient);
      slope = Inner(direction, gradient);
    }
    if (slope == 0) break;
    // The first step moves the joints by a hundredth of the body at most.
    double step = memory.empty() ? std::min(1.0, 0.01 / std::sqrt(Inner(gradient, gradient))) : 1;
    Vectors next;
    double reached = value;
    bool better = false;
    for (int tries = 0; tries < 30 && !better; ++tries, step *= 0.5) {
      next = Sum(places, step, direction);
      reached = energy(next);
      better = reached <= value + 1e-4 * step * slope;
    }
    if (!better) {
      if (memory.empty()) break;
      memory.Clear();  // and try the steepest descent
      continue;
    }
    Vectors next_gradient = energy.Gradient(next, fixed);
    memory.Add(Sum(next, -1, places), Sum(next_gradient, -1, gradient));
    const double gain = value - reached;
    places = std::move(next);
    gradient = std::move(next_gradient);
    value = reached;
    if (gain < kEnough * value) break;
  }
  return places;
}

}  // namespace sinew::fit
