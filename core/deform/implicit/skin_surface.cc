#include "core/deform/implicit/skin_surface.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>

#include "core/simd/vec4.h"

namespace sinew {
namespace {

constexpr std::size_t kPointGrain = 4096, kBlockGrain = 256;

bool Same(const Vec4& a, const Vec4& b) {
  return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

}  // namespace

std::size_t SkinSurface::Count(PointRole role_of) const {
  std::size_t count = 0;
  for (std::size_t p = 0; p < points(); ++p) count += RoleOf(p) == role_of ? 1 : 0;
  return count;
}

absl::Status SkinSurface::Check() const {
  const auto damaged = [](absl::string_view what) {
    return absl::DataLossError(absl::StrCat("bound data: skin: ", what));
  };
  // Attached components follow skin, never each other, so their order does not matter.
  const auto has_role = [&](PointRole wanted) {
    return [&, wanted](std::uint32_t p) { return RoleOf(p) == wanted; };
  };
  if (!std::ranges::all_of(island, has_role(PointRole::kAttachedComponent)) ||
      !std::ranges::all_of(nearest, [&](std::uint32_t p) {
        return has_role(PointRole::kSkin)(p) || has_role(PointRole::kRigidComponent)(p);
      })) {
    return damaged("island, nearest: need points of attached components that follow others");
  }
  return absl::OkStatus();
}

void GatherPoints(const SkinSurface& skin, std::span<const PointBlock> blocks,
                  std::span<float> points, const Task& task) {
  task.For(skin.points(), kPointGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p) {
      Store4(ToVec4(skin.PointOf(blocks, p)), points.data(), p);
    }
  });
}

void ScatterPoints(const SkinSurface& skin, std::span<const PointBlock> in, std::span<float> moved,
                   std::span<PointBlock> out, const Task& task) {
  for (std::size_t k = 0; k < skin.island.size(); ++k) {
    const std::size_t from = skin.nearest[k], to = skin.island[k];
    const Vec4 shift = Load4(moved.data(), from) - ToVec4(skin.PointOf(in, from));
    const float part = static_cast<float>(skin.along[k]) / 255;
    Store4(ToVec4(skin.PointOf(in, to)) + part * shift, moved.data(), to);
  }
  task.For(out.size(), kBlockGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t b = begin; b < end; ++b) {
      PointBlock block = in[b];
      for (std::size_t i = 0; i < kLanes; ++i) {
        const std::size_t p = skin.lane_point[b * kLanes + i];
        const Vec4 at = Load4(moved.data(), p);
        if (Same(at, ToVec4(skin.PointOf(in, p)))) continue;
        block.x[i] = at[0];
        block.y[i] = at[1];
        block.z[i] = at[2];
      }
      out[b] = block;
    }
  });
}

void ScatterVertexStatus(const SkinSurface& skin, const BlockLayout& layout,
                         std::span<const std::uint8_t> of_point,
                         std::span<std::uint8_t> vertex_status) {
  for (std::size_t v = 0; v < vertex_status.size(); ++v) {
    vertex_status[v] = of_point[skin.lane_point[layout.lane[v]]];
  }
}

}  // namespace sinew
