#include "core/deform/implicit/nearest_skin.h"

#include <algorithm>
#include <limits>
#include <nanoflann.hpp>
#include <tuple>
#include <utility>

namespace sinew {
namespace {

constexpr double kSlack = 1 + 1e-12;  // the tree rounds its distances to boxes

// Result set: the smallest of the points at the least distance. nanoflann prunes boxes that are not
// nearer than worstDist(), hence the slack for ties.
class FirstNearest {
 public:
  double worstDist() const {
    return std::max(least_ * kSlack, std::numeric_limits<double>::denorm_min());
  }
  bool addPoint(double distance, std::uint32_t k) {
    if (std::tie(distance, k) < std::tie(least_, best_)) {
      least_ = distance;
      best_ = k;
    }
    return true;  // continue
  }
  bool full() const { return true; }
  std::uint32_t best() const { return best_; }

 private:
  double least_ = std::numeric_limits<double>::infinity();
  std::uint32_t best_ = 0;
};

std::vector<NearestSkin::Place> Sorted(std::vector<NearestSkin::Place> places) {
  std::ranges::sort(places, [](const NearestSkin::Place& a, const NearestSkin::Place& b) {
    return std::tie(a.at.x, a.at.y, a.at.z, a.point) < std::tie(b.at.x, b.at.y, b.at.z, b.point);
  });
  return places;
}

}  // namespace

// Dataset adaptor for nanoflann, and the index.
class NearestSkin::Tree {
 public:
  explicit Tree(std::vector<Place> sorted) : places(std::move(sorted)), index_(3, *this) {}
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  std::size_t kdtree_get_point_count() const { return places.size(); }
  double kdtree_get_pt(std::size_t k, std::size_t axis) const {
    const Vec3d& at = places[k].at;
    return axis == 0 ? at.x : axis == 1 ? at.y : at.z;
  }
  template <class Box>
  bool kdtree_get_bbox(Box&) const {
    return false;  // nanoflann computes the bounding box
  }

  std::uint32_t Find(const Vec3d& at) const {
    const double query[3] = {at.x, at.y, at.z};
    FirstNearest nearest;
    index_.findNeighbors(nearest, query, {});
    return places[nearest.best()].point;
  }

  const std::vector<Place> places;

 private:
  nanoflann::KDTreeSingleIndexAdaptor<nanoflann::L2_Simple_Adaptor<double, Tree>, Tree, 3,
                                      std::uint32_t>
      index_;
};

NearestSkin::NearestSkin(std::vector<Place> skin)
    : tree_(std::make_unique<Tree>(Sorted(std::move(skin)))) {}

NearestSkin::~NearestSkin() = default;

bool NearestSkin::empty() const {
  return tree_->places.empty();
}

std::uint32_t NearestSkin::Find(const Vec3d& at) const {
  return tree_->Find(at);
}

}  // namespace sinew
