// ddm.h - Direct Delta Mush: skinning equivalent to smoothing the posed mesh and restoring its
// detail, without smoothing at run time; and the enhanced form, which keeps scale and shear of
// joints.
//
// Each vertex fits a rotation and a translation to the motion of its neighbourhood. A frame needs
// only the neighbourhood's moments per joint, which are computed at bind. Variants 0 to 5 store 10,
// 10, 5, 5, 2 and 1 numbers per joint of a vertex. Source: Le and Lewis 2019 (Direct Delta Mush
// Skinning and Variants); Kalentchouk and Hutchinson 2021 (enhanced).
#pragma once

#include "core/base/aligned.h"
#include "core/base/status.h"
#include "core/deform/ddm/ddm_kernel.h"
#include "core/deform/ddm/ddm_moments.h"
#include "core/deform/ddm/ddm_params.h"
#include "core/deform/method/method.h"

namespace sinew {

// Bound data and evaluation of both forms. Immutable; Run is thread-safe. Lengths are rig units
// relative to the layout's centre. A pair is a block of 16 vertices and one of its bindings.
struct DdmTables {
  BlockJoints joints;  // the pairs
  AlignedVector<float>
      moments;  // [pairs][fields][16] (see DdmTable); variant 4 [fields][pairs][16]
  // [B][3][16] sum of psi; variant 4: smoothed rest points relative to the layout's centre; variant
  // 5: empty.
  AlignedVector<float> centroid;
  AlignedVector<float> fit;  // [B][kDdmFitFields][16] of variant 1
  // Slopes of variants 4 and 5, see surface_slopes.h, or empty: of the moments
  // [fields][pairs][2][16], and of the centroids [B][2][3][16].
  AlignedVector<float> slopes, centre_slopes;
  std::uint32_t bindings = 0, variant = 0, pop_guard = 1;  // 1: variant 0 is guarded
  float alpha = 0;                                         // > 0: one more field
  float dropped = 0;  // largest influence mass dropped by truncation at a vertex
  float radius = 0;   // smoothing radius in edges

  // kInvalidArgument: a smoothing radius of more than about 1,000 edges. kCancelled.
  static absl::StatusOr<DdmTables> Bind(const BindInput& input, const DdmParams& params,
                                        const DdmBindOptions& options, Task& task);
  // Errors of Bind, and kResourceExhausted: see BindInput::task.
  static absl::StatusOr<BindCost> Cost(const BindInput& input, const DdmParams& params);
  // Whether a variant carries normals: those that blend motions by smoothed weights. The others fit
  // a rotation to moments, whose slopes would triple the table: reading those alone takes as long
  // as recomputing normals.
  static constexpr bool Carries(std::uint32_t variant) { return variant >= 4; }
  // The enhanced form lacks variants 1 and 5.
  static bool HasVariant(std::uint32_t variant, bool enhanced);
  // kInvalidArgument: a variant that the form lacks, or steps too long for explicit smoothing. The
  // message names `method`.
  static absl::Status Validate(const DdmParams& params, std::string_view method, bool enhanced);
  // Validates loaded tables. enhanced: variants without enhanced form are rejected too. kDataLoss.
  absl::Status Check(const BlockLayout& layout, std::size_t binding_count, bool enhanced) const;
  // One frame; cannot fail after Check. enhanced: moments are rotated by the joints' rotations,
  // points moved by their full transforms.
  void Run(const StageFrame& frame, bool enhanced) const;
  StageFacts Facts(std::string_view method, bool enhanced) const;
  std::vector<BindStatistic> Statistics() const;

  std::size_t fields() const;  // numbers per pair and lane
  // Offset of a row of 16 lanes.
  std::size_t Place(std::size_t pair, std::size_t field) const;
  std::size_t blocks() const { return joints.offset.empty() ? 0 : joints.offset.size() - 1; }
  DdmTable view() const { return {moments.data(), fields()}; }

  // Table names of saved data; changing one needs a new kVersion.
  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit, const TableSizes& rig = {}) {
    BlockJoints::Fields(self.joints, visit, rig);
    visit("moments", self.moments, rule::Size(self.joints.pairs() * self.fields() * kLanes),
          rule::Finite());
    visit("centroid", self.centroid, rule::Size((self.variant == 5 ? 0 : 3) * rig.lanes),
          rule::Finite());
    visit("fit", self.fit, rule::Size((self.variant == 1 ? kDdmFitFields : 0) * rig.lanes),
          rule::Finite());
    visit("slopes", self.slopes,
          rule::SizeOrEmpty{Carries(self.variant) ? 2 * self.moments.size() : 0}, rule::Finite());
    visit("centre_slopes", self.centre_slopes,
          rule::Size(self.slopes.empty() ? 0 : 2 * self.centroid.size()), rule::Finite());
    visit("bindings", self.bindings, rule::Equals{rig.bindings});
    visit("variant", self.variant, rule::Within{0, 5});
    visit("pop_guard", self.pop_guard, rule::Within{0, 1});
    visit("alpha", self.alpha, rule::Within{0, 1});
    visit("dropped", self.dropped, rule::Finite());
    visit("radius", self.radius, rule::Finite());
  }

 private:
  // Variants 2 and 3; 0 and 1; 4 and 5.
  void RunBlended(const StageFrame& frame, std::span<DdmJoint> poses) const;
  void RunFitted(const StageFrame& frame, std::span<DdmJoint> poses) const;
  void RunWeights(const StageFrame& frame, bool enhanced) const;
};

// Either form as a method, by its parameters.
template <class P>
struct DdmMethod : MethodOf<DdmMethod<P>, P> {
  static constexpr bool kEnhanced = std::is_same_v<P, EnhancedDdmParams>;
  static constexpr std::string_view kSummary =
      kEnhanced
          ? "Enhanced Direct Delta Mush: like ddm for joints that also stretch, squash and shear."
          : "Direct Delta Mush: smooth bends even from rigid weights, for rigs whose joints only "
            "rotate.";
  static constexpr std::string_view kPaper =
      kEnhanced ? "Kalentchouk, Hutchinson 2021" : "Le, Lewis 2019";
  static constexpr int kVersion = 8;
  static constexpr std::string_view kCostClass = "13 x";

  DdmTables tables;

  static absl::Status Validate(const P& params) {
    return DdmTables::Validate(params, P::kName, kEnhanced);
  }
  static constexpr bool Carries(const P& params) { return DdmTables::Carries(params.variant); }
  static absl::StatusOr<BindCost> Cost(const BindInput& input, const P& params) {
    return DdmTables::Cost(input, params);
  }
  static absl::StatusOr<DdmMethod> Bind(const BindInput& input, const P& params, Task& task) {
    SINEW_RETURN_IF_ERROR(Validate(params));
    DdmMethod method;
    SINEW_ASSIGN_OR_RETURN(method.tables, DdmTables::Bind(input, params, {}, task));
    return method;
  }
  StageFacts Facts() const { return tables.Facts(P::kName, kEnhanced); }
  absl::Status Check(const BlockLayout& layout, std::size_t bindings) const {
    return tables.Check(layout, bindings, kEnhanced);
  }
  void Run(const StageFrame& frame) const { tables.Run(frame, kEnhanced); }
  std::vector<BindStatistic> Statistics() const { return tables.Statistics(); }

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit, const TableSizes& rig = {}) {
    DdmTables::Fields(self.tables, visit, rig);
  }
};

using Ddm = DdmMethod<DdmParams>;
using EnhancedDdm = DdmMethod<EnhancedDdmParams>;

}  // namespace sinew
