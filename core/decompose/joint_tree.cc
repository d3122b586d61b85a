#include "core/decompose/joint_tree.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>

#include "core/base/disjoint_sets.h"
#include "core/base/status.h"
#include "core/base/vectors.h"
#include "core/solve/dense.h"

namespace sinew::decompose {
namespace {

constexpr std::size_t kPairGrain = 16;
// Pull of a hinge towards the middle of the weight that its bones share, against turning by one
// radian in every frame: about 2 degrees, and more as long as the gap rises by no more than
// kGapRise.
constexpr double kLeastPull = 1e-3, kPullStep = 1.5, kMostPull = 1e3, kGapRise = 1.15;
constexpr double kLeastDepth = 0.5;  // of the depth of the middle

struct Hinge {
  std::uint32_t a = 0, b = 0;
  double shared = 0;  // sum of w_a w_b
  Vec3d middle;       // of the skin that they share, or between theirs
  Vec3d place;
  double depth = 0;  // of the place, at least
  double gap = 0;    // sum over frames of the squared distance

  // Tried first if less: bones that share weight, then small gaps.
  auto Key() const {
    return std::tuple(shared > 0 ? 0 : 1, shared > 0 ? std::sqrt(gap) / shared : std::sqrt(gap), a,
                      b);
  }
};

// The sum over frames of the squared distance to which two bones take a place.
double SumOfGaps(const Bones& bones, const Hinge& hinge, const Vec3d& place) {
  double sum = 0;
  for (std::size_t f = 0; f < bones.frames; ++f) {
    const Vec3d d = Apply(bones.row(hinge.a)[f], place) - Apply(bones.row(hinge.b)[f], place);
    sum += Dot(d, d);
  }
  return sum;
}

// The place that both bones move alike, and the nearest such to `hinge.middle`: motion says little
// about a place on a line or far away from small turns, so one is taken whose gap is somewhat
// larger than the least. With `inside`, it goes on until it is half as deep inside as
// `hinge.middle`.
void Solve(const Bones& bones, const Inside* inside, const Task& task, Hinge& hinge) {
  const auto frames = static_cast<double>(bones.frames);
  const Vec3d near = hinge.middle;
  std::array<double, 9> squares = {};
  std::array<double, 3> right = {};  // of the step from `near`
  for (std::size_t f = 0; f < bones.frames; ++f) {
    const AffineD& of_a = bones.row(hinge.a)[f];
    const AffineD& of_b = bones.row(hinge.b)[f];
    const Mat3d a = Linear(of_a), b = Linear(of_b);
    Mat3d turn;
    for (std::size_t k = 0; k < 9; ++k) turn.m[k] = a.m[k] - b.m[k];
    const Mat3d square = Multiply(Transpose(turn), turn);
    const Vec3d pull = Multiply(Transpose(turn), Apply(of_b, near) - Apply(of_a, near));
    for (std::size_t k = 0; k < 9; ++k) squares[k] += square.m[k];
    right = {right[0] + pull.x, right[1] + pull.y, right[2] + pull.z};
  }
  const auto place = [&](double pull) {
    std::array<double, 9> matrix = squares;
    for (std::size_t k = 0; k < 9; k += 4) matrix[k] += pull * frames;
    std::array<double, 3> step = right;
    SolveDense(matrix, step);
    return near + Vec3d{step[0], step[1], step[2]};
  };
  const Vec3d least = place(kLeastPull);
  hinge.place = least;
  hinge.gap = SumOfGaps(bones, hinge, least);
  // Frames are not needed any more: gaps are quadratic in the place, and this is their slope.
  const Vec3d slope = 2 * kLeastPull * frames * (near - least);
  const double rise = (kGapRise * kGapRise - 1) * hinge.gap;
  const double gap = hinge.gap;
  if (inside != nullptr) hinge.depth = kLeastDepth * inside->Depth(near, task);
  for (double pull = kLeastPull * kPullStep; !task.cancelled(); pull *= kPullStep) {
    const Vec3d nearer = pull < kMostPull ? place(pull) : near, on = nearer - least;
    const double more = Dot(on, slope + Multiply(Mat3d{squares}, on));
    if (more > rise && (hinge.depth == 0 || inside->IsDeep(hinge.place, hinge.depth, task))) {
      break;
    }
    hinge.place = nearer;
    hinge.gap = gap + more;
    if (pull >= kMostPull) break;
  }
}

// All pairs of bones, those without shared weight with the middle between theirs.
std::vector<Hinge> MakeHinges(const Sequence& sequence, const Bones& bones,
                              const WeightRows& weights, const std::vector<Vec3d>& middles) {
  const std::size_t count = bones.count();
  std::vector<double> shared(count * count);
  std::vector<Vec3d> sums(count * count);
  for (std::size_t p = 0; p < sequence.points(); ++p) {
    for (const JointWeight& a : weights.row(p)) {
      for (const JointWeight& b : weights.row(p)) {
        if (a.joint >= b.joint) continue;
        const std::size_t at = a.joint * count + b.joint;
        shared[at] += a.weight * b.weight;
        sums[at] = sums[at] + a.weight * b.weight * ToDouble(sequence.rest[p]);
      }
    }
  }
  std::vector<Hinge> hinges;
  for (std::uint32_t a = 0; a < count; ++a) {
    for (std::uint32_t b = a + 1; b < count; ++b) {
      const std::size_t at = a * count + b;
      hinges.push_back(
          {.a = a,
           .b = b,
           .shared = shared[at],
           .middle = shared[at] > 0 ? (1 / shared[at]) * sums[at] : 0.5 * (middles[a] + middles[b]),
           .place = {}});
    }
  }
  return hinges;
}

std::vector<Vec3d> Middles(const Sequence& sequence, const WeightRows& weights, std::size_t bones) {
  std::vector<Vec3d> middles(bones);
  std::vector<double> sums(bones);
  for (std::size_t p = 0; p < sequence.points(); ++p) {
    for (const JointWeight& w : weights.row(p)) {
      middles[w.joint] = middles[w.joint] + w.weight * ToDouble(sequence.rest[p]);
      sums[w.joint] += w.weight;
    }
  }
  for (std::size_t j = 0; j < bones; ++j) middles[j] = (1 / sums[j]) * middles[j];
  return middles;
}

// The first place inside on the ways to the middles of two bones, or else the place itself: what
// they share may be skin around a notch.
Vec3d InsideOrNear(const Inside& inside, const Vec3d& place, const std::array<Vec3d, 2>& middles,
                   const Task& task) {
  constexpr int kSteps = 4;
  for (int step = 0; step <= kSteps; ++step) {
    for (const Vec3d& middle : middles) {
      const Vec3d at = place + (static_cast<double>(step) / kSteps) * (middle - place);
      if (inside.Has(at, task)) return at;
    }
  }
  return place;
}

}  // namespace

absl::StatusOr<JointTree> MakeJointTree(const Sequence& sequence, const Bones& bones,
                                        const WeightRows& weights, const Inside& inside,
                                        const Task& task) {
  const std::size_t count = bones.count();
  const std::vector<Vec3d> middles = Middles(sequence, weights, count);
  std::vector<Hinge> hinges = MakeHinges(sequence, bones, weights, middles);
  task.For(hinges.size(), kPairGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) Solve(bones, nullptr, task, hinges[k]);
  });
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  std::ranges::sort(hinges, {}, &Hinge::Key);

  DisjointSets sets(count);
  std::erase_if(hinges, [&](const Hinge& hinge) {
    if (sets.Lowest(hinge.a) == sets.Lowest(hinge.b)) return true;
    sets.Join(hinge.a, hinge.b);
    return false;
  });
  // One after the other, as each search for places inside runs in parallel.
  for (Hinge& hinge : hinges) {
    hinge.middle = InsideOrNear(inside, hinge.middle, {middles[hinge.a], middles[hinge.b]}, task);
    Solve(bones, &inside, task, hinge);
    hinge.place = inside.Snapped(hinge.place);
    hinge.gap = SumOfGaps(bones, hinge, hinge.place);
    if (hinge.depth == 0) hinge.depth = kLeastDepth * inside.Depth(hinge.place, task);
    SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  }
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  std::vector<std::vector<const Hinge*>> of_bone(count);
  double gap = 0;
  for (const Hinge& hinge : hinges) {
    of_bone[hinge.a].push_back(&hinge);
    of_bone[hinge.b].push_back(&hinge);
    gap += hinge.gap;
  }
  JointTree tree;
  const std::uint32_t root = BestSingleBone(sequence, bones);
  tree.bones = {root};
  tree.parents = {kNone};
  tree.middles = {middles[root]};
  tree.depths = {0};
  tree.places = {inside.Snapped(middles[root])};
  // Nothing hinges there, so that a place of a hinge will do.
  if (!inside.Has(middles[root], task)) {
    double least = std::numeric_limits<double>::infinity();
    for (const Hinge* hinge : of_bone[root]) {
      const double distance = Length(hinge->place - middles[root]);
      if (distance >= least || !inside.Has(hinge->place, task)) continue;
      least = distance;
      tree.places = {hinge->place};
    }
  }
  for (std::uint32_t joint = 0; joint < tree.bones.size(); ++joint) {
    const std::uint32_t bone = tree.bones[joint];
    for (const Hinge* hinge : of_bone[bone]) {
      const std::uint32_t child = hinge->a == bone ? hinge->b : hinge->a;
      if (joint > 0 && child == tree.bones[tree.parents[joint]]) continue;
      tree.bones.push_back(child);
      tree.parents.push_back(joint);
      tree.middles.push_back(hinge->middle);
      tree.depths.push_back(hinge->depth);
      tree.places.push_back(hinge->place);
    }
  }
  if (count > 1) {
    tree.gap = std::sqrt(gap / static_cast<double>((count - 1) * sequence.frames));
  }
  return tree;
}

}  // namespace sinew::decompose
