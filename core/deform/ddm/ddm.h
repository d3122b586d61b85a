// ddm.h - Direct Delta Mush: skinning as if the posed mesh were smoothed and its detail put back,
// without smoothing anything at run time; and its enhanced form, which keeps scale and shear of
// joints.
//
// Each vertex fits a rotation and a translation to what the pose does to its neighbourhood. The
// neighbourhood's moments under each joint are all a pose needs; binding computes them. Variant 0
// stores all ten. Source: Le and Lewis 2019 (Direct Delta Mush Skinning and Variants); Kalentchouk
// and Hutchinson 2021 (enhanced).
#pragma once

#include "core/base/aligned.h"
#include "core/deform/ddm/ddm_moments.h"
#include "core/deform/method.h"

namespace sinew {

// What both forms bind and run.
struct DdmTables {
  BlockJoints joints;
  AlignedVector<float>
      moments;  // [pairs][fields][16], fields as DdmField; each lane's omega sums to 1
  AlignedVector<float> centroid;  // [B][3][16] sum of psi
  std::uint32_t bindings = 0;
  float alpha = 0;  // > 0: 11 fields
  std::uint32_t pop_guard = 1;
  float dropped = 0;  // largest influence mass that truncation left out at a vertex

  // kInvalidArgument: a smoothing radius of more than about 1,000 edges. kCancelled.
  static absl::StatusOr<DdmTables> Bind(const BindInput& input, const DdmParams& params,
                                        const DdmBindOptions& options, Task& task);
  static absl::StatusOr<BindCost> Cost(const BindInput& input, const DdmParams& params);
  static absl::Status Validate(const DdmParams& params);
  absl::Status Check(const BlockLayout& layout, std::size_t binding_count) const;
  // enhanced: moments turn by the joints' rotations, points move by their full transforms.
  void Run(const StageFrame& frame, bool enhanced) const;
  StageFacts Facts(std::string_view method) const;
  std::size_t fields() const;

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit("joint_offset", self.joints.offset);
    visit("joint_entry", self.joints.entry);
    visit("moments", self.moments);
    visit("centroid", self.centroid);
    visit("bindings", self.bindings);
    visit("alpha", self.alpha);
    visit("pop_guard", self.pop_guard);
    visit("dropped", self.dropped);
  }
};

struct Ddm {
  using Params = DdmParams;
  static constexpr int kVersion = 1;
  static constexpr std::string_view kSummary =
      "Direct Delta Mush: smooth bends even from rigid weights; for rigs whose joints rotate.";
  static constexpr std::string_view kPaper = "Le, Lewis 2019";
  static constexpr std::string_view kCostClass = "10 x";

  DdmTables tables;

  static absl::Status Validate(const Params& p) { return DdmTables::Validate(p); }
  static absl::StatusOr<BindCost> Cost(const BindInput& input, const Params& p) {
    return DdmTables::Cost(input, p);
  }
  static absl::StatusOr<Ddm> Bind(const BindInput& input, const Params& params, Task& task);
  StageFacts Facts() const { return tables.Facts(Params::kName); }
  absl::Status Check(const BlockLayout& layout, std::size_t bindings) const {
    return tables.Check(layout, bindings);
  }
  void Run(const StageFrame& frame) const { tables.Run(frame, false); }

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    DdmTables::Fields(self.tables, visit);
  }
};

struct EnhancedDdm {
  using Params = EnhancedDdmParams;
  static constexpr int kVersion = 1;
  static constexpr std::string_view kSummary =
      "Enhanced Direct Delta Mush: as ddm, and joints may stretch, squash and shear.";
  static constexpr std::string_view kPaper = "Kalentchouk, Hutchinson 2021";
  static constexpr std::string_view kCostClass = "10 x";

  DdmTables tables;

  static absl::Status Validate(const Params& p) { return DdmTables::Validate(p); }
  static absl::StatusOr<BindCost> Cost(const BindInput& input, const Params& p) {
    return DdmTables::Cost(input, p);
  }
  static absl::StatusOr<EnhancedDdm> Bind(const BindInput& input, const Params& params, Task& task);
  StageFacts Facts() const { return tables.Facts(Params::kName); }
  absl::Status Check(const BlockLayout& layout, std::size_t bindings) const {
    return tables.Check(layout, bindings);
  }
  void Run(const StageFrame& frame) const { tables.Run(frame, true); }

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    DdmTables::Fields(self.tables, visit);
  }
};

}  // namespace sinew
