#include "core/deform/delta_mush/detail_kernel.h"

#include "core/simd/levels.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/deform/delta_mush/detail_kernel.cc"
#include <hwy/foreach_target.h>

#include "core/simd/point-inl.h"
#include "core/simd/vec4.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

// A frame whose required size is exceeded by this factor is certainly valid.
inline constexpr float kClearly = 1.001f;

// No fused multiply-add, same order as surface_point.cc: the same bits.
HWY_INLINE Pack PlainDot(const PackPoint& a, const PackPoint& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

// Values gathered from all over the mesh, as rows of lanes.
struct alignas(64) Gathered {
  float sum[4][16];    // area vectors around a point, and their sizes
  float at[3][16];     // smoothed point
  float edge[3][16];   // to its frame neighbour; 0 if none
  float still[3][16];  // input point
  float least[2][16];
};

HWY_INLINE void Gather(const DetailKernelArgs& args, const std::uint32_t* points, Gathered& rows) {
  for (std::size_t i = 0; i < 16; i += 4) {
    Vec4 sum[4], at[4], edge[4];
    for (std::size_t k = 0; k < 4; ++k) {
      const std::size_t p = points[i + k];
      sum[k] = Vec4{0, 0, 0, 0};
      for (std::uint32_t f = args.face_offset[p]; f < args.face_offset[p + 1]; ++f) {
        sum[k] += Load4(args.face_normals, args.faces[f]);
      }
      at[k] = Load4(args.points, p);
      const std::int32_t neighbour = args.frame_points[p * 2];
      edge[k] = Load4(args.points, neighbour < 0 ? p : static_cast<std::size_t>(neighbour)) - at[k];
      const std::size_t lane = args.point_lane[p];
      const float* from = args.in + lane / 16 * 48 + lane % 16;
      for (std::size_t c = 0; c < 3; ++c) rows.still[c][i + k] = from[c * 16];
      rows.least[0][i + k] = args.least[p * 3];
      rows.least[1][i + k] = args.least[p * 3 + 1];
    }
    StoreColumns(sum, rows.sum, i, 4);
    StoreColumns(at, rows.at, i, 3);
    StoreColumns(edge, rows.edge, i, 3);
  }
}

std::uint32_t DetailBlock(const DetailKernelArgs& args, float side, std::size_t block) {
  Gathered rows;
  Gather(args, args.lane_point + block * 16, rows);
  const Pack one = Pack::Set(1.0f), clearly = Pack::Set(kClearly);
  const auto within = [&](const Pack& squared) HWY_ATTR {
    return MaskBits(Gt(squared, Pack::Set(args.smallest))) &
           MaskBits(Lt(squared, Pack::Set(args.largest)));
  };
  const PackPoint sum = LoadPoint(rows.sum[0]);
  const Pack area2 = PlainDot(sum, sum), area = Sqrt(area2);
  const Pack noise = Pack::Set(args.noise) * Pack::Load(rows.sum[3]);
  const PackPoint n = Scaled(one / area, sum);
  const PackPoint e = LoadPoint(rows.edge[0]);
  const Pack size2 = PlainDot(e, e), out_of_it = PlainDot(e, n);
  const PackPoint across = {e.x - out_of_it * n.x, e.y - out_of_it * n.y, e.z - out_of_it * n.z};
  const Pack length2 = PlainDot(across, across);
  const PackPoint t = Scaled(one / Sqrt(length2), across);
  const PackPoint b = {n.y * t.z - n.z * t.y, n.z * t.x - n.x * t.z, n.x * t.y - n.y * t.x};
  const Pack root = Pack::Load(rows.least[0]);
  const std::uint32_t found = within(area2) & MaskBits(Gt(area2, noise * noise)) & within(size2) &
                              MaskBits(Gt(length2, Pack::Set(args.steep) * size2)) &
                              MaskBits(Gt(area, clearly * root * root)) &
                              MaskBits(Gt(PlainDot(e, t), clearly * Pack::Load(rows.least[1])));

  const PackPoint delta = LoadPoint(args.delta + block * 48);
  const Pack out_along = Pack::Set(side) * delta.z;
  const auto moved = [&](std::size_t c, const Pack& tc, const Pack& bc, const Pack& nc) HWY_ATTR {
    const Pack detail = delta.x * tc + delta.y * bc + out_along * nc;
    const Pack still = Pack::Load(rows.still[c]);
    const Pack smoothed = Pack::Load(rows.at[c]) - (still - Pack::Set(args.origin[c]));
    return still + (smoothed + detail);
  };
  StorePoint({moved(0, t.x, b.x, n.x), moved(1, t.y, b.y, n.y), moved(2, t.z, b.z, n.z)},
             args.out + block * 48);
  return ~found & 0xffffu;
}

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
SINEW_KERNEL(std::uint32_t, DetailKernel,
             (const DetailKernelArgs& args, float side, std::size_t block), DetailBlock,
             (args, side, block))
#endif
