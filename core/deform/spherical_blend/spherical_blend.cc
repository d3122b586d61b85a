#include "core/deform/spherical_blend/spherical_blend.h"

#include <algorithm>
#include <cmath>

#include "core/base/status.h"
#include "core/deform/method/slopes.h"
#include "core/deform/spherical_blend/rotation_centre.h"
#include "core/deform/spherical_blend/spherical_blend_kernel.h"

namespace sinew {
namespace {

constexpr std::size_t kGrain = 128;         // blocks per chunk: 2,048 vertices
constexpr std::size_t kRelationGrain = 64;  // a few microseconds
constexpr std::size_t kSetGrain = 32;

// Nanoseconds per influence for packing and for finding its set; per set and per joint for the
// expected centre.
constexpr double kPackWork = 50, kSetWork = 60, kCentreWork = 300, kJointWork = 30;
constexpr std::size_t kSetsAtATime = 2048;  // sets between cancellation checks

}  // namespace

absl::StatusOr<BindCost> SphericalBlend::Cost(const BindInput& input,
                                              const SphericalBlendParams& params) {
  const Task unstoppable;
  SINEW_ASSIGN_OR_RETURN(const JointSets::Bound sets,
                         JointSets::CountAtMost(input.rig, input.layout, params.max_influences,
                                                input.task != nullptr ? *input.task : unstoppable));
  const std::size_t lanes = input.layout.order.size(), pairs = input.layout.skin.pairs();
  const std::size_t set_bytes = (sets.sets + 1) * sizeof(std::uint32_t) +
                                sets.entries * sizeof(std::uint16_t) + sets.sets * sizeof(Vec3d) +
                                lanes * sizeof(std::uint32_t);
  // Each pair has at most one relation, between two bindings.
  const std::size_t always = WeightBytes(input) + input.rig.bindings().size() * sizeof(Vec3d) +
                             pairs * (sizeof(std::uint32_t) + 2 * sizeof(std::uint16_t));
  const bool weighted = params.centres == BlendCentres::kWeighted;
  const std::size_t bound = always + (weighted ? lanes * sizeof(PointBlock) / kLanes : set_bytes);
  // While binding: the sets and the runs they are sorted from, with doubling growth; the list of
  // relations to sort; joint positions.
  const std::size_t peak = always + lanes * sizeof(PointBlock) / kLanes + 4 * set_bytes +
                           pairs * 3 * sizeof(std::uint32_t) +
                           input.rig.joints() * 8 * sizeof(std::uint32_t) +
                           input.rig.influences().max_per_vertex() * 2 * sizeof(std::uint32_t);
  const auto influences = static_cast<double>(input.rig.influences().size());
  return BindCost{.peak_bytes = peak,
                  .bound_bytes = bound,
                  .work = (kPackWork + kSetWork) * influences +
                          kCentreWork * static_cast<double>(sets.sets) +
                          kJointWork * static_cast<double>(input.rig.joints()),
                  .frame_ns = (weighted ? 2.5 : 1.8) * influences};
}

absl::StatusOr<SphericalBlend> SphericalBlend::Bind(const BindInput& input,
                                                    const SphericalBlendParams& params,
                                                    Task& task) {
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  SINEW_ASSIGN_OR_RETURN(const BindCost cost, Cost(input, params));
  const auto influences = static_cast<double>(input.rig.influences().size());
  SphericalBlend blend;
  SINEW_ASSIGN_OR_RETURN(blend.table,
                         WeightTable::Create(input.rig, input.layout, params.max_influences, task));
  blend.slopes = BindSlopes(input, blend.table.joints, blend.table.weights, task);
  blend.FillRelations();
  task.Advance(kPackWork * influences);
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());

  const Vec3d& centre = input.layout.centre;
  blend.origins = BindOrigins(input.rig, centre);
  SINEW_ASSIGN_OR_RETURN(JointSets sets,
                         JointSets::Create(input.rig, input.layout, params.max_influences, task));
  task.Advance(kSetWork * influences);
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  const double set_work =
      (cost.work - (kPackWork + kSetWork) * influences) / static_cast<double>(sets.size());
  ExpectedCentres centres(input.rig, centre, blend.origins);
  std::vector<Vec3d> expected(sets.size());
  for (std::size_t begin = 0; begin < sets.size(); begin += kSetsAtATime) {
    const std::size_t end = std::min(sets.size(), begin + kSetsAtATime);
    for (std::size_t s = begin; s < end; ++s) expected[s] = centres.Of(sets.set(s));
    task.Advance(set_work * static_cast<double>(end - begin));
    SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  }
  if (params.centres == BlendCentres::kPerSet) {
    blend.sets = std::move(sets);
    blend.set_expected = std::move(expected);
  } else {
    blend.expected.resize(input.layout.blocks());
    for (std::size_t i = 0; i < sets.lane_set.size(); ++i) {
      blend.expected[i / kLanes].Set(i % kLanes, ToFloat(expected[sets.lane_set[i]]));
    }
  }
  return blend;
}

void SphericalBlend::FillRelations() {
  const auto key = [&](std::size_t block, std::size_t pair) {
    const BlockJoints& joints = table.joints;
    return std::uint32_t{joints.entry[joints.offset[block]]} << 16 | joints.entry[pair];
  };
  const auto for_each = [&](auto&& visit) {
    for (std::size_t b = 0; b + 1 < table.joints.offset.size(); ++b) {
      for (std::uint32_t k = table.joints.offset[b] + 1; k < table.joints.offset[b + 1]; ++k) {
        visit(k, key(b, k));
      }
    }
  };
  std::vector<std::uint32_t> keys;
  for_each([&](std::uint32_t, std::uint32_t k) { keys.push_back(k); });
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  pair_relation.resize(table.joints.pairs());
  for_each([&](std::uint32_t pair, std::uint32_t k) {
    pair_relation[pair] =
        static_cast<std::uint32_t>(std::lower_bound(keys.begin(), keys.end(), k) - keys.begin());
  });
  relation_pivot.reserve(keys.size());
  relation_joint.reserve(keys.size());
  for (const std::uint32_t k : keys) {
    relation_pivot.push_back(static_cast<std::uint16_t>(k >> 16));
    relation_joint.push_back(static_cast<std::uint16_t>(k & 0xffff));
  }
}

StageFacts SphericalBlend::Facts() const {
  return {.method = Params::kName,
          .in = Space::kRest,
          .out = Space::kPosed,
          .pointwise = true,
          .rotations = true,
          .scratch_floats = relation_pivot.size() * kRelationFloats + sets.size() * 3,
          .slopes = !slopes.empty()};
}

absl::Status SphericalBlend::Check(const BlockLayout& layout, std::size_t bindings) const {
  SINEW_RETURN_IF_ERROR(MethodOf::Check(layout, bindings));
  for (std::size_t b = 0; b < layout.blocks(); ++b) {
    for (std::uint32_t k = table.joints.offset[b] + 1; k < table.joints.offset[b + 1]; ++k) {
      const std::uint32_t relation = pair_relation[k];
      if (relation >= relation_pivot.size() || relation_pivot[relation] != layout.pivot[b] ||
          relation_joint[relation] != table.joints.entry[k]) {
        return DataLoss("bound data: spherical_blend: pair_relation: value ", k, " is ", relation,
                        ", need that of bindings ", layout.pivot[b], " and ",
                        table.joints.entry[k]);
      }
    }
  }
  return absl::OkStatus();
}

void SphericalBlend::Run(const StageFrame& frame) const {
  const std::size_t relation_floats = relation_pivot.size() * kRelationFloats;
  const std::span<float> relations = frame.scratch.first(relation_floats);
  const std::span<float> centres = frame.scratch.subspan(relation_floats, sets.size() * 3);
  frame.task.For(relation_pivot.size(), kRelationGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      FillRelation(frame.posed, relation_pivot[i], origins[relation_pivot[i]], relation_joint[i],
                   origins[relation_joint[i]],
                   relations.subspan(i * kRelationFloats, kRelationFloats));
    }
  });
  frame.task.For(sets.size(), kSetGrain, [&](std::size_t begin, std::size_t end) {
    std::vector<RigidPart> motions;
    for (std::size_t s = begin; s < end; ++s) {
      motions.clear();
      for (const std::uint16_t e : sets.set(s)) {
        motions.push_back(RigidPartOf(frame.posed, e, origins[e]));
      }
      const Vec3f centre = ToFloat(CentreOf(motions, set_expected[s]));
      centres[s * 3] = centre.x;
      centres[s * 3 + 1] = centre.y;
      centres[s * 3 + 2] = centre.z;
    }
  });
  const SphericalBlendKernelArgs args = {
      .pair_offset = table.joints.offset.data(),
      .pair_entry = table.joints.entry.data(),
      .pair_relation = pair_relation.data(),
      .weights = table.weights.data(),
      .skin = frame.posed.skin.front().m.data(),
      .rotations = frame.posed.rotations.front().m.data(),
      .signs = frame.posed.signs.data(),
      .relations = relations.data(),
      .expected = per_set() ? nullptr : expected.front().x,
      .set_centres = centres.data(),
      .lane_set = sets.lane_set.data(),
      .in = frame.in.front().x,
      .out = frame.out.front().x,
      .fade = static_cast<float>(kCentreFade),
      .slopes = SlopesOf(frame, slopes),
  };
  frame.ForBlocks<kGrain>(
      [&](std::size_t begin, std::size_t end) { SphericalBlendKernel(args, begin, end); });
}

}  // namespace sinew
