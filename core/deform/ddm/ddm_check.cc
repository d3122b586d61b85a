#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/base/status.h"
#include "core/deform/ddm/ddm.h"
#include "core/deform/ddm/ddm_kernel.h"
#include "core/deform/ddm/ddm_storage.h"
#include "core/simd/half.h"

namespace sinew {
namespace {

absl::Status Damaged(std::string_view what, std::size_t got, std::size_t need) {
  return absl::DataLossError(
      absl::StrCat("bound data: ", AbslView(what), ": got ", got, ", need ", need));
}

template <class Values>
absl::Status CheckSize(std::string_view what, const Values& values, std::size_t need) {
  return values.size() == need ? absl::OkStatus() : Damaged(what, values.size(), need);
}

template <class Values>
bool AllFinite(const Values& values) {
  return std::all_of(std::begin(values), std::end(values),
                     [](float v) { return std::isfinite(v); });
}

}  // namespace

absl::Status DdmTables::Check(const BlockLayout& layout, std::size_t binding_count,
                              bool enhanced) const {
  if (bindings != binding_count) return Damaged("bindings", bindings, binding_count);
  SINEW_RETURN_IF_ERROR(CheckBlockJoints(layout, joints, binding_count, "ddm"));
  if (!(alpha >= 0 && alpha <= 1)) {
    return absl::DataLossError(absl::StrCat("bound data: alpha: got ", alpha, ", need 0 to 1"));
  }
  if (!HasVariant(variant, enhanced)) {
    return absl::DataLossError(absl::StrCat("bound data: variant: got ", variant, ", need ",
                                            enhanced ? "0, 2, 3 or 4" : "0 to 5"));
  }
  if (half > 1) return Damaged("half", half, 1);
  if (pop_guard > 1) return Damaged("pop_guard", pop_guard, 1);
  if (widest != WidestBlock(joints)) return Damaged("widest", widest, WidestBlock(joints));
  const std::size_t values = joints.pairs() * fields() * kLanes;
  const std::size_t points = layout.blocks() * kLanes;
  SINEW_RETURN_IF_ERROR(CheckSize("moments", moments, half != 0 ? 0 : values));
  SINEW_RETURN_IF_ERROR(CheckSize("halves", halves, half != 0 ? values : 0));
  SINEW_RETURN_IF_ERROR(CheckSize("units", units, half != 0 ? joints.pairs() * groups() : 0));
  SINEW_RETURN_IF_ERROR(CheckSize("centroid", centroid, variant == 5 ? 0 : points * 3));
  SINEW_RETURN_IF_ERROR(CheckSize("fit", fit, variant == 1 ? points * kDdmFitFields : 0));
  const float numbers[3] = {dropped, storage_error, radius};
  if (!AllFinite(moments) || !AllFinite(centroid) || !AllFinite(fit) || !AllFinite(units) ||
      !AllFinite(numbers)) {
    return absl::DataLossError("bound data: ddm: a value is not finite");
  }
  for (const std::uint16_t value : halves) {
    if ((value & kHalfMagnitude) > kHalfOne) {
      return absl::DataLossError("bound data: ddm: a half is outside -1 to 1");
    }
  }
  return absl::OkStatus();
}

}  // namespace sinew
