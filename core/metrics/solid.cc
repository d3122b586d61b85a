#include "core/metrics/solid.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cmath>
#include <unsupported/Eigen/BVH>
#include <utility>

#include "core/surface/rounded_face.h"

namespace sinew::metrics {
namespace {

using Box = Eigen::AlignedBox3d;

constexpr double kSame = 1e-9;  // relative tolerance of squared distances

using Weights = std::array<double, 3>;

// Barycentric coordinates of the point of a triangle nearest to q (Ericson, Real-Time Collision
// Detection, 5.1.5).
Weights NearestOn(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& q) {
  const Vec3d ab = b - a, ac = c - a, aq = q - a, bq = q - b, cq = q - c;
  const double d1 = Dot(ab, aq), d2 = Dot(ac, aq);
  if (d1 <= 0 && d2 <= 0) return {1, 0, 0};
  const double d3 = Dot(ab, bq), d4 = Dot(ac, bq);
  if (d3 >= 0 && d4 <= d3) return {0, 1, 0};
  const double of_c = d1 * d4 - d3 * d2;
  if (of_c <= 0 && d1 >= 0 && d3 <= 0) return {-d3 / (d1 - d3), d1 / (d1 - d3), 0};
  const double d5 = Dot(ab, cq), d6 = Dot(ac, cq);
  if (d6 >= 0 && d5 <= d6) return {0, 0, 1};
  const double of_b = d5 * d2 - d1 * d6;
  if (of_b <= 0 && d2 >= 0 && d6 <= 0) return {-d6 / (d2 - d6), 0, d2 / (d2 - d6)};
  const double of_a = d3 * d6 - d5 * d4, bc = d4 - d3, cb = d5 - d6;
  if (of_a <= 0 && bc >= 0 && cb >= 0) return {0, cb / (bc + cb), bc / (bc + cb)};
  const double all = of_a + of_b + of_c;
  return {of_a / all, of_b / all, of_c / all};
}

Box BoxOf(std::span<const Vec3d> points, const Triangle& t) {
  Box box;
  for (const std::uint32_t p : t) {
    box.extend(Eigen::Vector3d(points[p].x, points[p].y, points[p].z));
  }
  return box;
}

}  // namespace

// Visits the nearest faces; all of them in case of a tie.
class Solid::Query {
 public:
  using Scalar = double;
  Query(const Solid& solid, const Vec3d& q, double reach)
      : solid_(solid), q_(q), at_(q.x, q.y, q.z), nearest_(reach * reach * (1 + kSame)) {}

  double minimumOnVolume(const Box& box) const {
    const double squared = box.squaredExteriorDistance(at_) * (1 - 2 * kSame);
    return squared > nearest_ ? HUGE_VAL : squared;  // prunes the box
  }
  double minimumOnObject(int object) {
    const Triangle& t = solid_.triangles_[static_cast<std::size_t>(object)];
    const std::span<const Vec3d> points = solid_.points_;
    const Weights weights = NearestOn(points[t[0]], points[t[1]], points[t[2]], q_);
    Vec3d from = q_;
    for (std::size_t k = 0; k < 3; ++k) from = from - weights[k] * points[t[k]];
    const double squared = Dot(from, from);
    if (squared > nearest_ * (1 + kSame)) return nearest_ * (1 + kSame);
    const Vec3d area = AreaVector(points, t);
    const double size = Length(area);
    const double facing = size > 0 ? Dot(area, from) / size : 0;
    if (squared < nearest_ * (1 - kSame)) facing_ = 0;
    if (std::abs(facing) >= std::abs(facing_)) {
      facing_ = facing;
      from_ = from;
      triangle_ = &t;
      weights_ = weights;
    }
    nearest_ = std::min(nearest_, squared);
    return nearest_ * (1 + kSame);
  }
  Nearest Found() const {
    if (triangle_ == nullptr) return {};
    const auto most = std::max_element(weights_.begin(), weights_.end()) - weights_.begin();
    return {facing_ > 0 ? Outside() : 0, (*triangle_)[static_cast<std::size_t>(most)]};
  }

 private:
  double Outside() const {
    const double distance = Length(from_);
    const Vec3d at = q_ - from_;
    std::array<Vec3d, 3> corners, normals;
    for (std::size_t k = 0; k < 3; ++k) {
      corners[k] = solid_.points_[(*triangle_)[k]];
      normals[k] = solid_.normals_[(*triangle_)[k]];
    }
    // How far the rounded surface is in front of the face, towards q.
    const double round = Dot(ToRoundedFace(corners, normals, weights_, at), from_) / distance;
    return std::max(0.0, distance - std::max(0.0, round));
  }

  const Solid& solid_;
  const Vec3d q_;
  const Eigen::Vector3d at_;
  double nearest_;     // squared distance
  double facing_ = 0;  // distance in front of the face's plane, > 0: outside
  Vec3d from_;         // vector from the nearest point to q
  const Triangle* triangle_ = nullptr;
  Weights weights_{};
};

struct Solid::Tree {
  Eigen::KdBVH<double, 3, int> boxes;
};

Solid::Solid(std::span<const Triangle> triangles, std::vector<Vec3d> points)
    : triangles_(triangles.begin(), triangles.end()),
      points_(std::move(points)),
      normals_(AngleWeightedNormals(triangles_, points_)) {
  std::vector<int> objects;
  std::vector<Box> boxes;
  for (const Triangle& t : triangles_) {
    objects.push_back(static_cast<int>(objects.size()));
    boxes.push_back(BoxOf(points_, t));
  }
  auto tree = std::make_unique<Tree>();
  tree->boxes.init(objects.begin(), objects.end(), boxes.begin(), boxes.end());
  tree_ = std::move(tree);
}

Solid::~Solid() = default;

Solid::Nearest Solid::Find(const Vec3d& q, double reach) const {
  Query query(*this, q, reach);
  Eigen::BVMinimize(tree_->boxes, query);
  return query.Found();
}

}  // namespace sinew::metrics
