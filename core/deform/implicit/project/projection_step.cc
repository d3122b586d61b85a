#include "core/deform/implicit/project/projection_step.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/deform/method/vertex_status.h"

namespace sinew {
namespace {

constexpr float kDivergence = 0.5736f;  // cosine of 55 degrees
constexpr int kLevelHalvings = 20, kCreaseHalvings = 14;
constexpr float kLastBit = 0.05f;  // relative to the longest step
constexpr float kNoise = 1e-3f;  // of F: precision of thin, folded or finely fitted parts in float

// A point's search from `from` along the unit vector `along`.
struct Walk {
  std::uint32_t point = 0;
  float d = 0;  // at `from`
  Vec3f from, along;
  float low = 0, high = 0;  // remaining bracket; lengths, negative = outward
  bool crossing = false;    // rule A, else C: see projection_step.h
  int halvings = 0;

  Vec3f At(float t) const {
    return {from.x + t * along.x, from.y + t * along.y, from.z + t * along.z};
  }
  float middle() const { return 0.5f * (low + high); }
};

float Length(const Vec3f& g) {
  return std::sqrt(g.x * g.x + g.y * g.y + g.z * g.z);
}

class Step {
 public:
  Step(const PosedField& field, std::span<const float> level, const StepRules& rules,
       const MovingPoints& points)
      : field_(field), level_(level), rules_(rules), points_(points) {}

  std::size_t Run(bool first, std::span<const std::uint32_t> list) {
    Start(first, list);
    MakeSteps();
    while (searches_ > 0) Halve();
    return evaluated_;
  }

 private:
  // Evaluates the field at place(i), i < count <= 16.
  template <class Place>
  void Evaluate(std::size_t count, Place place) {
    field_.Evaluate(BlockOf(count, place), Contact::kCrease, values_);
    evaluated_ += count;
  }
  Vec3f Gradient(std::size_t i) const { return {values_.x[i], values_.y[i], values_.z[i]}; }
  bool HasGradient(float length) const { return length > rules_.least_gradient; }

  Vec3f At(std::uint32_t p) const {
    return {points_.at[4 * p], points_.at[4 * p + 1], points_.at[4 * p + 2]};
  }
  void Move(std::uint32_t p, const Vec3f& to) {
    points_.at[4 * p] = to.x;
    points_.at[4 * p + 1] = to.y;
    points_.at[4 * p + 2] = to.z;
    points_.known[p] = 0;
  }
  void Know(std::uint32_t p, const Vec3f& gradient, float d) {
    points_.gradient[4 * p] = gradient.x;
    points_.gradient[4 * p + 1] = gradient.y;
    points_.gradient[4 * p + 2] = gradient.z;
    points_.gradient[4 * p + 3] = d;
    points_.known[p] = 1;
  }
  void Stop(std::uint32_t p, VertexStatus state) {
    points_.state[p] = static_cast<std::uint8_t>(state);
  }

  // Steps of all active points; evaluates the field where it is not known.
  void Start(bool first, std::span<const std::uint32_t> list) {
    std::array<std::uint32_t, kStepGrain> unknown;
    std::size_t count = 0;
    for (const std::uint32_t p : list) {
      if (points_.known[p] != 0) {
        SetOut(first, p);
      } else {
        unknown[count++] = p;
      }
    }
    for (std::size_t b = 0; b < count; b += kLanes) {
      const std::size_t lanes = std::min(kLanes, count - b);
      Evaluate(lanes, [&](std::size_t i) { return At(unknown[b + i]); });
      for (std::size_t i = 0; i < lanes; ++i) {
        const std::uint32_t p = unknown[b + i];
        Know(p, Gradient(i), level_[p] - values_.value[i]);
        SetOut(first, p);
      }
    }
  }

  // With the field known: stops, or starts a step.
  void SetOut(bool first, std::uint32_t p) {
    const float* known = &points_.gradient[4 * p];
    const Vec3f g = {known[0], known[1], known[2]};
    if (!HasGradient(Length(g))) {
      Stop(p, VertexStatus::kZeroGradient);
    } else if (first && std::abs(known[3]) < kNoise) {
      Stop(p, VertexStatus::kNotDisplaced);
    } else if (!(std::abs(known[3]) < kLevelTolerance)) {
      AddStep(p);
    } else {
      Arrive(p, At(p), g, known[3]);
    }
  }

  void AddStep(std::uint32_t p) {
    const float* g = &points_.gradient[4 * p];
    const float length = Length({g[0], g[1], g[2]}), d = g[3];
    const float newton = std::clamp(rules_.sigma * d / length, -rules_.longest, rules_.longest);
    Walk& walk = steps_[count_++];
    walk = {.point = p,
            .d = d,
            .from = At(p),
            .along = {g[0] / length, g[1] / length, g[2] / length},
            .high = newton};
  }

  void MakeSteps() {
    for (std::size_t b = 0; b < count_; b += kLanes) {
      const std::size_t lanes = std::min(kLanes, count_ - b);
      Evaluate(lanes, [&](std::size_t i) { return steps_[b + i].At(steps_[b + i].high); });
      for (std::size_t i = 0; i < lanes; ++i) {
        Judge(steps_[b + i], level_[steps_[b + i].point] - values_.value[i], Gradient(i));
      }
    }
  }

  void Judge(const Walk& walk, float d, const Vec3f& g) {
    const std::uint32_t p = walk.point;
    const float length = Length(g);
    if (walk.d * d <= 0) {
      if (std::abs(d) < kLevelTolerance) {
        Arrive(p, walk.At(walk.high), g, d);
      } else {
        Search(walk, true, kLevelHalvings);
      }
    } else if (!HasGradient(length)) {
      Stop(p, VertexStatus::kZeroGradient);
    } else if (rules_.creases && Diverges(walk, g, length)) {
      Search(walk, false, kCreaseHalvings);
    } else if (!(std::abs(d) <= std::abs(walk.d))) {
      // Within the field's precision it is no pit; smoothing would tear the skin off.
      Stop(p, std::abs(walk.d) < kNoise ? VertexStatus::kFitted : VertexStatus::kPotentialPit);
    } else {
      Move(p, walk.At(walk.high));
      Know(p, g, d);
      if (std::abs(d) < kLevelTolerance) Arrive(p, walk.At(walk.high), g, d);
    }
  }

  // Stops p at `at` with known field, and adds the remaining distance at once, where the field is
  // linear. So the position does not depend on which step came within the tolerance.
  void Arrive(std::uint32_t p, const Vec3f& at, const Vec3f& g, float d) {
    const float length = Length(g);
    const float rest = d / length;  // short relative to a step unless the gradient vanishes
    const float scale = std::abs(rest) <= kLastBit * rules_.longest ? rest / length : 0;
    Move(p, {at.x + scale * g.x, at.y + scale * g.y, at.z + scale * g.z});
    Stop(p, VertexStatus::kFitted);
  }

  static bool Diverges(const Walk& walk, const Vec3f& g, float length) {
    const float cosine = walk.along.x * g.x + walk.along.y * g.y + walk.along.z * g.z;
    return !(cosine >= kDivergence * length);
  }

  void Search(const Walk& walk, bool crossing, int halvings) {
    Walk& search = searching_[searches_++];
    search = walk;
    search.crossing = crossing;
    search.halvings = halvings;
  }

  // One more evaluation for every search; removes finished ones.
  void Halve() {
    std::size_t kept = 0;
    for (std::size_t b = 0; b < searches_; b += kLanes) {
      const std::size_t lanes = std::min(kLanes, searches_ - b);
      Evaluate(lanes,
               [&](std::size_t i) { return searching_[b + i].At(searching_[b + i].middle()); });
      for (std::size_t i = 0; i < lanes; ++i) {
        Walk walk = searching_[b + i];
        if (!Narrow(walk, level_[walk.point] - values_.value[i], Gradient(i))) {
          searching_[kept++] = walk;  // never overtakes the read position
        }
      }
    }
    searches_ = kept;
  }

  // Returns true when the search is finished and the point has its final position.
  bool Narrow(Walk& walk, float d, const Vec3f& g) {
    const float middle = walk.middle();
    --walk.halvings;
    if (walk.crossing) {
      if (std::abs(d) < kLevelTolerance || walk.halvings == 0) {
        Arrive(walk.point, walk.At(middle), g, d);
        return true;
      }
      (walk.d * d > 0 ? walk.low : walk.high) = middle;
      return false;
    }
    const float length = Length(g);
    const bool before = HasGradient(length) && !Diverges(walk, g, length);
    (before ? walk.low : walk.high) = middle;
    if (walk.halvings > 0) return false;
    Move(walk.point, walk.At(walk.low));
    Stop(walk.point, VertexStatus::kGradientDivergence);
    return true;
  }

  const PosedField& field_;
  const std::span<const float> level_;
  const StepRules& rules_;
  const MovingPoints& points_;
  FieldBlock values_;
  std::size_t evaluated_ = 0;
  std::array<Walk, kStepGrain> steps_, searching_;
  std::size_t count_ = 0, searches_ = 0;
};

}  // namespace

std::size_t AdvancePoints(const PosedField& field, std::span<const float> level,
                          const StepRules& rules, bool first, std::span<const std::uint32_t> list,
                          const MovingPoints& points) {
  return Step(field, level, rules, points).Run(first, list);
}

}  // namespace sinew
