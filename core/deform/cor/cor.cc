#include "core/deform/cor/cor.h"

#include <cmath>

#include "core/base/status.h"
#include "core/deform/cor/cor_centres.h"
#include "core/deform/cor/cor_surface.h"
#include "core/deform/kernels/centre_blend_kernel.h"
#include "core/deform/method/slopes.h"
#include "core/deform/method/stretch.h"

namespace sinew {
namespace {

constexpr std::size_t kGrain = 256;  // blocks per chunk: 4,096 vertices, about 20 microseconds

// Nanoseconds per entry of the surface's lists, and of the weight table.
constexpr double kSurfaceWork = 40, kTableWork = 50;

double SurfaceWork(const CorSurface& surface) {
  return kSurfaceWork * static_cast<double>(surface.users.values.size() +
                                            surface.carriers.values.size() + surface.pieces_needed);
}

double TableWork(const Rig& rig) {
  return kTableWork * static_cast<double>(rig.influences().size());
}

struct Prepared {
  CorSurface surface;
  CorPlan plan;
};

absl::StatusOr<Prepared> Prepare(const BindInput& input, const CorParams& params,
                                 const Task& task) {
  Prepared prepared;
  SINEW_ASSIGN_OR_RETURN(prepared.surface, CorSurface::Create(input.rig, params, task));
  SINEW_ASSIGN_OR_RETURN(prepared.plan, CorPlan::Create(prepared.surface, input.rig, params, task));
  return prepared;
}

}  // namespace

absl::StatusOr<BindCost> Cor::Cost(const BindInput& input, const CorParams& params) {
  SINEW_RETURN_IF_ERROR(CorPlan::CheckPairs(input.rig, params));
  const Task unstoppable;
  SINEW_ASSIGN_OR_RETURN(Prepared prepared,
                         Prepare(input, params, input.task != nullptr ? *input.task : unstoppable));
  const auto& [surface, plan] = prepared;
  const std::size_t vertices = input.rig.vertices();
  const std::size_t bound =
      WeightBytes(input) + input.layout.blocks() * sizeof(PointBlock) * (input.slopes ? 3 : 1);
  // Binding lists of a truncated table; the plan's rows per vertex and maxima per joint.
  const std::size_t lists = vertices * 16 + input.rig.influences().size() * 4;
  const std::size_t rows = vertices * 16 + surface.users.values.size() * 8 +
                           surface.corners.size() * 16 + surface.carriers.values.size() * 2 +
                           input.rig.bindings().size() * 32;
  const std::size_t pairs = plan.pairs.size() * 3 * sizeof(CorPair);
  const BindCost cost = {
      .peak_bytes = std::max(
          bound + lists + vertices * sizeof(Vec3d),
          surface.bytes() + pairs + std::max(rows, plan.peak_bytes(vertices, params.sigma))),
      .bound_bytes = bound,
      .work = plan.work(params.sigma) + SurfaceWork(surface) + TableWork(input.rig),
      .frame_ns = 1.2 * static_cast<double>(input.rig.influences().size()),
      .plan_bytes = surface.bytes() + pairs};
  if (input.plan != nullptr) input.plan->emplace<Prepared>(std::move(prepared));
  return cost;
}

absl::StatusOr<Cor> Cor::Bind(const BindInput& input, const CorParams& params, Task& task) {
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  SINEW_RETURN_IF_ERROR(CorPlan::CheckPairs(input.rig, params));
  Cor cor;
  cor.bindings = static_cast<std::uint32_t>(input.rig.bindings().size());
  std::vector<Vec3d> centres;
  {
    std::optional<Prepared> kept = TakePlan<Prepared>(input);
    if (!kept) {
      SINEW_ASSIGN_OR_RETURN(kept, Prepare(input, params, task));
    }
    auto& [surface, plan] = *kept;
    const double step = SurfaceWork(surface) / 3, announced = plan.work(params.sigma);
    task.Advance(2 * step);
    SINEW_RETURN_IF_ERROR(surface.AddPieces(input.rig, params, task));
    // The total was announced before triangles were split; scale the rest to the exact number.
    if (surface.pieces.size() > 1) {
      SINEW_RETURN_IF_ERROR(plan.CountPieces(surface, params, task));
    }
    if (!plan.pairs.empty()) plan.pace = announced / plan.work(params.sigma);
    task.Advance(step);
    std::uint64_t pieces = 0;
    for (const std::uint32_t count : surface.piece_count) pieces += count;
    cor.pieces = static_cast<float>(pieces);
    cor.blur = static_cast<float>(plan.blur);
    SINEW_ASSIGN_OR_RETURN(centres, CorCentres(input.rig, surface, plan, params, task));
  }
  SINEW_ASSIGN_OR_RETURN(cor.table,
                         WeightTable::Create(input.rig, input.layout, params.max_influences, task));
  cor.centres.resize(input.layout.order.size() * 3);
  for (std::size_t i = 0; i < input.layout.order.size(); ++i) {
    const Vec3f p = ToFloat(centres[input.layout.Vertex(i)]);
    float* lane = cor.centres.data() + i / kLanes * 3 * kLanes + i % kLanes;
    lane[0] = p.x;
    lane[kLanes] = p.y;
    lane[2 * kLanes] = p.z;
  }
  cor.slopes = BindSlopes(input, cor.table.joints, cor.table.weights, task);
  if (input.slopes) cor.centre_slopes = input.surface.slopes(task).OfPoints(cor.centres, task);
  task.Advance(TableWork(input.rig));
  return cor;
}

StageFacts Cor::Facts() const {
  return {.method = Params::kName,
          .in = Space::kRest,
          .out = Space::kPosed,
          .pointwise = true,
          .rotations = true,
          .scratch_floats = bindings * kStretchFloats,
          .slopes = !slopes.empty()};
}

void Cor::Run(const StageFrame& frame) const {
  const std::span<float> stretch = frame.scratch.first(bindings * kStretchFloats);
  const bool stretches = FillStretch(frame.posed, frame.posed.signs, stretch);
  const CentreBlendKernelArgs args = {
      .pair_offset = table.joints.offset.data(),
      .pair_entry = table.joints.entry.data(),
      .rotation_weights = table.weights.data(),
      .translation_weights = table.weights.data(),
      .skin = frame.posed.skin.front().m.data(),
      .dual_quats = frame.posed.dual_quats.front().real.data(),
      .signs = frame.posed.signs.data(),
      .stretch = stretch.data(),
      .stretches = stretches,
      .centre = centres.data(),
      .in = frame.in.front().x,
      .out = frame.out.front().x,
      .slopes = SlopesOf(frame, slopes),
      .rotation_slopes = slopes.data(),
      .centre_slopes = centre_slopes.data(),
  };
  frame.ForBlocks<kGrain>(
      [&](std::size_t begin, std::size_t end) { CentreBlendKernel(args, begin, end); });
}

std::vector<BindStatistic> Cor::Statistics() const {
  return {
      {"pieces", pieces, "", "Triangles integrated over, after splitting."},
      {"blur", blur, "", "Relative increase of sigma caused by grouping pieces; 0 = no grouping."}};
}

}  // namespace sinew
