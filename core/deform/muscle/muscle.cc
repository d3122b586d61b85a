#include "core/deform/muscle/muscle.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>

#include "core/base/status.h"
#include "core/deform/method/scratch.h"
#include "core/surface/normals_kernel.h"
#include "core/surface/surface_point.h"

namespace sinew {
namespace {

constexpr std::size_t kBlockGrain = 1024;  // blocks: about 20 microseconds of copying
constexpr std::size_t kAnchorGrain = 512;  // points: about 20 microseconds
constexpr std::size_t kSwellFloats = 4;    // width and depth in the pose and at rest

// Radius of an elliptic section in a unit direction.
float SectionRadius(float width, float depth, const MuscleAnchor& anchor) {
  const float x = anchor.across / width, y = anchor.down / depth;
  return 1.0f / std::sqrt(x * x + y * y);
}

}  // namespace

StageFacts MuscleStage::Facts() const {
  const std::size_t lanes = lane_anchor.size();
  const std::size_t scratch = anchored() == 0 ? 0
                                              : lanes * 4 + WholeLines(anchored() * 4) +
                                                    WholeLines(muscles.rows.size() * kSwellFloats) +
                                                    surface.normal_floats();
  return {.method = Params::kName,
          .in = Space::kPosed,
          .out = Space::kPosed,
          .pointwise = false,
          .scratch_floats = scratch,
          .controls = muscles.controls(),
          .joints = muscles.joints()};
}

std::vector<BindStatistic> MuscleStage::Statistics() const {
  std::vector<std::uint8_t> moves(muscles.rows.size(), 0);
  for (const MuscleAnchor& anchor : anchors) moves[anchor.muscle] = 1;
  return {{.name = "muscles",
           .value = static_cast<double>(std::ranges::count(moves, 1)),
           .unit = "muscles",
           .description = "Muscles under the skin and close enough to move it."},
          {.name = "anchored_points",
           .value = static_cast<double>(anchored()),
           .unit = "points",
           .description = "Skin points moved by muscles; vertices of a seam count once."}};
}

absl::Status MuscleStage::Check(const BlockLayout& layout, std::size_t bindings) const {
  TableSizes sizes = layout.Sizes(bindings);
  sizes.joints = muscles.joints();  // Facts guarantees that the rig has them
  SINEW_RETURN_IF_ERROR(CheckFields(Params::kName, *this, sizes, anchored() == 0));
  return muscles.Check(sizes.joints);
}

void MuscleStage::Run(const StageFrame& frame) const {
  if (anchored() == 0) {
    std::ranges::copy(frame.in, frame.out.begin());
    return;
  }
  const std::size_t lanes = lane_anchor.size(), blocks = frame.layout.blocks();
  const std::span<float> packed = frame.scratch.first(lanes * 4);
  float* const moves = packed.data() + packed.size();
  float* const swells = moves + WholeLines(anchored() * 4);
  const std::span<float> face_normals = frame.scratch.subspan(
      lanes * 4 + WholeLines(anchored() * 4) + WholeLines(muscles.rows.size() * kSwellFloats));
  for (std::size_t m = 0; m < muscles.rows.size(); ++m) {
    const MuscleState state = PoseMuscle(muscles, m, frame.posed.joints, frame.posed.controls);
    const double row[kSwellFloats] = {state.radii[1], state.radii[2],
                                      rest_axes[m].width * state.scale,
                                      rest_axes[m].depth * state.scale};
    for (std::size_t i = 0; i < kSwellFloats; ++i) {
      swells[m * kSwellFloats + i] = static_cast<float>(row[i]);
    }
  }
  frame.task.For(blocks, kBlockGrain, [&](std::size_t begin, std::size_t end) {
    PackPointsKernel(frame.in.front().x, packed.data(), begin, end);
  });
  FillFaceNormals(surface, packed, face_normals, frame.task);
  frame.task.For(anchored(), kAnchorGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t a = begin; a < end; ++a) {
      float amount = 0;
      for (std::uint32_t k = anchor_offset[a]; k < anchor_offset[a + 1]; ++k) {
        const float* swell = swells + std::size_t{anchors[k].muscle} * kSwellFloats;
        amount += anchors[k].share * (SectionRadius(swell[0], swell[1], anchors[k]) -
                                      SectionRadius(swell[2], swell[3], anchors[k]));
      }
      alignas(16) float sum[4];
      PointSumsKernel(surface.face_offset.data(), surface.faces.data(), face_normals.data(), sum, a,
                      a + 1);
      Vec3f normal;
      if (!SurfaceNormal(surface, packed.data(), face_normals.data(), a, sum, normal)) amount = 0;
      amount *= frame.posed.signs[frame.layout.pivot[anchor_lane[a] / kLanes]];
      moves[a * 4] = amount * normal.x;
      moves[a * 4 + 1] = amount * normal.y;
      moves[a * 4 + 2] = amount * normal.z;
    }
  });
  frame.task.For(blocks, kBlockGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t b = begin; b < end; ++b) {
      PointBlock block = frame.in[b];
      for (std::size_t i = 0; i < kLanes; ++i) {
        const std::int32_t a = lane_anchor[b * kLanes + i];
        if (a < 0) continue;
        const float* move = moves + static_cast<std::size_t>(a) * 4;
        block.x[i] += move[0];
        block.y[i] += move[1];
        block.z[i] += move[2];
      }
      frame.out[b] = block;
    }
  });
}

}  // namespace sinew
