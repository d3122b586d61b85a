#include <absl/strings/str_cat.h>

#include <algorithm>
#include <vector>

#include "core/base/status.h"
#include "core/deform/ddm/ddm.h"
#include "core/deform/ddm/ddm_kernel.h"

namespace sinew {
namespace {

constexpr std::size_t kPackGrain = 64;  // blocks
constexpr double kPackWork = 120;       // nanoseconds a (vertex, joint) pair

// Nanoseconds a lane of a frame on AVX2: the rotation fit, and one joint's moments.
constexpr double kBlockLaneTime = 9.5, kPairLaneTime = 1.3;

// Second moments of a larger mesh come close to the end of float32.
constexpr double kLargestDiagonal = 1e18;

// A neighbourhood of less than this part of the diagonal squared has no shape: its moments are
// rounding errors.
constexpr double kNoShape = 1e-14;

BlockJoints UniteKept(const BlockLayout& layout, const DdmPlan& plan, const DdmMomentTable& table) {
  std::vector<std::uint64_t> offsets = {0};
  std::vector<std::uint16_t> bindings;
  offsets.reserve(layout.vertices + 1);
  std::size_t total = 0;
  for (const std::uint32_t point : plan.welded.point) total += table.row(point).size();
  bindings.reserve(total);
  for (const std::uint32_t point : plan.welded.point) {
    for (const DdmMomentTable::Reference& r : table.row(point)) bindings.push_back(r.binding);
    offsets.push_back(bindings.size());
  }
  return UniteRows(layout, offsets, bindings);
}

// Moments about a point moved by d.
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

// What every joint's moments of one lane are divided by.
struct LaneScale {
  double moments = 1, translation = 1;  // 1 / sums over kept joints
  bool shape = true;                    // false: only omega and w' count
};

class Packer {
 public:
  Packer(const BindInput& input, const DdmPlan& plan, const DdmMomentTable& table, DdmTables& out)
      : input_(input), plan_(plan), table_(table), out_(out), fields_(out.fields()) {
    const double diagonal = input.rig.mesh().diagonal();
    least_spread_ = kNoShape * diagonal * diagonal;
  }

  // Returns how many joints the lane has.
  std::size_t PackLane(std::size_t index) const {
    const std::size_t block = index / kLanes, lane = index % kLanes;
    const std::uint32_t v = input_.layout.Vertex(index);
    const std::uint32_t point = plan_.welded.point[v];
    const PointBlock& rest = input_.layout.rest[block];
    const Vec3d at = Vec3d{rest.x[lane], rest.y[lane], rest.z[lane]} + input_.layout.centre;
    const Vec3d d = at - ToDouble(input_.rig.mesh().positions()[plan_.welded.first[point]]);
    const auto row = table_.row(point);
    const LaneScale scale = Scale(row, d);
    double centroid[3] = {};
    for (const DdmMomentTable::Reference& r : row) {
      DdmMoments m = Shift(table_.moments(r), d);
      for (std::size_t f = 0; f < kDdmFields; ++f) {
        m[f] = scale.shape || f == kOmega ? m[f] * scale.moments : 0.0;
      }
      m[kTranslation] = scale.translation > 0 ? m[kTranslation] * scale.translation : m[kOmega];
      centroid[0] += m[kPsi0];
      centroid[1] += m[kPsi1];
      centroid[2] += m[kPsi2];
      float* to = out_.moments.data() + FindPair(out_.joints, block, r.binding) * fields_ * kLanes;
      for (std::size_t f = 0; f < fields_; ++f) to[f * kLanes + lane] = static_cast<float>(m[f]);
    }
    for (std::size_t i = 0; i < 3; ++i) {
      out_.centroid[(block * 3 + i) * kLanes + lane] = static_cast<float>(centroid[i]);
    }
    return row.size();
  }

 private:
  LaneScale Scale(std::span<const DdmMomentTable::Reference> row, const Vec3d& d) const {
    double omega = 0, translation = 0;
    Vec3d psi;
    double spread = 0;
    for (const DdmMomentTable::Reference& r : row) {
      const DdmMoments m = Shift(table_.moments(r), d);
      omega += m[kOmega];
      translation += m[kTranslation];
      psi = psi + Vec3d{m[kPsi0], m[kPsi1], m[kPsi2]};
      spread += m[kP00] + m[kP11] + m[kP22];
    }
    constexpr double kLeastTranslation = 1e-6;  // of the kept joints: else omega stands in
    return {1 / omega, translation > kLeastTranslation ? 1 / translation : 0,
            spread / omega > least_spread_};
  }

  const BindInput& input_;
  const DdmPlan& plan_;
  const DdmMomentTable& table_;
  DdmTables& out_;
  std::size_t fields_;
  double least_spread_ = 0;
};

absl::Status CheckSize(const Rig& rig) {
  const double diagonal = rig.mesh().diagonal();
  if (diagonal <= kLargestDiagonal) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("rig: bounding-box diagonal: got ", diagonal,
                                                 ", ddm needs at most ", kLargestDiagonal));
}

absl::Status CheckRadius(const DdmPlan& plan) {
  if (!plan.filter.coefficients.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("radius: smoothing over ", plan.radius_in_edges,
                   " mean edges, need at most about 1000: lower radius, lambda or iterations"));
}

}  // namespace

absl::StatusOr<BindCost> DdmTables::Cost(const BindInput& input, const DdmParams& params) {
  SINEW_RETURN_IF_ERROR(CheckSize(input.rig));
  const DdmPlan plan = MakeDdmPlan(input.rig, params, {});
  SINEW_RETURN_IF_ERROR(CheckRadius(plan));
  const DdmCost cost = EstimateDdm(input.rig, input.layout, plan);
  const std::size_t fields = kDdmFields + (params.alpha > 0 ? 1 : 0);
  const std::size_t bound =
      cost.block_pairs * (fields * kLanes * sizeof(float) + sizeof(std::uint16_t)) +
      input.layout.blocks() * (3 * kLanes * sizeof(float) + sizeof(std::uint32_t));
  // Lists of joints for the union, and vectors that grew.
  const std::size_t union_bytes = cost.rows * 2 + input.rig.vertices() * 8 + cost.block_pairs * 4;
  return BindCost{
      .peak_bytes =
          cost.plan_bytes + cost.moment_bytes + std::max(cost.filter_bytes, bound + union_bytes),
      .bound_bytes = bound,
      .work = cost.plan_work + cost.filter_work + kPackWork * static_cast<double>(cost.rows),
      .frame_ns = kLanes * (kBlockLaneTime * static_cast<double>(input.layout.blocks()) +
                            kPairLaneTime * static_cast<double>(cost.block_pairs))};
}

absl::StatusOr<DdmTables> DdmTables::Bind(const BindInput& input, const DdmParams& params,
                                          const DdmBindOptions& options, Task& task) {
  SINEW_RETURN_IF_ERROR(Validate(params));
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  SINEW_RETURN_IF_ERROR(CheckSize(input.rig));
  const DdmPlan plan = MakeDdmPlan(input.rig, params, options);
  SINEW_RETURN_IF_ERROR(CheckRadius(plan));
  task.Advance(DdmPlanWork(input.rig));
  SINEW_ASSIGN_OR_RETURN(const DdmMomentTable table,
                         DdmMomentTable::Filter(input.rig, plan, params, task));
  DdmTables tables;
  tables.bindings = static_cast<std::uint32_t>(input.rig.bindings().size());
  tables.alpha = params.alpha;
  tables.pop_guard = params.pop_guard ? 1 : 0;
  tables.dropped = static_cast<float>(table.dropped());
  tables.joints = UniteKept(input.layout, plan, table);
  tables.moments.resize(tables.joints.pairs() * tables.fields() * kLanes);
  tables.centroid.resize(input.layout.blocks() * 3 * kLanes);
  const Packer packer(input, plan, table, tables);
  task.For(input.layout.blocks(), kPackGrain, [&](std::size_t begin, std::size_t end) {
    std::size_t pairs = 0;
    for (std::size_t i = begin * kLanes; i < end * kLanes; ++i) pairs += packer.PackLane(i);
    task.Advance(kPackWork * static_cast<double>(pairs));
  });
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  return tables;
}

}  // namespace sinew
