#include "core/surface/carried_normals.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "core/base/vectors.h"
#include "core/surface/carried_normals_kernel.h"
#include "core/surface/surface_point.h"

namespace sinew {
namespace {

constexpr std::size_t kGrain = 64;  // blocks at a time

void Store(std::span<std::byte> out, std::size_t vertex, const auto& value) {
  if (out.empty()) return;
  std::memcpy(out.data() + vertex * sizeof value, &value, sizeof value);
}

}  // namespace

CarriedNormals CarriedNormals::Bind(const Rig& rig, const BlockLayout& layout,
                                    const SurfaceSlopes& slopes) {
  CarriedNormals carried;
  carried.tangents_.assign(slopes.tangents().begin(), slopes.tangents().end());
  const std::span<const Vec4f> authored = rig.mesh().tangents();
  if (authored.empty()) return carried;
  carried.handedness_.resize(layout.order.size());
  for (std::size_t i = 0; i < layout.order.size(); ++i) {
    const Vec4f& t = authored[layout.Vertex(i)];
    if (t.x == 0 && t.y == 0 && t.z == 0) continue;
    carried.handedness_[i] = t.w < 0 ? -1.0f : 1.0f;
  }
  return carried;
}

void CarriedNormals::Run(const BlockLayout& layout, const PosedRig& rig,
                         std::span<const PointBlock> slopes, const SurfaceOut& out,
                         std::size_t begin, std::size_t end) const {
  const bool normals = !out.normals.empty(), tangents = !out.tangents.empty();
  const CarriedNormalsKernelArgs args = {
      .slopes = slopes.front().x,
      .order = layout.order.data(),
      .normals = normals ? out.normals.data() : nullptr,
      .tangents = tangents ? out.tangents.data() : nullptr,
      .handedness = tangents ? handedness_.data() : nullptr,
  };
  for (; begin < end; begin += kGrain) {
    std::array<std::uint16_t, kGrain> unclear;
    const std::size_t next = std::min(begin + kGrain, end);
    CarriedNormalsKernel(args, begin, next, unclear.data());
    for (std::size_t b = begin; b < next; ++b) {
      for (unsigned lanes = unclear[b - begin]; lanes != 0; lanes &= lanes - 1) {
        const auto i = static_cast<std::size_t>(std::countr_zero(lanes));
        const std::int32_t vertex = layout.order[b * kLanes + i];
        if (vertex < 0) continue;
        const auto v = static_cast<std::size_t>(vertex);
        const Vec3d first = ToDouble(slopes[b * 2].At(i));
        const Vec3d second = ToDouble(slopes[b * 2 + 1].At(i));
        const Vec3d area = Cross(first, second);
        const Vec3d rest_first = ToDouble(tangents_[b * 2].At(i));
        const Vec3d rest_normal = Cross(rest_first, ToDouble(tangents_[b * 2 + 1].At(i)));
        const Affine& skin = rig.skin[layout.pivot[b]];
        const bool plane = Length(area) > kSurfaceNoise * Length(first) * Length(second);
        const Vec3f normal = plane ? ToFloat(Unit(area)) : MovedNormal(skin, ToFloat(rest_normal));
        Store(out.normals, v, normal);
        if (out.tangents.empty()) continue;
        const Vec3f t =
            ToFloat(plane ? Unit(first) : MovedTangent(rest_first, skin, ToDouble(normal)));
        const float w = handedness_[b * kLanes + i];
        Store(out.tangents, v, w == 0 ? Vec4f{} : Vec4f{t.x, t.y, t.z, w});
      }
    }
  }
}

std::size_t CarriedNormals::CostBytes(const Rig& rig) {
  const std::size_t lanes = rig.vertices() + rig.bindings().size() * kLanes;
  return lanes * (2 * sizeof(Vec3f) + (rig.mesh().tangents().empty() ? 0 : sizeof(float)));
}

}  // namespace sinew
