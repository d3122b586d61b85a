#include "core/decompose/bones.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/solve/rotation.h"

namespace sinew::decompose {
namespace {

constexpr std::size_t kPointGrain = 64;
constexpr std::size_t kFrameGrain = 8;
constexpr double kWeakBone = 0.25;  // mean weight

// cross -= motion * moments.
void Subtract(const AffineD& motion, const Moments& moments, Cross& cross) {
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t c = 0; c < 4; ++c) {
      double sum = 0;
      for (std::size_t k = 0; k < 4; ++k) sum += motion.m[r * 4 + k] * moments[k * 4 + c];
      cross[r * 4 + c] -= sum;
    }
  }
}

// Minimises sum |q - w (R v + t)|^2 for cross = sum w q v' and moments = sum w^2 v v'. Note that
// means have the squares of weights, and the rotation has the weights themselves.
void SolveMotion(const Cross& cross, const Moments& moments, AffineD& motion) {
  const double squares = moments[15];
  if (!(squares > 0)) return;
  Vec3d q = {cross[3] / squares, cross[7] / squares, cross[11] / squares};
  const double of_q[3] = {q.x, q.y, q.z};
  Mat3d spread;
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t c = 0; c < 3; ++c) {
      spread.m[r * 3 + c] = cross[r * 4 + c] - of_q[r] * moments[c * 4 + 3];
    }
  }
  const NearestRotationResult nearest = NearestRotation(spread);
  const Mat3d rotation = nearest.unique ? nearest.rotation : Linear(motion);
  const Vec3d v = {moments[3] / squares, moments[7] / squares, moments[11] / squares};
  const Vec3d t = q - Multiply(rotation, v);
  const double of_t[3] = {t.x, t.y, t.z};
  for (std::size_t r = 0; r < 3; ++r) {
    std::copy_n(&rotation.m[r * 3], 3, &motion.m[r * 4]);
    motion.m[r * 4 + 3] = of_t[r];
  }
}

// For each pair of bones that share weight, the sum of w_j w_k v v'.
struct PairMoments {
  std::vector<std::vector<std::uint32_t>> others;  // [bones] rising
  std::vector<std::vector<Moments>> moments;       // [bones][others]
};

PairMoments MakePairs(const Sequence& sequence, const WeightRows& weights, std::size_t bones) {
  std::vector<std::uint32_t> place(bones * bones, kNone);
  PairMoments pairs;
  pairs.others.resize(bones);
  pairs.moments.resize(bones);
  const auto each = [&](const auto& visit) {
    for (std::size_t p = 0; p < sequence.points(); ++p) {
      for (const JointWeight& a : weights.row(p)) {
        for (const JointWeight& b : weights.row(p)) visit(p, a, b);
      }
    }
  };
  each([&](std::size_t, const JointWeight& a, const JointWeight& b) {
    place[a.joint * bones + b.joint] = 0;
  });
  for (std::uint32_t a = 0; a < bones; ++a) {
    for (std::uint32_t b = 0; b < bones; ++b) {
      std::uint32_t& at = place[a * bones + b];
      if (at == kNone) continue;
      at = static_cast<std::uint32_t>(pairs.others[a].size());
      pairs.others[a].push_back(b);
      pairs.moments[a].emplace_back(Moments{});
    }
  }
  each([&](std::size_t p, const JointWeight& a, const JointWeight& b) {
    AddMoments(a.weight * b.weight, ToDouble(sequence.rest[p]),
               pairs.moments[a.joint][place[a.joint * bones + b.joint]]);
  });
  return pairs;
}

// [bones] 1 for those with small weights everywhere: the best motion of such a bone is what others
// leave over, magnified, and takes it far away.
std::vector<std::uint8_t> WeakBones(const WeightRows& weights, std::size_t bones) {
  std::vector<double> squares(bones), cubes(bones);
  for (const JointWeight& w : weights.values) {
    squares[w.joint] += w.weight * w.weight;
    cubes[w.joint] += w.weight * w.weight * w.weight;
  }
  std::vector<std::uint8_t> weak(bones);
  for (std::size_t j = 0; j < bones; ++j) weak[j] = cubes[j] < kWeakBone * squares[j] ? 1 : 0;
  return weak;
}

}  // namespace

std::vector<std::uint32_t> KeepBones(const std::vector<bool>& kept, Bones& bones) {
  std::vector<std::uint32_t> number(kept.size(), kNone);
  Bones all{.frames = bones.frames, .motions = {}};
  for (std::size_t j = 0; j < kept.size(); ++j) {
    if (!kept[j]) continue;
    number[j] = static_cast<std::uint32_t>(all.count());
    const std::span<const AffineD> row = bones.row(j);
    all.motions.insert(all.motions.end(), row.begin(), row.end());
  }
  bones = std::move(all);
  return number;
}

WeightRows LabelRows(std::span<const std::uint32_t> bone_of_point) {
  return CollectRows<JointWeight>(bone_of_point.size(), [&](const auto& add) {
    for (std::size_t p = 0; p < bone_of_point.size(); ++p) add(p, {bone_of_point[p], 1});
  });
}

void AddMoments(double weight, const Vec3d& v, Moments& sum) {
  const double row[4] = {v.x, v.y, v.z, 1};
  for (std::size_t r = 0; r < 4; ++r) {
    for (std::size_t c = 0; c < 4; ++c) sum[r * 4 + c] += weight * row[r] * row[c];
  }
}

void AddCross(double weight, const Vec3d& y, const Vec3d& v, Cross& sum) {
  const double row[4] = {v.x, v.y, v.z, 1};
  const double column[3] = {weight * y.x, weight * y.y, weight * y.z};
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t c = 0; c < 4; ++c) sum[r * 4 + c] += column[r] * row[c];
  }
}

double BoneError(const Sequence& sequence, std::span<const AffineD> bone, std::size_t p) {
  const Vec3d v = ToDouble(sequence.rest[p]);
  double sum = 0;
  for (std::size_t f = 0; f < sequence.frames; ++f) {
    const Vec3d apart = Apply(bone[f], v) - ToDouble(sequence.row(p)[f]);
    sum += Dot(apart, apart);
  }
  return sum;
}

std::vector<double> PointErrors(const Sequence& sequence, const Bones& bones,
                                const WeightRows& weights, const Task& task) {
  std::vector<double> errors(sequence.points());
  task.For(errors.size(), kPointGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p) {
      const Vec3d v = ToDouble(sequence.rest[p]);
      for (std::size_t f = 0; f < sequence.frames; ++f) {
        Vec3d apart = -1 * ToDouble(sequence.row(p)[f]);
        for (const JointWeight& w : weights.row(p)) {
          apart = apart + w.weight * Apply(bones.row(w.joint)[f], v);
        }
        errors[p] += Dot(apart, apart);
      }
    }
  });
  return errors;
}

void FitBones(const Sequence& sequence, const WeightRows& weights, std::size_t rounds,
              const Task& task, Bones& bones, std::span<const Pin> pins) {
  const std::size_t count = bones.count();
  const PairMoments pairs = MakePairs(sequence, weights, count);
  const std::vector<std::uint8_t> weak = WeakBones(weights, count);
  task.For(sequence.frames, kFrameGrain, [&](std::size_t begin, std::size_t end) {
    std::vector<Cross> sums((end - begin) * count, Cross{});
    for (std::size_t p = 0; p < sequence.points(); ++p) {
      for (const JointWeight& w : weights.row(p)) {
        for (std::size_t f = begin; f < end; ++f) {
          AddCross(w.weight, ToDouble(sequence.row(p)[f]), ToDouble(sequence.rest[p]),
                   sums[(f - begin) * count + w.joint]);
        }
      }
    }
    for (std::size_t f = begin; f < end; ++f) {
      for (std::size_t round = 0; round < rounds; ++round) {
        for (std::uint32_t j = 0; j < count; ++j) {
          if (weak[j] != 0) continue;
          Cross cross = sums[(f - begin) * count + j];
          Moments own{};
          for (std::size_t k = 0; k < pairs.others[j].size(); ++k) {
            const std::uint32_t other = pairs.others[j][k];
            if (other == j) {
              own = pairs.moments[j][k];
            } else {
              Subtract(bones.row(other)[f], pairs.moments[j][k], cross);
            }
          }
          for (const Pin& pin : pins) {
            if (pin.a != j && pin.b != j) continue;
            AddMoments(pin.weight, pin.place, own);
            const Vec3d other = Apply(bones.row(pin.a == j ? pin.b : pin.a)[f], pin.place);
            AddCross(pin.weight, other, pin.place, cross);
          }
          SolveMotion(cross, own, bones.row(j)[f]);
        }
      }
    }
  });
}

std::uint32_t BestSingleBone(const Sequence& sequence, const Bones& bones) {
  Moments moments{};
  std::vector<Cross> cross(sequence.frames, Cross{});
  for (std::size_t p = 0; p < sequence.points(); ++p) {
    AddMoments(1, ToDouble(sequence.rest[p]), moments);
    for (std::size_t f = 0; f < sequence.frames; ++f) {
      AddCross(1, ToDouble(sequence.row(p)[f]), ToDouble(sequence.rest[p]), cross[f]);
    }
  }
  std::uint32_t best = kNone;
  double least = std::numeric_limits<double>::infinity();
  for (std::uint32_t j = 0; j < bones.count(); ++j) {
    // The error but for sum |y|^2, which is the same for all: tr(M (V M' - 2 Q')).
    double error = 0;
    for (std::size_t f = 0; f < sequence.frames; ++f) {
      Cross rest = cross[f];
      Subtract(bones.row(j)[f], moments, rest);
      for (std::size_t k = 0; k < 12; ++k) error -= bones.row(j)[f].m[k] * (rest[k] + cross[f][k]);
    }
    if (best != kNone && error >= least) continue;
    best = j;
    least = error;
  }
  return best;
}

}  // namespace sinew::decompose
