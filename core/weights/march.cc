#include "core/weights/march.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace sinew::weights {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr std::size_t kCheckEvery = 4096;   // voxels between cancellation checks
constexpr std::uint32_t kFar = 0xffffffff;  // not yet in the heap

// Binary heap of front voxels, nearest on top (ties: the lower number), each once.
class Front {
 public:
  explicit Front(std::size_t voxels)
      : distance_(voxels, kInfinite), settled_(distance_), place_(voxels, kFar) {}

  bool empty() const { return heap_.empty(); }
  // Distance of a settled voxel, infinite before.
  double settled(std::uint32_t v) const { return settled_[v]; }
  std::vector<double> Take() { return std::move(settled_); }

  void Lower(std::uint32_t v, double distance) {
    if (!(distance < distance_[v])) return;
    distance_[v] = distance;
    if (place_[v] == kFar) {
      place_[v] = static_cast<std::uint32_t>(heap_.size());
      heap_.push_back(v);
    }
    Rise(place_[v]);
  }

  std::uint32_t Pop() {
    const std::uint32_t top = heap_.front(), last = heap_.back();
    heap_.pop_back();
    settled_[top] = distance_[top];
    if (!heap_.empty()) Sink(last);
    return top;
  }

 private:
  bool Before(std::uint32_t a, std::uint32_t b) const {
    return distance_[a] != distance_[b] ? distance_[a] < distance_[b] : a < b;
  }
  void Set(std::size_t i, std::uint32_t v) {
    heap_[i] = v;
    place_[v] = static_cast<std::uint32_t>(i);
  }
  void Rise(std::size_t i) {
    const std::uint32_t v = heap_[i];
    for (; i > 0 && Before(v, heap_[(i - 1) / 2]); i = (i - 1) / 2) Set(i, heap_[(i - 1) / 2]);
    Set(i, v);
  }
  // Puts v at the top and sifts it down.
  void Sink(std::uint32_t v) {
    std::size_t i = 0;
    for (std::size_t child = 1; child < heap_.size(); child = 2 * i + 1) {
      if (child + 1 < heap_.size() && Before(heap_[child + 1], heap_[child])) ++child;
      if (!Before(heap_[child], v)) break;
      Set(i, heap_[child]);
      i = child;
    }
    Set(i, v);
  }

  std::vector<double> distance_, settled_;
  std::vector<std::uint32_t> place_;  // position in the heap
  std::vector<std::uint32_t> heap_;
};

// The u with sum over axes of max(0, u - a)^2 = 1.
double Solve(std::array<double, 3> a) {
  if (a[0] > a[1]) std::swap(a[0], a[1]);
  if (a[1] > a[2]) std::swap(a[1], a[2]);
  if (a[0] > a[1]) std::swap(a[0], a[1]);
  double u = a[0] + 1;
  if (u <= a[1]) return u;
  // Relative to the smallest value, to avoid cancellation.
  const double b = a[1] - a[0];
  u = a[0] + 0.5 * (b + std::sqrt(2 - b * b));
  if (u <= a[2]) return u;
  const double c = a[2] - a[0];
  return a[0] + (b + c + std::sqrt((b + c) * (b + c) - 3 * (b * b + c * c - 1))) / 3;
}

}  // namespace

std::vector<double> March(const Voxels& voxels, std::span<const MarchSource> sources,
                          const Task& task) {
  Front front(voxels.count());
  for (const MarchSource& source : sources) front.Lower(source.voxel, source.distance);
  const auto settled = [&](std::int32_t v) {
    return v == kNoVoxel ? kInfinite : front.settled(static_cast<std::uint32_t>(v));
  };
  for (std::size_t settled_now = 0; !front.empty(); ++settled_now) {
    if (settled_now % kCheckEvery == 0 && task.cancelled()) break;
    for (const std::int32_t next : voxels.neighbour[front.Pop()]) {
      if (next == kNoVoxel || settled(next) < kInfinite) continue;
      const auto v = static_cast<std::uint32_t>(next);
      const auto& around = voxels.neighbour[v];
      front.Lower(v, Solve({std::min(settled(around[0]), settled(around[1])),
                            std::min(settled(around[2]), settled(around[3])),
                            std::min(settled(around[4]), settled(around[5]))}));
    }
  }
  return front.Take();
}

}  // namespace sinew::weights
