#include "core/deform/ddm/ddm_storage.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/base/status.h"
#include "core/deform/ddm/ddm_kernel.h"
#include "core/deform/ddm/ddm_lane.h"
#include "core/rig/skeleton.h"
#include "core/simd/half.h"

namespace sinew {
namespace {

constexpr std::size_t kGrain = 64;  // blocks

// Group of a field; -1 for weights, which are stored directly.
int GroupOf(std::uint32_t variant, std::size_t field) {
  if (variant >= 4) return -1;
  if (variant >= 2) return field < kBlendOmega ? 0 : -1;
  if (field == kPsi0 || field == kPsi1 || field == kPsi2) return 1;
  return field < kOmega ? 0 : -1;
}

// The smallest power of two not below any value; 1 for zeros.
float UnitOf(float largest) {
  if (!(largest > 0)) return 1;
  int exponent = 0;
  const float fraction = std::frexp(largest, &exponent);
  return std::ldexp(1.0f, fraction == 0.5f ? exponent - 1 : exponent);
}

void HalvePair(const DdmTables& full, std::size_t pair, DdmTables& out) {
  const std::size_t fields = full.fields(), groups = full.groups();
  float largest[2] = {};
  const auto each = [&](auto&& body) {
    for (std::size_t f = 0; f < fields; ++f) {
      const std::size_t at = full.Place(pair, f);
      for (std::size_t i = at; i < at + kLanes; ++i) body(GroupOf(full.variant, f), i);
    }
  };
  each([&](int group, std::size_t i) {
    if (group >= 0) largest[group] = std::max(largest[group], std::abs(full.moments[i]));
  });
  for (std::size_t g = 0; g < groups; ++g) out.units[pair * groups + g] = UnitOf(largest[g]);
  each([&](int group, std::size_t i) {
    const float unit = group < 0 ? 1 : UnitOf(largest[group]);
    out.halves[i] = ToHalf(full.moments[i] / unit);
  });
}

// Sums each lane's first moments after rounding.
void SumCentroids(DdmTables& tables, std::size_t block) {
  const bool second = tables.variant <= 1;
  constexpr int kFitted[3] = {kPsi0, kPsi1, kPsi2};
  constexpr int kBlended[3] = {kBlendPsi0, kBlendPsi1, kBlendPsi2};
  const int* const fields = second ? kFitted : kBlended;
  const DdmTable table = tables.view();
  for (std::size_t i = 0; i < 3 * kLanes; ++i) {
    double sum = 0;
    for (std::uint32_t k = tables.joints.offset[block]; k < tables.joints.offset[block + 1]; ++k) {
      sum += DdmValue(table, k, fields[i / kLanes], second ? 1 : 0, i % kLanes);
    }
    tables.centroid[block * 3 * kLanes + i] = static_cast<float>(sum);
  }
}

Mat3d Turn(const Vec3d& axis, double degrees) {
  const double angle = degrees * std::numbers::pi / 180, c = std::cos(angle), s = std::sin(angle);
  const double k = 1 - c;
  const Vec3d& a = axis;
  return {{k * a.x * a.x + c, k * a.x * a.y - s * a.z, k * a.x * a.z + s * a.y,
           k * a.x * a.y + s * a.z, k * a.y * a.y + c, k * a.y * a.z - s * a.x,
           k * a.x * a.z - s * a.y, k * a.y * a.z + s * a.x, k * a.z * a.z + c}};
}

// Model transforms with every joint except the roots rotated relative to its parent.
std::vector<Affine> ProbePose(const Skeleton& skeleton, const Vec3d& axis, double degrees) {
  const Mat3d turn = Turn(axis, degrees);
  AffineD turned;
  for (std::size_t i = 0; i < 9; ++i) turned.m[i / 3 * 4 + i % 3] = turn.m[i];
  std::vector<AffineD> local(skeleton.rest_local().begin(), skeleton.rest_local().end());
  std::vector<AffineD> model(local.size());
  std::vector<Affine> pose;
  for (std::size_t j = 0; j < model.size(); ++j) {
    const std::uint32_t parent = skeleton.joint(j).parent;
    if (parent == kNoParent) {
      model[j] = local[j];
    } else {
      local[j] = Compose(local[j], turned);
      model[j] = skeleton.ToModel(j, model[parent], local[parent], local[j]);
    }
    pose.push_back(ToFloat(model[j]));
  }
  return pose;
}

}  // namespace

std::uint32_t WidestBlock(const BlockJoints& joints) {
  std::uint32_t widest = 0;
  for (std::size_t b = 0; b + 1 < joints.offset.size(); ++b) {
    widest = std::max(widest, joints.offset[b + 1] - joints.offset[b]);
  }
  return widest;
}

void FitShapes(DdmTables& tables, const Task& task) {
  tables.fit.resize(tables.blocks() * kDdmFitFields * kLanes);
  const DdmTable table = tables.view();
  task.For(tables.blocks(), kGrain, [&](std::size_t begin, std::size_t end) {
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

absl::StatusOr<DdmTables> Halve(const BindInput& input, const DdmTables& full, bool enhanced,
                                const Task& task) {
  DdmTables out;
  out.joints = full.joints;
  out.centroid = full.centroid;
  out.bindings = full.bindings;
  out.variant = full.variant;
  out.half = 1;
  out.pop_guard = full.pop_guard;
  out.widest = full.widest;
  out.alpha = full.alpha;
  out.dropped = full.dropped;
  out.radius = full.radius;
  out.halves.resize(full.moments.size());
  out.units.resize(full.joints.pairs() * full.groups());
  task.For(full.blocks(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t b = begin; b < end; ++b) {
      for (std::size_t k = full.joints.offset[b]; k < full.joints.offset[b + 1]; ++k) {
        HalvePair(full, k, out);
      }
      if (out.variant <= 3) SumCentroids(out, b);
    }
  });
  if (out.variant == 1) FitShapes(out, task);
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  out.storage_error = static_cast<float>(LargestDifference(input, full, out, enhanced, task));
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  return out;
}

double LargestDifference(const BindInput& input, const DdmTables& a, const DdmTables& b,
                         bool enhanced, const Task& task) {
  const double diagonal = input.rig.mesh().diagonal();
  if (!(diagonal > 0)) return 0;
  const DenormalGuard guard;
  const PosedRigTables tables = PosedRigTables::Create(input.rig, input.layout.centre);
  PosedRigBuffer buffer;
  AlignedVector<PointBlock> points[2];
  double largest = 0;
  const auto run = [&](const DdmTables& method, const PosedRig& posed,
                       AlignedVector<PointBlock>& out) {
    AlignedVector<float> scratch(method.Facts("", enhanced).scratch_floats);
    out.resize(input.layout.blocks());
    method.Run({.layout = input.layout,
                .posed = posed,
                .task = task,
                .scratch = scratch,
                .in_is_rest = true,
                .in = input.layout.rest,
                .out = out},
               enhanced);
  };
  constexpr double kHalf = 0.57735026918962576;
  struct Probe {
    Vec3d axis;
    double degrees;
  };
  for (const Probe& probe : {Probe{{1, 0, 0}, 60}, Probe{{0, 1, 0}, 60}, Probe{{0, 0, 1}, 60},
                             Probe{{kHalf, kHalf, kHalf}, 30}}) {
    const auto pose = ProbePose(input.rig.skeleton(), probe.axis, probe.degrees);
    const PosedRig posed = buffer.Compute(tables, {.joints = pose}, true);
    run(a, posed, points[0]);
    run(b, posed, points[1]);
    for (std::size_t block = 0; block < points[0].size(); ++block) {
      for (std::size_t i = 0; i < kLanes; ++i) {
        const Vec3d d = ToDouble(points[0][block].At(i)) - ToDouble(points[1][block].At(i));
        largest = std::max(largest, Dot(d, d));
      }
    }
  }
  return std::sqrt(largest) / diagonal;
}

std::size_t ProbeBytes(const BindInput& input, std::size_t block_pairs) {
  constexpr std::size_t kJoint = 256;  // bytes per binding: transforms in double and float
  const std::size_t chunks = input.layout.blocks() / kGrain + 1;
  const std::size_t widest = std::min(block_pairs, input.rig.bindings().size());
  return 2 * input.layout.blocks() * sizeof(PointBlock) +
         (input.rig.bindings().size() + input.rig.joints()) * kJoint +
         chunks * widest * 2 * kLanes * sizeof(float) + input.rig.bindings().size() * 128;
}

}  // namespace sinew
