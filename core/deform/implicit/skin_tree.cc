#include "core/deform/implicit/skin_tree.h"

#include "core/base/vectors.h"

namespace sinew {
namespace {

// More than a ray that meets the triangle by rounding alone can pass beside it, relative.
constexpr double kSlack = 1.01;

}  // namespace

SkinTree::SkinTree(std::span<const Vec3d> points, std::span<const Corners> triangles)
    : triangles_(triangles.size()) {
  if (triangles.empty()) return;
  std::vector<Ball>& lowest = levels_.emplace_back();
  for (std::size_t first = 0; first < triangles.size(); first += kRun) {
    const auto run = triangles.subspan(first, std::min(kRun, triangles.size() - first));
    Ball ball{};
    for (const Corners& t : run) {
      for (const std::uint32_t v : t) ball.centre = ball.centre + points[v];
    }
    ball.centre = (1 / (3 * static_cast<double>(run.size()))) * ball.centre;
    for (const Corners& t : run) {
      for (const std::uint32_t v : t) {
        ball.radius = std::max(ball.radius, kSlack * Length(points[v] - ball.centre));
      }
    }
    lowest.push_back(ball);
  }
  while (levels_.back().size() > kRun) {
    const std::span<const Ball> below = levels_.back();
    std::vector<Ball> above;
    for (std::size_t first = 0; first < below.size(); first += kRun) {
      const auto run = below.subspan(first, std::min(kRun, below.size() - first));
      Ball ball{};
      for (const Ball& b : run) ball.centre = ball.centre + b.centre;
      ball.centre = (1 / static_cast<double>(run.size())) * ball.centre;
      for (const Ball& b : run) {
        ball.radius = std::max(ball.radius, Length(b.centre - ball.centre) + b.radius);
      }
      above.push_back(ball);
    }
    levels_.push_back(std::move(above));
  }
}

}  // namespace sinew
