
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "core/deform/ddm/ddm.h"
#include "core/deform/ddm/ddm_kernel.h"
#include "core/deform/ddm/ddm_lane.h"
#include "core/deform/method/slopes.h"

namespace sinew {
namespace {

constexpr std::size_t kPackGrain = 64;  // blocks
constexpr double kPackWork = 120;       // nanoseconds per (vertex, joint)

// Nanoseconds per frame on AVX2: per lane (the rotation), and per joint of a lane.
struct FrameTime {
  double block, pair;
};
FrameTime TimeOf(const DdmTables& tables) {
  constexpr FrameTime kTimes[6] = {{9.5, 1.3}, {1.5, 1.2}, {1, 0.5},
                                   {0.8, 0.5}, {0.7, 0.4}, {0.4, 0.3}};
  return kTimes[tables.variant];
}

// The fields that depend on the parameters alone.
DdmTables EmptyTables(const DdmParams& params) {
  DdmTables tables;
  tables.variant = params.variant;
  tables.alpha = params.alpha;
  tables.pop_guard = params.pop_guard ? 1 : 0;
  return tables;
}

// Second moments of a larger mesh approach the limit of float.
constexpr double kLargestDiagonal = 1e18;

// Relative to the diagonal squared: second moments below this are rounding errors.
constexpr double kNoShape = 1e-14;

BlockJoints UniteKept(const BlockLayout& layout, const DdmPlan& plan, const DdmMomentTable& table) {
  std::vector<std::uint16_t> row;
  return UniteRows(layout, [&](std::size_t v) -> std::span<const std::uint16_t> {
    row.clear();
    for (const DdmMomentTable::Reference& r : table.row(plan.welded.point[v])) {
      row.push_back(r.binding);
    }
    return row;
  });
}

// Moments about a point shifted by d.
DdmMoments Shift(const DdmMoments& m, const Vec3d& d) {
  const double w = m[kOmega];
  const double s[3] = {m[kPsi0], m[kPsi1], m[kPsi2]}, v[3] = {d.x, d.y, d.z};
  constexpr std::size_t kSecond[3][3] = {
      {kP00, kP01, kP02}, {kP01, kP11, kP12}, {kP02, kP12, kP22}};
  DdmMoments r = m;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = i; j < 3; ++j) {
      r[kSecond[i][j]] += w * v[i] * v[j] - s[i] * v[j] - v[i] * s[j];
    }
  }
  r[kPsi0] -= w * d.x;
  r[kPsi1] -= w * d.y;
  r[kPsi2] -= w * d.z;
  return r;
}

// Normalisation of the moments of one lane.
struct LaneScale {
  double moments = 1, translation = 1;  // 1 / sums over kept joints
  bool shape = true;                    // false: only omega and w' are valid
};

class Packer {
 public:
  Packer(const BindInput& input, const DdmPlan& plan, const DdmMomentTable& table, DdmTables& out)
      : input_(input), plan_(plan), table_(table), out_(out), fields_(out.fields()) {
    const double diagonal = input.rig.mesh().diagonal();
    least_spread_ = kNoShape * diagonal * diagonal;
  }

  // Returns the lane's number of joints. `scratch` is reused.
  std::size_t PackLane(std::size_t index, std::vector<DdmMoments>& scratch) const {
    const std::size_t block = index / kLanes, lane = index % kLanes;
    const std::uint32_t v = input_.layout.Vertex(index);
    const std::uint32_t point = plan_.welded.point[v];
    const Vec3d centred = ToDouble(input_.layout.rest[block].At(lane));
    const Vec3d at = centred + input_.layout.centre;
    const Vec3d d = at - ToDouble(input_.rig.mesh().positions()[plan_.welded.first[point]]);
    const auto row = table_.row(point);
    scratch.clear();
    for (const DdmMomentTable::Reference& r : row) scratch.push_back(Shift(table_.moments(r), d));
    const LaneScale scale = Scale(scratch);
    double centroid[3] = {};
    for (DdmMoments& m : scratch) {
      for (std::size_t f = 0; f < kDdmFields; ++f) {
        m[f] = scale.shape || f == kOmega ? m[f] * scale.moments : 0.0;
      }
      m[kTranslation] = scale.translation > 0 ? m[kTranslation] * scale.translation : m[kOmega];
      centroid[0] += m[kPsi0];
      centroid[1] += m[kPsi1];
      centroid[2] += m[kPsi2];
    }
    const std::size_t step = out_.Place(0, 1);  // to the row of the next field
    for (std::size_t k = 0; k < row.size(); ++k) {
      const std::size_t pair = FindPair(out_.joints, block, row[k].binding);
      const DdmMoments fields = FieldsOf(scratch[k], centroid);
      float* const first = out_.moments.data() + out_.Place(pair, 0) + lane;
      for (std::size_t f = 0; f < fields_; ++f) first[f * step] = static_cast<float>(fields[f]);
    }
    const double from[3] = {centred.x, centred.y, centred.z};
    for (std::size_t i = 0; i < 3 && !out_.centroid.empty(); ++i) {
      out_.centroid[(block * 3 + i) * kLanes + lane] =
          static_cast<float>(out_.variant == 4 ? from[i] + centroid[i] : centroid[i]);
    }
    return row.size();
  }

 private:
  // The fields that the variant stores for one joint, in order.
  DdmMoments FieldsOf(const DdmMoments& m, const double* centroid) const {
    if (out_.variant <= 1) return m;
    const double alpha = double{out_.alpha}, w = alpha * m[kTranslation];
    const double omega = (1 - alpha) * m[kOmega] + w;
    if (out_.variant >= 4) return {omega, m[kOmega]};
    return {(1 - alpha) * m[kPsi0] + w * centroid[0], (1 - alpha) * m[kPsi1] + w * centroid[1],
            (1 - alpha) * m[kPsi2] + w * centroid[2], omega, m[kOmega]};
  }

  LaneScale Scale(std::span<const DdmMoments> row) const {
    double omega = 0, translation = 0, spread = 0;
    for (const DdmMoments& m : row) {
      omega += m[kOmega];
      translation += m[kTranslation];
      spread += m[kP00] + m[kP11] + m[kP22];
    }
    constexpr double kMinTranslation = 1e-6;  // of the kept joints: below, omega is used instead
    return {1 / omega, translation > kMinTranslation ? 1 / translation : 0,
            spread / omega > least_spread_};
  }

  const BindInput& input_;
  const DdmPlan& plan_;
  const DdmMomentTable& table_;
  DdmTables& out_;
  std::size_t fields_;
  double least_spread_ = 0;
};

// Computes `fit` of variant 1 from the moments, so that the rest pose is exact.
void FitShapes(DdmTables& tables, const Task& task) {
  tables.fit.resize(tables.blocks() * kDdmFitFields * kLanes);
  const DdmTable table = tables.view();
  task.For(tables.blocks(), kPackGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin * kLanes; i < end * kLanes; ++i) {
      const std::size_t b = i / kLanes;
      const DdmShape shape =
          ShapeOfLane(table, tables.joints.offset[b], tables.joints.offset[b + 1], i % kLanes);
      if (!(shape.determinant >= kFlatShape)) continue;
      float* const fit = tables.fit.data() + b * kDdmFitFields * kLanes + i % kLanes;
      for (std::size_t f = 0; f < 6; ++f) {
        fit[f * kLanes] = static_cast<float>(shape.second[f] / shape.determinant);
      }
      const double sign = shape.determinant >= kThinShape ? 1 : -1;
      fit[6 * kLanes] = static_cast<float>(sign * shape.inverse_trace);
    }
  });
}

absl::Status CheckSize(const Rig& rig) {
  const double diagonal = rig.mesh().diagonal();
  if (diagonal <= kLargestDiagonal) return absl::OkStatus();
  return InvalidArgument("rig: bounding-box diagonal: got ", diagonal, ", ddm needs at most ",
                         kLargestDiagonal);
}

absl::Status CheckRadius(const DdmPlan& plan) {
  if (!plan.filter.coefficients.empty()) return absl::OkStatus();
  return InvalidArgument(
      "radius: smoothing over ", plan.radius_in_edges,
      " mean edges, need at most about 1000: lower radius, lambda or iterations");
}

}  // namespace

absl::StatusOr<BindCost> DdmTables::Cost(const BindInput& input, const DdmParams& params) {
  SINEW_RETURN_IF_ERROR(CheckSize(input.rig));
  const Task alone({.parallel = false});
  SINEW_ASSIGN_OR_RETURN(DdmPlan plan, MakeDdmPlan(input.surface, params, {},
                                                   input.task != nullptr ? *input.task : alone));
  SINEW_RETURN_IF_ERROR(CheckRadius(plan));
  SINEW_ASSIGN_OR_RETURN(const DdmCost cost,
                         EstimateDdm(input.rig, input.layout, params, plan, input.task));
  const DdmTables shape = EmptyTables(params);
  const std::size_t blocks = input.layout.blocks(),
                    lanes = cost.block_pairs * shape.fields() * kLanes;
  // Per block: 3 numbers for the centroid, and those of the fit.
  const std::size_t block_floats =
      (shape.variant == 5 ? 0 : 3) + (shape.variant == 1 ? kDdmFitFields : 0);
  const std::size_t joints =
      cost.block_pairs * sizeof(std::uint16_t) + (blocks + 1) * sizeof(std::uint32_t);
  const std::size_t bound =
      joints + (blocks * block_floats * kLanes + lanes) * sizeof(float) * (input.slopes ? 3 : 1);
  // Joint lists for the unions, and vector growth.
  const std::size_t union_bytes = cost.rows * 2 + input.rig.vertices() * 8 + cost.block_pairs * 4;
  const double pair_lanes = kLanes * static_cast<double>(cost.block_pairs);
  const FrameTime time = TimeOf(shape);
  if (input.plan != nullptr) input.plan->emplace<DdmPlan>(std::move(plan));
  return BindCost{
      .peak_bytes = cost.plan_bytes +
                    std::max(cost.limit_bytes,
                             cost.moment_bytes + std::max(cost.filter_bytes, bound + union_bytes)),
      .bound_bytes = bound,
      .work = cost.plan_work + cost.limit_work + cost.filter_work +
              kPackWork * static_cast<double>(cost.rows),
      .frame_ns = kLanes * time.block * static_cast<double>(blocks) + time.pair * pair_lanes,
      .surface = DdmSurface(params),
      .plan_bytes = cost.plan_bytes};
}

absl::StatusOr<DdmTables> DdmTables::Bind(const BindInput& input, const DdmParams& params,
                                          const DdmBindOptions& options, Task& task) {
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  SINEW_RETURN_IF_ERROR(CheckSize(input.rig));
  std::optional<DdmPlan> kept = TakePlan<DdmPlan>(input);
  if (!kept) {
    SINEW_ASSIGN_OR_RETURN(DdmPlan made, MakeDdmPlan(input.surface, params, options, task));
    kept.emplace(std::move(made));
  }
  DdmPlan& plan = *kept;
  SINEW_RETURN_IF_ERROR(CheckRadius(plan));
  task.Advance(DdmPlanWork(input.rig));
  SINEW_RETURN_IF_ERROR(LimitDdmSmoothing(input.rig, params, plan, task));
  SINEW_ASSIGN_OR_RETURN(const DdmMomentTable table,
                         DdmMomentTable::Filter(input.rig, plan, params, task));
  DdmTables tables = EmptyTables(params);
  tables.bindings = static_cast<std::uint32_t>(input.rig.bindings().size());
  tables.dropped = static_cast<float>(table.dropped());
  tables.radius = static_cast<float>(plan.radius_in_edges);
  tables.joints = UniteKept(input.layout, plan, table);
  tables.moments.resize(tables.joints.pairs() * tables.fields() * kLanes);
  if (tables.variant != 5) tables.centroid.resize(input.layout.blocks() * 3 * kLanes);
  const Packer packer(input, plan, table, tables);
  task.For(input.layout.blocks(), kPackGrain, [&](std::size_t begin, std::size_t end) {
    std::size_t pairs = 0;
    std::vector<DdmMoments> scratch;
    for (std::size_t i = begin * kLanes; i < end * kLanes; ++i) {
      pairs += packer.PackLane(i, scratch);
    }
    task.Advance(kPackWork * static_cast<double>(pairs));
  });
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  if (tables.variant == 1) FitShapes(tables, task);
  if (input.slopes) {
    const std::size_t weights = tables.joints.pairs() * kLanes;
    tables.slopes.reserve(2 * tables.moments.size());
    for (std::size_t f = 0; f < tables.fields(); ++f) {
      const AlignedVector<float> slopes = BindSlopes(
          input, tables.joints, std::span(tables.moments).subspan(f * weights, weights), task);
      tables.slopes.insert(tables.slopes.end(), slopes.begin(), slopes.end());
    }
    tables.centre_slopes = input.surface.slopes(task).OfPoints(tables.centroid, task);
  }
  return tables;
}

}  // namespace sinew
