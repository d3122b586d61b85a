#include "core/distil/product_shapes.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <utility>

#include "core/base/status.h"
#include "core/base/vectors.h"

namespace sinew {
namespace {

// The joints whose products are looked at for a vertex, and the others of a sum: they bound the
// work and the files. With 4 joints in place of 8, the rms in held-out random poses is 7 % larger
// for RiggedFigure and 3 % for CesiumMan; with 4 others it is the same within 1 %, and
// with 16 joints or others within .2 %.
constexpr std::size_t kJointsOfPlace = 8, kOthers = 8;
constexpr std::size_t kPlaceGrain = 8, kMostPlaces = 1024;
// Relative to the mean square of the products: keeps terms finite where turns depend on each other,
// as in clips. A tenth and ten times of it change the rms in held-out random poses by under 1 %.
constexpr double kTermPull = 0.02;
// The largest value in the given poses. Other poses may need more, and values are clamped to 1, so
// some room is left, as for shapes of single joints. With 0.4 or 1, the rms in held-out random
// poses is the same within 2 %.
constexpr double kMostOfSum = 0.8;
constexpr double kLeastTerm = 1e-3;    // of the energy of a component: smaller terms are left out
constexpr double kRidge = 1e-6;        // of the mean square of the products
constexpr double kDecimals = 1e6;      // files have so many of a matrix
constexpr Eigen::Index kProducts = 9;  // of the axes of two turns

using Terms = Eigen::Matrix<double, kProducts, 3>;
using Square = Eigen::Matrix<double, kProducts, kProducts>;

// A joint that moves a vertex.
struct JointMover {
  std::uint32_t joint = 0;
  double energy = 0;  // sum of the squared offsets of its shapes
  double farthest = 0;
};

// Two joints that move the same places: the one that comes later in the skeleton, and the other.
using JointPair = std::pair<std::uint32_t, std::uint32_t>;

// What the products of two turns do at a place.
struct PlaceTerms {
  std::uint32_t place = 0;
  Terms terms;
};

struct Component {
  double energy = 0;
  // Before Scale: with turns about their means, the weighted squares of the sum in all poses add up
  // to about 1.
  TurnProducts products;
};

std::size_t Stride(std::size_t n) {
  return std::max<std::size_t>(1, (n + kMostPlaces - 1) / kMostPlaces);
}

// Which joints move each vertex farther than `least`, by joint.
std::vector<std::vector<JointMover>> FindMovers(std::span<const CorrectiveShape* const> shapes,
                                                std::span<const std::uint32_t> joints,
                                                std::size_t n, double least) {
  std::vector<std::vector<JointMover>> movers(n);
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    for (std::size_t i = 0; i < shapes[k]->vertices.size(); ++i) {
      std::vector<JointMover>& row = movers[shapes[k]->vertices[i]];
      auto found = std::ranges::lower_bound(row, joints[k], {}, &JointMover::joint);
      if (found == row.end() || found->joint != joints[k]) {
        found = row.insert(found, {.joint = joints[k]});
      }
      const double length = Length(ToDouble(shapes[k]->offsets[i]));
      found->energy += length * length;
      found->farthest = std::max(found->farthest, length);
    }
  }
  for (std::vector<JointMover>& row : movers) {
    std::erase_if(row, [&](const JointMover& mover) { return !(mover.farthest > least); });
  }
  return movers;
}

// Products of the axes of two turns in all poses, about the mean turns, so that in random poses
// those of different pairs have nothing in common, nor with what depends on one joint alone.
class PoseProducts {
 public:
  PoseProducts(std::span<const std::vector<Vec3d>> turns, std::span<const double> weights) {
    const auto poses = static_cast<Eigen::Index>(turns.size());
    const auto joints = static_cast<Eigen::Index>(turns.empty() ? 0 : turns[0].size());
    turns_.resize(poses, 3 * joints);
    for (Eigen::Index f = 0; f < poses; ++f) {
      for (Eigen::Index j = 0; j < joints; ++j) {
        const Vec3d& turn = turns[static_cast<std::size_t>(f)][static_cast<std::size_t>(j)];
        turns_.block<1, 3>(f, 3 * j) << turn.x, turn.y, turn.z;
      }
    }
    const Eigen::Map<const Eigen::VectorXd> of_poses(weights.data(), poses);
    const Eigen::RowVectorXd mean = of_poses.transpose() * turns_ / of_poses.sum();
    turns_.rowwise() -= mean;
    roots_ = of_poses.cwiseSqrt();
    weighted_ = roots_.asDiagonal() * turns_;
  }

  Eigen::Index poses() const { return turns_.rows(); }
  const Eigen::VectorXd& roots() const { return roots_; }  // of the weights
  // [poses][9], times the root of the weight of the pose.
  void Get(const JointPair& pair, Eigen::Ref<Eigen::MatrixXd> out) const {
    for (Eigen::Index k = 0; k < kProducts; ++k) {
      out.col(k) =
          weighted_.col(3 * static_cast<Eigen::Index>(pair.first) + k / 3)
              .cwiseProduct(turns_.col(3 * static_cast<Eigen::Index>(pair.second) + k % 3));
    }
  }

 private:
  Eigen::MatrixXd turns_, weighted_;  // [poses][J * 3]
  Eigen::VectorXd roots_;             // [poses]
};

// The inverse of the products of a pair with each other, with a pull towards 0.
Square PulledInverse(const PoseProducts& products, const JointPair& pair) {
  Eigen::MatrixXd columns(products.poses(), kProducts);
  products.Get(pair, columns);
  Square square = columns.transpose() * columns;
  const double trace = square.trace();
  if (!(trace > 0)) return Square::Zero();
  square.diagonal().array() += kTermPull * trace / kProducts;
  return square.llt().solve(Square::Identity());
}

// The main components of the terms of a joint with others: `pairs` of it with the terms of each.
std::vector<Component> ComponentsOf(std::span<const JointPair> pairs,
                                    std::span<const std::vector<PlaceTerms>> terms,
                                    const PoseProducts& products, std::size_t most) {
  // The others that do most.
  std::vector<std::pair<double, std::size_t>> ranked;
  Eigen::MatrixXd columns(products.poses(), kProducts);
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    products.Get(pairs[k], columns);
    const Square square = columns.transpose() * columns;
    double energy = 0;
    for (const PlaceTerms& at : terms[k])
      energy += (at.terms.transpose() * square * at.terms).trace();
    if (energy > 0) ranked.push_back({energy, k});
  }
  std::ranges::stable_sort(ranked, std::ranges::greater{}, &std::pair<double, std::size_t>::first);
  ranked.resize(std::min(ranked.size(), kOthers));
  if (ranked.empty()) return {};
  std::vector<std::uint32_t> places;
  for (const auto& [energy, k] : ranked) {
    for (const PlaceTerms& at : terms[k]) places.push_back(at.place);
  }
  std::ranges::sort(places);
  places.erase(std::ranges::unique(places).begin(), places.end());
  const auto size = kProducts * static_cast<Eigen::Index>(ranked.size());
  Eigen::MatrixXd all(products.poses(), size);
  Eigen::MatrixXd at_places =
      Eigen::MatrixXd::Zero(size, 3 * static_cast<Eigen::Index>(places.size()));
  for (std::size_t r = 0; r < ranked.size(); ++r) {
    const auto row = kProducts * static_cast<Eigen::Index>(r);
    products.Get(pairs[ranked[r].second], all.middleCols(row, kProducts));
    for (const PlaceTerms& at : terms[ranked[r].second]) {
      const auto column = std::ranges::lower_bound(places, at.place) - places.begin();
      at_places.block<kProducts, 3>(row, 3 * column) = at.terms;
    }
  }
  Eigen::MatrixXd square = all.transpose() * all;
  square.diagonal().array() += kRidge * square.trace() / static_cast<double>(size);
  const Eigen::LLT<Eigen::MatrixXd> root(square);
  const Eigen::MatrixXd done = root.matrixU() * at_places;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(done * done.transpose());
  std::vector<Component> components;
  for (Eigen::Index c = size - 1; c >= 0 && components.size() < most; --c) {
    const double energy = solver.eigenvalues()[c];
    if (!(energy > 0)) break;
    const Eigen::VectorXd weights = root.matrixU().solve(solver.eigenvectors().col(c));
    Component component{.energy = energy, .products = {.joint = pairs[0].first, .others = {}}};
    for (std::size_t r = 0; r < ranked.size(); ++r) {
      const auto row = kProducts * static_cast<Eigen::Index>(r);
      const auto part = weights.segment<kProducts>(row);
      if (part.dot(square.block<kProducts, kProducts>(row, row) * part) < kLeastTerm) continue;
      TurnProducts::Other other{.joint = pairs[ranked[r].second].second, .matrix = {}};
      for (std::size_t k = 0; k < kProducts; ++k) {
        other.matrix.m[k] = part[static_cast<Eigen::Index>(k)];
      }
      component.products.others.push_back(other);
    }
    if (!component.products.others.empty()) components.push_back(std::move(component));
  }
  return components;
}

// Scales a sum so that the pose that needs most of it needs kMostOfSum, in the numbers of files.
void Scale(TurnProducts& products, std::span<const std::vector<Vec3d>> turns) {
  double most = 0;
  for (const std::vector<Vec3d>& pose : turns) {
    most = std::max(most, std::abs(products.Sum(pose)));
  }
  for (TurnProducts::Other& other : products.others) {
    for (double& entry : other.matrix.m) {
      entry = most > 0 ? std::round(kDecimals * kMostOfSum / most * entry) / kDecimals : 0;
    }
  }
}

// The vertices that the joint of `products` moves, and one of the others.
CorrectiveShape MovedShape(const TurnProducts& products,
                           std::span<const std::vector<JointMover>> movers) {
  CorrectiveShape shape;
  for (std::uint32_t v = 0; v < movers.size(); ++v) {
    const auto moved = [&](std::uint32_t joint) {
      return std::ranges::binary_search(movers[v], joint, {}, &JointMover::joint);
    };
    if (!moved(products.joint)) continue;
    if (std::ranges::any_of(products.others, moved, &TurnProducts::Other::joint)) {
      shape.vertices.push_back(v);
    }
  }
  shape.offsets.resize(shape.vertices.size());
  return shape;
}

// [places][poses] what the shapes leave when they act together.
absl::StatusOr<std::vector<Vec3f>> LeftAtPlaces(std::span<const CorrectiveShape* const> shapes,
                                                const ShapeValues& given, std::size_t n,
                                                FillResiduals residuals, Task& task) {
  const std::size_t poses = given.poses(), count = shapes.size();
  const std::size_t stride = Stride(n), places = ProductPlaces(n);
  std::vector<Vec3f> left(places * poses);
  for (std::size_t p = 0; p < places; ++p) {
    SINEW_RETURN_IF_ERROR(
        residuals(p * stride, p * stride + 1, std::span(left).subspan(p * poses, poses)));
    SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  }
  std::vector<CorrectiveShape> fitted(count);
  std::vector<CorrectiveShape*> pointers;
  for (std::size_t k = 0; k < count; ++k) {
    for (std::size_t i = 0; i < shapes[k]->vertices.size(); ++i) {
      if (shapes[k]->vertices[i] % stride != 0) continue;
      fitted[k].vertices.push_back(static_cast<std::uint32_t>(shapes[k]->vertices[i] / stride));
      fitted[k].offsets.push_back(shapes[k]->offsets[i]);
    }
    pointers.push_back(&fitted[k]);
  }
  const auto fill = [&](std::size_t begin, std::size_t end, std::span<Vec3f> out) {
    std::ranges::copy(std::span(left).subspan(begin * poses, (end - begin) * poses), out.begin());
    return absl::OkStatus();
  };
  SINEW_RETURN_IF_ERROR(RefitShapes(pointers, given, places, fill, task));
  for (std::size_t k = 0; k < count; ++k) {
    for (std::size_t i = 0; i < fitted[k].vertices.size(); ++i) {
      Vec3f* const of_place = &left[fitted[k].vertices[i] * poses];
      const Vec3d offset = ToDouble(fitted[k].offsets[i]);
      for (std::size_t f = 0; f < poses; ++f) {
        of_place[f] = ToFloat(ToDouble(of_place[f]) - given.values[f * count + k] * offset);
      }
    }
  }
  return left;
}

// The pairs of the joints that move a place most, those with most energy first.
std::vector<JointPair> PairsAt(std::vector<JointMover> movers) {
  std::ranges::stable_sort(movers, std::ranges::greater{}, &JointMover::energy);
  movers.resize(std::min(movers.size(), kJointsOfPlace));
  std::vector<JointPair> pairs;
  for (std::size_t a = 0; a < movers.size(); ++a) {
    for (std::size_t b = a + 1; b < movers.size(); ++b) {
      pairs.push_back(std::minmax(movers[b].joint, movers[a].joint, std::greater{}));
    }
  }
  return pairs;
}

}  // namespace

double TurnProducts::Sum(std::span<const Vec3d> turns) const {
  double sum = 0;
  for (const Other& other : others) {
    sum += Dot(turns[joint], Multiply(other.matrix, turns[other.joint]));
  }
  return sum;
}

std::size_t ProductPlaces(std::size_t n) {
  return (n + Stride(n) - 1) / Stride(n);
}

absl::StatusOr<std::vector<ProductShapes>> FindProductShapes(
    std::span<const CorrectiveShape* const> shapes, std::span<const std::uint32_t> joints,
    const ShapeValues& given, std::span<const std::vector<Vec3d>> turns, std::size_t n,
    const ProductLimits& limits, FillResiduals residuals, Task& task) {
  const auto poses = static_cast<Eigen::Index>(given.poses());
  const std::size_t stride = Stride(n), places = ProductPlaces(n);
  SINEW_ASSIGN_OR_RETURN(const std::vector<Vec3f> left,
                         LeftAtPlaces(shapes, given, n, residuals, task));
  const std::vector<std::vector<JointMover>> movers =
      FindMovers(shapes, joints, n, limits.least_offset);
  std::vector<std::vector<JointPair>> at_place;
  std::vector<JointPair> pairs;
  for (std::size_t p = 0; p < places; ++p) {
    at_place.push_back(PairsAt(movers[p * stride]));
    pairs.insert(pairs.end(), at_place[p].begin(), at_place[p].end());
  }
  std::ranges::sort(pairs);
  pairs.erase(std::ranges::unique(pairs).begin(), pairs.end());
  const PoseProducts products(turns, given.weights);
  std::vector<Square> inverses(pairs.size());
  task.For(pairs.size(), kPlaceGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) inverses[k] = PulledInverse(products, pairs[k]);
  });
  // What the products of each pair do, one after the other: each is fitted to what those before
  // leave.
  std::vector<std::vector<Terms>> of_place(places);  // [places][pairs of it]
  task.For(places, kPlaceGrain, [&](std::size_t begin, std::size_t end) {
    Eigen::MatrixXd columns(poses, kProducts), lacking(poses, 3);
    for (std::size_t p = begin; p < end && !task.cancelled(); ++p) {
      for (Eigen::Index f = 0; f < poses; ++f) {
        const Vec3f& at = left[p * given.poses() + static_cast<std::size_t>(f)];
        lacking.row(f) << at.x, at.y, at.z;
      }
      lacking = products.roots().asDiagonal() * lacking;
      for (const JointPair& pair : at_place[p]) {
        const auto k =
            static_cast<std::size_t>(std::ranges::lower_bound(pairs, pair) - pairs.begin());
        products.Get(pair, columns);
        const Terms terms = inverses[k] * (columns.transpose() * lacking);
        lacking.noalias() -= columns * terms;
        of_place[p].push_back(terms);
      }
    }
    task.Advance(static_cast<double>(end - begin));
  });
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  std::vector<std::vector<PlaceTerms>> terms(pairs.size());
  for (std::uint32_t p = 0; p < places; ++p) {
    for (std::size_t i = 0; i < at_place[p].size(); ++i) {
      const auto k = std::ranges::lower_bound(pairs, at_place[p][i]) - pairs.begin();
      terms[static_cast<std::size_t>(k)].push_back({p, of_place[p][i]});
    }
  }
  std::vector<std::size_t> firsts;  // the first pair of each joint, and the end
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    if (k == 0 || pairs[k].first != pairs[k - 1].first) firsts.push_back(k);
  }
  std::vector<std::vector<Component>> of_joint(firsts.size());
  firsts.push_back(pairs.size());
  task.For(of_joint.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end && !task.cancelled(); ++j) {
      const std::size_t first = firsts[j], count = firsts[j + 1] - first;
      of_joint[j] = ComponentsOf(std::span(pairs).subspan(first, count),
                                 std::span(terms).subspan(first, count), products, limits.sums);
    }
  });
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  std::vector<Component> components;
  for (std::vector<Component>& some : of_joint) {
    std::ranges::move(some, std::back_inserter(components));
  }
  std::ranges::stable_sort(components, std::ranges::greater{}, &Component::energy);
  components.resize(std::min(components.size(), limits.sums));
  std::vector<ProductShapes> found(components.size());
  task.For(found.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      found[k].driver = std::move(components[k].products);
      Scale(found[k].driver, turns);
      found[k].added = MovedShape(found[k].driver, movers);
      found[k].subtracted = found[k].added;
    }
  });
  return found;
}

}  // namespace sinew
