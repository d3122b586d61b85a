#include "core/decompose/inside.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <numeric>

#include "core/base/segment.h"
#include "core/base/vectors.h"
#include "core/mesh/weld.h"
#include "core/surface/open_sheets.h"
#include "core/surface/part_triangles.h"

namespace sinew::decompose {

namespace {

constexpr std::size_t kChunk = 256;     // triangles
constexpr std::size_t kChunkGrain = 8;  // chunks

double DistanceTo(const std::array<Vec3d, 3>& triangle, const Vec3d& p) {
  const Vec3d normal = Cross(triangle[1] - triangle[0], triangle[2] - triangle[0]);
  double distance = std::numeric_limits<double>::infinity();
  bool above = Length(normal) > 0;  // the plane's nearest place is in the triangle
  for (std::size_t k = 0; k < 3; ++k) {
    const Vec3d &a = triangle[k], &b = triangle[(k + 1) % 3];
    above = above && Dot(Cross(b - a, p - a), normal) >= 0;
    distance = std::min(distance, Length(p - NearestOnSegment(a, b, p).point));
  }
  return above ? std::abs(Dot(p - triangle[0], Unit(normal))) : distance;
}

// Distance to a box, less than or equal to that of all it holds.
double DistanceToBox(const Vec3d& low, const Vec3d& high, const Vec3d& p) {
  const auto out = [](double least, double most, double x) {
    return std::max({least - x, x - most, 0.0});
  };
  return Length({out(low.x, high.x, p.x), out(low.y, high.y, p.y), out(low.z, high.z, p.z)});
}

}  // namespace

Inside::Inside(const Mesh& rest, const Vec3d& centre)
    : centre_(centre), low_(rest.minimum()), high_(rest.maximum()) {
  constexpr int kBits = 20;
  const double largest = std::max({std::abs(low_.x), std::abs(low_.y), std::abs(low_.z),
                                   std::abs(high_.x), std::abs(high_.y), std::abs(high_.z)});
  step_ = std::ldexp(1.0, std::ilogb(largest) - kBits);
  const WeldedPoints welded = Weld(rest, Task({.parallel = false}));
  std::vector<Vec3d> points;
  points.reserve(welded.points());
  for (const std::uint32_t v : welded.first)
    points.push_back(ToDouble(rest.positions()[v]) - centre);
  std::vector<sinew::Triangle> corners;
  ForEachTriangle(rest, welded,
                  [&](const sinew::Triangle& t, std::uint32_t) { corners.push_back(t); });
  const std::vector<bool> in_sheet = InOpenSheets(corners, points);
  for (std::size_t t = 0; t < corners.size(); ++t) {
    const auto& [a, b, c] = corners[t];
    if (!in_sheet[t]) triangles_.push_back({points[a], points[b], points[c]});
  }
  for (std::size_t begin = 0; begin < triangles_.size(); begin += kChunk) {
    Chunk chunk{.begin = begin,
                .end = std::min(begin + kChunk, triangles_.size()),
                .low = triangles_[begin][0],
                .high = triangles_[begin][0]};
    for (std::size_t t = chunk.begin; t < chunk.end; ++t) {
      for (const Vec3d& p : triangles_[t]) {
        chunk.low = {std::min(chunk.low.x, p.x), std::min(chunk.low.y, p.y),
                     std::min(chunk.low.z, p.z)};
        chunk.high = {std::max(chunk.high.x, p.x), std::max(chunk.high.y, p.y),
                      std::max(chunk.high.z, p.z)};
      }
    }
    chunks_.push_back(chunk);
  }
}

bool Inside::InBox(const Vec3d& place) const {
  const Vec3d p = place + centre_;
  return p.x >= low_.x - step_ && p.y >= low_.y - step_ && p.z >= low_.z - step_ &&
         p.x <= high_.x + step_ && p.y <= high_.y + step_ && p.z <= high_.z + step_;
}

Vec3f Inside::Held(const Vec3d& place) const {
  const auto round = [&](double x, double least, double most) {
    return static_cast<float>(std::round(std::clamp(x, least, most) / step_) * step_);
  };
  return {round(place.x + centre_.x, low_.x, high_.x), round(place.y + centre_.y, low_.y, high_.y),
          round(place.z + centre_.z, low_.z, high_.z)};
}

Vec3d Inside::Snapped(const Vec3d& place) const {
  return ToDouble(Held(place)) - centre_;
}

bool Inside::Has(const Vec3d& place, const Task& task) const {
  if (!InBox(place)) return false;
  // Halves of solid angles, after van Oosterom and Strackee 1983, are added in the order of chunks.
  std::vector<double> sums(chunks_.size());
  task.For(chunks_.size(), kChunkGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      for (std::size_t t = chunks_[k].begin; t < chunks_[k].end; ++t) {
        const Triangle& triangle = triangles_[t];
        const Vec3d a = triangle[0] - place, b = triangle[1] - place, c = triangle[2] - place;
        const double la = Length(a), lb = Length(b), lc = Length(c);
        sums[k] += std::atan2(Dot(a, Cross(b, c)),
                              la * lb * lc + Dot(a, b) * lc + Dot(b, c) * la + Dot(c, a) * lb);
      }
    }
  });
  if (task.cancelled()) return false;
  return std::abs(std::accumulate(sums.begin(), sums.end(), 0.0)) > std::numbers::pi;
}

double Inside::Distance(const Vec3d& place, double enough, const Task& task) const {
  double least = std::numeric_limits<double>::infinity();
  for (const Chunk& chunk : chunks_) {
    if (least < enough || task.cancelled()) break;
    if (DistanceToBox(chunk.low, chunk.high, place) >= least) continue;
    for (std::size_t t = chunk.begin; t < chunk.end; ++t) {
      least = std::min(least, DistanceTo(triangles_[t], place));
    }
  }
  return least;
}

double Inside::Depth(const Vec3d& place, const Task& task) const {
  return Has(place, task) ? Distance(place, 0, task) : 0;
}

bool Inside::IsDeep(const Vec3d& place, double least, const Task& task) const {
  return InBox(place) && Distance(place, least, task) >= least && Has(place, task);
}

}  // namespace sinew::decompose
