#include "core/deform/implicit/skin_tree.h"

#include <utility>

#include "core/base/vectors.h"

namespace sinew {
namespace {

// More than a ray that meets the triangle by rounding alone can pass beside it, relative.
constexpr double kSlack = 1.01;

}  // namespace

SkinTree::SkinTree(std::span<const Vec3d> points, std::span<const Corners> triangles)
    : triangles_(triangles.size()) {
  // Balls about runs of `count` things; each(i, visit) visits the balls of thing i.
  const auto add_level = [&](std::size_t count, const auto& each) {
    std::vector<Ball> level;
    for (std::size_t first = 0; first < count; first += kRun) {
      const std::size_t end = std::min(first + kRun, count);
      Ball ball{};
      double balls = 0;
      for (std::size_t i = first; i < end; ++i) {
        each(i, [&](const Ball& of) { ball.centre = ball.centre + of.centre, ++balls; });
      }
      ball.centre = (1 / balls) * ball.centre;
      for (std::size_t i = first; i < end; ++i) {
        each(i, [&](const Ball& of) {
          const double farthest = kSlack * Length(of.centre - ball.centre) + of.radius;
          ball.radius = std::max(ball.radius, farthest);
        });
      }
      level.push_back(ball);
    }
    levels_.push_back(std::move(level));
  };
  if (triangles.empty()) return;
  add_level(triangles.size(), [&](std::size_t i, const auto& visit) {
    for (const std::uint32_t v : triangles[i]) visit({points[v], 0});
  });
  while (levels_.back().size() > kRun) {
    add_level(levels_.back().size(),
              [&](std::size_t i, const auto& visit) { visit(levels_.back()[i]); });
  }
}

}  // namespace sinew
