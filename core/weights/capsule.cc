#include "core/weights/capsule.h"

#include <absl/container/flat_hash_set.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/counted_text.h"
#include "core/base/median.h"
#include "core/base/status.h"
#include "core/weights/visibility.h"

namespace sinew::weights {
namespace {

constexpr double kNearest = 0.05;    // times the inner radius: smaller distances count as this
constexpr double kUncovered = 1e-9;  // sum of fall-offs below which no capsule covers the point
constexpr std::size_t kHalfPoints = 8;
constexpr double kMinTaper = 0.5, kMaxTaper = 1.5;
constexpr double kMinRadius = 1e-6;  // unit space
constexpr double kBehind = -0.5;   // cosine between the normal and the direction away from the bone
constexpr std::size_t kTries = 8;  // nearest bones tested for visibility per point
constexpr std::size_t kGrain = 256;

double Inner(const Capsule& c, double along) {
  return c.inner_root + along * (c.inner_tip - c.inner_root);
}

bool IsBehind(const Skin& skin, std::size_t p, const Closest& closest) {
  return Dot(skin.normals[p], skin.points[p] - closest.point) < kBehind * closest.distance;
}

// Root and tip radius of a bone that is nearest to no point.
std::pair<double, double> AloneRadii(const Skin& skin, std::size_t s, double typical) {
  double least = typical;
  for (const Vec3d& p : skin.points) {
    least = std::min(least, ClosestOn(skin.bones[s], p).distance);
  }
  least = std::max(least, kMinRadius);
  return {least, least};
}

// Root and tip radius from the distances of the points beside each half.
std::pair<double, double> TaperedRadii(double whole, std::vector<double>& root,
                                       std::vector<double>& tip) {
  if (std::min(root.size(), tip.size()) < kHalfPoints) return {whole, whole};
  // The medians apply at 1/4 and 3/4 of the bone; extrapolate to its ends.
  const double a = Median(root), b = Median(tip);
  const double least = kMinTaper * whole, most = kMaxTaper * whole;
  return {std::clamp(1.5 * a - 0.5 * b, least, most), std::clamp(1.5 * b - 0.5 * a, least, most)};
}

// Distance between bones in the graph of joined ends. Coincident ends are one node.
class Chains {
 public:
  explicit Chains(std::span<const Bone> bones) : node_(JoinedEnds(bones)) {
    for (std::size_t b = 0; b < bones.size(); ++b) steps_.insert(Step(root(b), tip(b)));
  }

  enum class Relation { kApart, kBeside, kInLine };
  Relation Of(std::size_t a, std::size_t b) const {
    if (a == b || tip(a) == root(b) || tip(b) == root(a) ||
        steps_.contains(Step(tip(a), root(b))) || steps_.contains(Step(tip(b), root(a)))) {
      return Relation::kInLine;
    }
    for (const std::uint32_t x : {root(a), tip(a)}) {
      for (const std::uint32_t y : {root(b), tip(b)}) {
        if (x == y || steps_.contains(Step(x, y)) || steps_.contains(Step(y, x))) {
          return Relation::kBeside;
        }
      }
    }
    return Relation::kApart;
  }

 private:
  static std::uint64_t Step(std::uint32_t from, std::uint32_t to) {
    return (std::uint64_t{from} << 32) | to;
  }
  std::uint32_t root(std::size_t s) const { return node_[2 * s]; }
  std::uint32_t tip(std::size_t s) const { return node_[2 * s + 1]; }
  std::vector<std::uint32_t> node_;
  absl::flat_hash_set<std::uint64_t> steps_;
};

// Weights of one point at a time; reuses its storage.
class PointWeights {
 public:
  PointWeights(const Skin& skin, const std::vector<Capsule>& capsules, const Chains& chains,
               const Visibility& sight, double power)
      : skin_(skin), capsules_(capsules), chains_(chains), sight_(sight), power_(power) {}

  // Writes row p of the columns. False: no bone is visible from the point, or no capsule covers it.
  bool Fill(std::uint32_t p, Columns& columns) {
    Measure(p);
    const auto [own, seen] = OwnBone(p);
    double covered = 0;
    for (std::size_t s = 0; s < near_.size(); ++s) {
      const Closest& closest = near_[s];
      const double phi = FallOff(capsules_[s], closest.distance, closest.along);
      if (!(phi > 0) || (s != own && !MayMove(p, own, s))) continue;
      covered += phi;
      double& weight = columns.of(skin_.bones[s].joint)[p];
      weight = std::max(weight, Strength(capsules_[s], closest.distance, closest.along, power_));
    }
    if (covered >= kUncovered) return seen;
    for (std::size_t j = 0; j < skin_.joints.size(); ++j) columns.of(j)[p] = 0;
    columns.of(skin_.bones[own].joint)[p] = 1;
    return false;
  }

 private:
  void Measure(std::uint32_t p) {
    near_.clear();
    outside_.clear();
    for (std::size_t s = 0; s < skin_.bones.size(); ++s) {
      near_.push_back(ClosestOn(skin_.bones[s], skin_.points[p]));
      outside_.emplace_back(near_[s].distance - Inner(capsules_[s], near_[s].along), s);
    }
  }

  // The visible bone with the smallest d - r, or without visibility the smallest of all.
  std::pair<std::size_t, bool> OwnBone(std::uint32_t p) {
    const std::size_t tries = std::min(kTries, outside_.size());
    std::partial_sort(outside_.begin(), outside_.begin() + static_cast<std::ptrdiff_t>(tries),
                      outside_.end());
    for (std::size_t k = 0; k < tries; ++k) {
      const Closest& closest = near_[outside_[k].second];
      if (!IsBehind(skin_, p, closest) && sight_.Sees(p, closest.point)) {
        return {outside_[k].second, true};
      }
    }
    return {outside_[0].second, false};
  }

  bool MayMove(std::uint32_t p, std::size_t own, std::size_t s) const {
    const Chains::Relation relation = chains_.Of(own, s);
    if (relation == Chains::Relation::kApart || IsBehind(skin_, p, near_[s])) return false;
    return relation == Chains::Relation::kInLine || sight_.Sees(p, near_[s].point);
  }

  const Skin& skin_;
  const std::vector<Capsule>& capsules_;
  const Chains& chains_;
  const Visibility& sight_;
  double power_;
  std::vector<Closest> near_;                            // [bones]
  std::vector<std::pair<double, std::size_t>> outside_;  // (d - r, segment)
};

}  // namespace

double FallOff(const Capsule& capsule, double distance, double along) {
  const double inner = Inner(capsule, along);
  const double outer = capsule.outer_root + along * (capsule.outer_tip - capsule.outer_root);
  const double s = std::clamp((distance - inner) / (outer - inner), 0.0, 1.0);
  return 1 - s * s * (3 - 2 * s);
}

double Strength(const Capsule& capsule, double distance, double along, double power) {
  return FallOff(capsule, distance, along) /
         std::pow(std::max(distance, kNearest * Inner(capsule, along)), power);
}

std::vector<Capsule> FitCapsules(const Skin& skin, const WeightOptions& options, const Task& task) {
  const std::size_t bones = skin.bones.size(), points = skin.points.size();
  // The nearest bone on the inner side of the skin, or the nearest of all if there is none.
  std::vector<std::uint32_t> bone(points);
  std::vector<Closest> nearest(points);
  task.For(points, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p) {
      bool found_behind = true;
      for (std::uint32_t s = 0; s < bones; ++s) {
        const Closest closest = ClosestOn(skin.bones[s], skin.points[p]);
        const bool behind = IsBehind(skin, p, closest);
        if (s > 0 && (behind > found_behind ||
                      (behind == found_behind && !(closest.distance < nearest[p].distance)))) {
          continue;
        }
        found_behind = behind;
        nearest[p] = closest;
        bone[p] = s;
      }
    }
  });
  std::vector<std::vector<double>> all(bones);
  std::vector<std::array<std::vector<double>, 2>> half(bones);
  for (std::size_t p = 0; p < points; ++p) {
    const Closest& closest = nearest[p];
    all[bone[p]].push_back(closest.distance);
    if (closest.along > 0 && closest.along < 1) {
      half[bone[p]][closest.along < 0.5 ? 0 : 1].push_back(closest.distance);
    }
  }
  std::vector<double> radius(bones, 0.0), known;
  for (std::size_t s = 0; s < bones; ++s) {
    if (all[s].empty()) continue;
    radius[s] = std::max(Median(all[s]), kMinRadius);
    known.push_back(radius[s]);
  }
  const double typical = Median(known);
  std::vector<Capsule> capsules(bones);
  task.For(bones, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t s = begin; s < end; ++s) {
      const auto [root, tip] = all[s].empty() ? AloneRadii(skin, s, typical)
                                              : TaperedRadii(radius[s], half[s][0], half[s][1]);
      const double inner = options.inner, outer = options.outer;
      capsules[s] = {inner * root, inner * tip, outer * root, outer * tip};
    }
  });
  return capsules;
}

absl::StatusOr<Computed> CapsuleWeights(const Skin& skin, const WeightOptions& options,
                                        const Progress& progress) {
  const Task& task = progress.task;
  const std::vector<Capsule> capsules = FitCapsules(skin, options, task);
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  SINEW_ASSIGN_OR_RETURN(const Visibility sight, Visibility::Create(skin));
  progress.Advance(0.2);
  const Chains chains(skin.bones);
  const std::size_t points = skin.points.size();
  Computed computed = {Columns(skin.joints.size(), points), {}, {}};
  std::vector<std::uint8_t> lost(points, 0);
  task.For(points, kGrain, [&](std::size_t begin, std::size_t end) {
    PointWeights weights(skin, capsules, chains, sight, options.falloff);
    for (std::size_t p = begin; p < end; ++p) {
      lost[p] = weights.Fill(static_cast<std::uint32_t>(p), computed.columns) ? 0 : 1;
    }
    progress.Advance(0.8 * static_cast<double>(end - begin) / static_cast<double>(points));
  });
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  for (std::uint32_t p = 0; p < points; ++p) {
    if (lost[p] != 0) computed.unseen.push_back(p);
  }
  if (!computed.unseen.empty()) {
    computed.notes.push_back(
        {Severity::kInfo, "mesh",
         absl::StrCat(CountedText(computed.unseen.size(), "point follows", "points follow"),
                      " the nearest bone, since none is visible or all capsules end before; a "
                      "larger outer radius covers more")});
  }
  return computed;
}

std::size_t CapsuleBytes(const Skin& skin) {
  return Visibility::CostBytes(skin.triangles.size()) +
         skin.points.size() * (skin.joints.size() * sizeof(double) + 120) + skin.bones.size() * 512;
}

}  // namespace sinew::weights
