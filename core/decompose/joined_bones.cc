#include "core/decompose/joined_bones.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/base/vectors.h"
#include "core/solve/dense.h"
#include "core/solve/rotation.h"

namespace sinew::decompose {
namespace {

constexpr std::size_t kTurnGrain = 8;  // frames
constexpr int kPlaceRounds = 2;
// Pull of a joint towards the middle of the skin that its bones share, against turning by one
// radian in every frame.
constexpr double kLeastPull = 1e-4, kPullStep = 6, kMostPull = 1e3;

std::vector<std::uint32_t> JointOf(const JointTree& tree) {
  std::vector<std::uint32_t> joint(tree.bones.size());
  for (std::uint32_t j = 0; j < joint.size(); ++j) joint[tree.bones[j]] = j;
  return joint;
}

// [4 joints][4 joints] sums of w_j w_k v v'.
std::vector<double> Products(const Sequence& sequence, const WeightRows& weights,
                             const std::vector<std::uint32_t>& joint_of) {
  const std::size_t width = 4 * joint_of.size();
  std::vector<double> sums(width * width);
  for (std::size_t p = 0; p < sequence.points(); ++p) {
    const Vec3d v = ToDouble(sequence.rest[p]);
    const double row[4] = {v.x, v.y, v.z, 1};
    for (const JointWeight& a : weights.row(p)) {
      for (const JointWeight& b : weights.row(p)) {
        double* const to = &sums[4 * joint_of[a.joint] * width + 4 * joint_of[b.joint]];
        for (std::size_t r = 0; r < 4; ++r) {
          for (std::size_t c = 0; c < 4; ++c) {
            to[r * width + c] += a.weight * b.weight * row[r] * row[c];
          }
        }
      }
    }
  }
  return sums;
}

// From rows [4 joints][width] of sums with w_j v to rows [3 joints][width] of the same with u_j.
std::vector<double> Reduce(const JointTree& tree, std::span<const double> rows, std::size_t width) {
  const std::size_t joints = tree.bones.size();
  std::vector<double> below(joints * width);  // of joint j and all that hang on it, without v
  std::vector<double> reduced(3 * joints * width);
  for (std::size_t j = joints; j-- > 0;) {
    const double* const own = &rows[(4 * j + 3) * width];
    for (std::size_t k = 0; k < width; ++k) below[j * width + k] += own[k];
    const Vec3d at = tree.places[j];
    const double of_at[3] = {at.x, at.y, at.z};
    for (std::size_t r = 0; r < 3; ++r) {
      for (std::size_t k = 0; k < width; ++k) {
        reduced[(3 * j + r) * width + k] += rows[(4 * j + r) * width + k] - of_at[r] * own[k];
      }
    }
    if (j == 0) continue;
    const std::size_t parent = tree.parents[j];
    const Vec3d way = at - tree.places[parent];
    const double of_way[3] = {way.x, way.y, way.z};
    for (std::size_t k = 0; k < width; ++k) below[parent * width + k] += below[j * width + k];
    for (std::size_t r = 0; r < 3; ++r) {
      for (std::size_t k = 0; k < width; ++k) {
        reduced[(3 * parent + r) * width + k] += of_way[r] * below[j * width + k];
      }
    }
  }
  return reduced;
}

std::vector<double> Transposed(std::span<const double> matrix, std::size_t rows) {
  const std::size_t columns = matrix.size() / rows;
  std::vector<double> result(matrix.size());
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) result[c * rows + r] = matrix[r * columns + c];
  }
  return result;
}

// Turns by the rotation about the place of a joint, which goes to `at`.
AffineD About(const Mat3d& rotation, const Vec3d& place, const Vec3d& at) {
  const Vec3d t = at - Multiply(rotation, place);
  const double of_t[3] = {t.x, t.y, t.z};
  AffineD motion;
  for (std::size_t r = 0; r < 3; ++r) {
    std::copy_n(&rotation.m[r * 3], 3, &motion.m[r * 4]);
    motion.m[r * 4 + 3] = of_t[r];
  }
  return motion;
}

}  // namespace

void JoinBones(const JointTree& tree, Bones& bones) {
  for (std::size_t j = 1; j < tree.bones.size(); ++j) {
    const Vec3d& place = tree.places[j];
    for (std::size_t f = 0; f < bones.frames; ++f) {
      AffineD& motion = bones.row(tree.bones[j])[f];
      motion =
          About(Linear(motion), place, Apply(bones.row(tree.bones[tree.parents[j]])[f], place));
    }
  }
}

void FitJoinedBones(const Sequence& sequence, const WeightRows& weights, const JointTree& tree,
                    std::size_t rounds, const Task& task, Bones& bones) {
  const std::size_t joints = tree.bones.size(), width = 3 * joints;
  const std::vector<std::uint32_t> joint_of = JointOf(tree);
  // Sums over points of u_j u_k' and of u_j. Of all, t is the best one, so that u and y are taken
  // from their means.
  std::vector<double> products = Products(sequence, weights, joint_of);
  std::vector<double> sums(4 * joints);
  for (std::size_t p = 0; p < sequence.points(); ++p) {
    const Vec3d v = ToDouble(sequence.rest[p]);
    for (const JointWeight& w : weights.row(p)) {
      double* const to = &sums[4 * joint_of[w.joint]];
      to[0] += w.weight * v.x;
      to[1] += w.weight * v.y;
      to[2] += w.weight * v.z;
      to[3] += w.weight;
    }
  }
  const auto points = static_cast<double>(sequence.points());
  std::vector<double> means = Reduce(tree, sums, 1);
  for (double& mean : means) mean /= points;
  products = Reduce(tree, products, 4 * joints);
  products = Reduce(tree, Transposed(products, width), width);
  for (std::size_t r = 0; r < width; ++r) {
    for (std::size_t c = 0; c < width; ++c) products[r * width + c] -= points * means[r] * means[c];
  }
  const auto block = [&](std::size_t j, std::size_t k) {  // sum of u_j u_k'
    Mat3d sum;
    for (std::size_t r = 0; r < 3; ++r) {
      std::copy_n(&products[(3 * j + r) * width + 3 * k], 3, &sum.m[r * 3]);
    }
    return sum;
  };

  task.For(sequence.frames, kTurnGrain, [&](std::size_t begin, std::size_t end) {
    const std::size_t columns = 3 * (end - begin);
    std::vector<double> cross(4 * joints * columns);  // sums of w_j v y'
    std::vector<Vec3d> middles(end - begin);          // sums of y
    for (std::size_t p = 0; p < sequence.points(); ++p) {
      const Vec3d v = ToDouble(sequence.rest[p]);
      const double row[4] = {v.x, v.y, v.z, 1};
      for (std::size_t f = begin; f < end; ++f) {
        const Vec3d y = ToDouble(sequence.row(p)[f]);
        middles[f - begin] = middles[f - begin] + y;
        for (const JointWeight& w : weights.row(p)) {
          double* const to = &cross[4 * joint_of[w.joint] * columns + 3 * (f - begin)];
          for (std::size_t r = 0; r < 4; ++r) {
            const double x = w.weight * row[r];
            to[r * columns] += x * y.x;
            to[r * columns + 1] += x * y.y;
            to[r * columns + 2] += x * y.z;
          }
        }
      }
    }
    cross = Reduce(tree, cross, columns);
    std::vector<Mat3d> rotations(joints), left(joints);
    for (std::size_t f = begin; f < end; ++f) {
      const Vec3d middle = (1 / points) * middles[f - begin];
      for (std::size_t j = 0; j < joints; ++j) rotations[j] = Linear(bones.row(tree.bones[j])[f]);
      // Sums of (y - x) u_j'.
      const auto take = [&](std::size_t j, const Mat3d& turn) {
        for (std::size_t k = 0; k < joints; ++k) {
          const Mat3d part = Multiply(turn, block(j, k));
          for (std::size_t e = 0; e < 9; ++e) left[k].m[e] -= part.m[e];
        }
      };
      for (std::size_t j = 0; j < joints; ++j) {
        const double* const of_y = &cross[3 * j * columns + 3 * (f - begin)];
        const double of_middle[3] = {middle.x, middle.y, middle.z};
        for (std::size_t r = 0; r < 3; ++r) {
          for (std::size_t c = 0; c < 3; ++c) {
            left[j].m[r * 3 + c] = of_y[c * columns + r] - points * of_middle[r] * means[3 * j + c];
          }
        }
      }
      for (std::size_t j = 0; j < joints; ++j) take(j, rotations[j]);
      for (std::size_t round = 0; round < rounds; ++round) {
        for (std::size_t j = 0; j < joints; ++j) {
          Mat3d goal = Multiply(rotations[j], block(j, j));
          for (std::size_t e = 0; e < 9; ++e) goal.m[e] += left[j].m[e];
          const NearestRotationResult nearest = NearestRotation(goal);
          if (!nearest.unique) continue;
          Mat3d turn = nearest.rotation;
          for (std::size_t e = 0; e < 9; ++e) turn.m[e] -= rotations[j].m[e];
          take(j, turn);
          rotations[j] = nearest.rotation;
        }
      }
      Vec3d root = middle;  // place of the root's joint
      for (std::size_t j = 0; j < joints; ++j) {
        root =
            root - Multiply(rotations[j], Vec3d{means[3 * j], means[3 * j + 1], means[3 * j + 2]});
      }
      for (std::size_t j = 0; j < joints; ++j) {
        const Vec3d at =
            j == 0 ? root : Apply(bones.row(tree.bones[tree.parents[j]])[f], tree.places[j]);
        bones.row(tree.bones[j])[f] = About(rotations[j], tree.places[j], at);
      }
    }
  });
}

void FitPlaces(const Sequence& sequence, const WeightRows& weights, const Inside& inside,
               const Task& task, JointTree& tree, Bones& bones) {
  const std::size_t joints = tree.bones.size();
  if (joints < 2) return;
  const std::vector<std::uint32_t> joint_of = JointOf(tree);
  // [joints][joints] sums over points of products of the weight of a joint and all that hang on it.
  std::vector<double> shared(joints * joints);
  for (std::size_t p = 0; p < sequence.points(); ++p) {
    for (const JointWeight& a : weights.row(p)) {
      for (const JointWeight& b : weights.row(p)) {
        shared[joint_of[a.joint] * joints + joint_of[b.joint]] += a.weight * b.weight;
      }
    }
  }
  for (int pass = 0; pass < 2; ++pass) {
    for (std::size_t j = joints; j-- > 1;) {
      for (std::size_t k = 0; k < joints; ++k) {
        shared[tree.parents[j] * joints + k] += shared[j * joints + k];
      }
    }
    shared = Transposed(shared, joints);
  }
  // [frames][joints] sums of w_j (y - x), then of all that hang on a joint as well.
  std::vector<Vec3d> left(sequence.frames * joints);
  task.For(sequence.frames, kTurnGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = 0; p < sequence.points(); ++p) {
      const Vec3d v = ToDouble(sequence.rest[p]);
      for (std::size_t f = begin; f < end; ++f) {
        Vec3d apart = ToDouble(sequence.row(p)[f]);
        for (const JointWeight& w : weights.row(p)) {
          apart = apart - w.weight * Apply(bones.row(w.joint)[f], v);
        }
        for (const JointWeight& w : weights.row(p)) {
          Vec3d& sum = left[f * joints + joint_of[w.joint]];
          sum = sum + w.weight * apart;
        }
      }
    }
    for (std::size_t f = begin; f < end; ++f) {
      for (std::size_t j = joints; j-- > 1;) {
        Vec3d& sum = left[f * joints + tree.parents[j]];
        sum = sum + left[f * joints + j];
      }
    }
  });
  if (task.cancelled()) return;
  const auto turn_at = [&](std::size_t f, std::size_t j) {  // of the parent, from its own
    Mat3d turn = Linear(bones.row(tree.bones[tree.parents[j]])[f]);
    const Mat3d own = Linear(bones.row(tree.bones[j])[f]);
    for (std::size_t e = 0; e < 9; ++e) turn.m[e] -= own.m[e];
    return turn;
  };
  // The sum of errors is quadratic in the steps d of places: d' H d - 2 g d, in blocks of joints.
  std::vector<Mat3d> squares(joints * joints, Mat3d{{}});
  std::vector<Vec3d> slopes(joints);
  task.For(joints - 1, 1, [&](std::size_t before, std::size_t) {
    const std::size_t j = before + 1;
    for (std::size_t f = 0; f < sequence.frames; ++f) {
      const Mat3d of_j = Transpose(turn_at(f, j));
      slopes[j] = slopes[j] + Multiply(of_j, left[f * joints + j]);
      for (std::size_t k = 1; k < joints; ++k) {
        const Mat3d part = Multiply(of_j, turn_at(f, k));
        for (std::size_t e = 0; e < 9; ++e) {
          squares[j * joints + k].m[e] += shared[j * joints + k] * part.m[e];
        }
      }
    }
  });
  if (task.cancelled()) return;
  const double share =
      static_cast<double>(sequence.frames * sequence.points()) / static_cast<double>(joints);
  for (int round = 0; round < kPlaceRounds; ++round) {
    for (std::size_t j = 1; j < joints && !task.cancelled(); ++j) {
      const Mat3d& square = squares[j * joints + j];
      Vec3d& place = tree.places[j];
      // The first pull that is strong enough for a place inside, if that lowers the error.
      for (double pull = kLeastPull; pull < kMostPull; pull *= kPullStep) {
        std::array<double, 9> matrix = square.m;
        for (std::size_t e = 0; e < 9; e += 4) matrix[e] += pull * share;
        const Vec3d right = slopes[j] + pull * share * (tree.middles[j] - place);
        std::array<double, 3> of_step = {right.x, right.y, right.z};
        SolveDense(matrix, of_step);
        const Vec3d goal = inside.Snapped(place + Vec3d{of_step[0], of_step[1], of_step[2]});
        const Vec3d step = goal - place;
        if (!(Dot(step, Multiply(square, step)) < 2 * Dot(step, slopes[j]))) continue;
        if (!tree.Allows(inside, j, goal, task)) continue;
        place = goal;
        for (std::size_t k = 1; k < joints; ++k) {
          slopes[k] = slopes[k] - Multiply(squares[k * joints + j], step);
        }
        break;
      }
    }
  }
  JoinBones(tree, bones);
}

}  // namespace sinew::decompose
