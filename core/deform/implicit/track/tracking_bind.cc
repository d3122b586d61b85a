#include <algorithm>
#include <cmath>

#include "core/base/vectors.h"
#include "core/deform/implicit/track/tracking.h"
#include "core/rig/bind_pose.h"

namespace sinew {
namespace {

constexpr std::size_t kGrain = 1024;  // points; whole blocks

}  // namespace

// Uses the strongest binding of each point for the mesh's bind space.
std::vector<float> BindInward(const BindInput& input, const SkinSurface& skin,
                              const PosedField& bind_pose, const Task& task) {
  const BlockLayout& layout = input.layout;
  const std::vector<AffineD> to_pose = ToBindPose(input.rig, BindPose(input.rig));
  std::vector<float> inward(skin.points() * 3);
  const auto map_of = [&](std::size_t p) -> const AffineD& {
    return to_pose[layout.pivot[skin.point_lane[p] / kLanes]];
  };
  task.For(skin.points(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t first = begin; first < end; first += kLanes) {
      const PointBlock points = BlockOf(std::min(kLanes, end - first), [&](std::size_t i) {
        const std::uint32_t v = layout.Vertex(skin.point_lane[first + i]);
        return ToFloat(Apply(map_of(first + i), ToDouble(input.rig.mesh().positions()[v])));
      });
      FieldBlock field;
      bind_pose.Evaluate(points, Contact::kCrease, field);
      for (std::size_t i = 0; i < kLanes && first + i < end; ++i) {
        const Vec3d gradient = {field.x[i], field.y[i], field.z[i]};
        const Vec3d own = Multiply(Transpose(Linear(map_of(first + i))), gradient);
        const double slope = Length(own);
        const Vec3f unit = slope > 0 ? ToFloat((1 / slope) * own) : Vec3f{};
        std::copy_n(&unit.x, 3, inward.data() + (first + i) * 3);
      }
    }
  });
  return inward;
}

}  // namespace sinew
