#include "core/deform/ddm/ddm_kernel.h"

#include "core/simd/levels.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/deform/ddm/ddm_blend_kernel.cc"
#include <hwy/foreach_target.h>

#include "core/deform/ddm/ddm-inl.h"
#include "core/simd/pack-inl.h"
#include "core/simd/quaternion-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

template <bool kMatrices, bool kTurn>
HWY_INLINE void DdmBlendBlock(const DdmBlendKernelArgs& args, std::size_t b) {
  Pack rest[3], pc[3], arm[3], pivot_point[3];
  Load3(args.rest + 48 * b, rest);
  Load3(args.centroid + 48 * b, pc);
  LoadArm(args.in + 48 * b, rest, pc, arm);
  const std::uint32_t first = args.pair_offset[b], last = args.pair_offset[b + 1];
  const DdmJoint& pivot = args.joints[args.pair_entry[first]];
  Move(pivot.affine, rest, pivot_point);

  Pack q[3] = {Pack::Zero(), Pack::Zero(), Pack::Zero()};
  PackQuat blend = {Pack::Zero(), Pack::Zero(), Pack::Zero(), Pack::Zero()};
  for (std::uint32_t k = first; k < last; ++k) {
    const DdmJoint& joint = args.joints[args.pair_entry[k]];
    const TableRow row(args.table, k);
    Pack e[3];
    Move(joint.affine, rest, e);
    for (int r = 0; r < 3; ++r) e[r] = e[r] - pivot_point[r];
    Pack psi[3] = {row[kBlendPsi0], row[kBlendPsi1], row[kBlendPsi2]};
    const Pack omega = row[kBlendOmega];
    Pack turn = omega;
    if constexpr (kTurn) turn = row[kBlendTurn];
    if constexpr (kMatrices) {
      for (int r = 0; r < 3; ++r) psi[r] = MulAdd(turn, arm[r], psi[r]);
    } else {
      Add(Pack::Set(Sign(pivot.quaternion, joint.quaternion)) * turn, joint.quaternion, blend);
    }
    for (int r = 0; r < 3; ++r) q[r] = MulAdd(omega, e[r], q[r] + Row(joint.linear + 3 * r, psi));
  }
  float* out = args.out + 48 * b;
  if constexpr (kMatrices) {
    for (int r = 0; r < 3; ++r) (pivot_point[r] + q[r]).Store(out + 16 * r);
  } else {
    const Pack sign = Pack::Set(pivot.sign);
    const PackPoint turned = Rotate(blend, {sign * arm[0], sign * arm[1], sign * arm[2]});
    ((pivot_point[0] + q[0]) + turned.x).Store(out);
    ((pivot_point[1] + q[1]) + turned.y).Store(out + 16);
    ((pivot_point[2] + q[2]) + turned.z).Store(out + 32);
  }
}

template <bool kTurn>
void DdmBlendRange(const DdmBlendKernelArgs& args, std::size_t begin, std::size_t end) {
  for (std::size_t b = begin; b < end; ++b) {
    args.matrices ? DdmBlendBlock<true, kTurn>(args, b) : DdmBlendBlock<false, kTurn>(args, b);
  }
}

void DdmBlendBlocks(const DdmBlendKernelArgs& args, std::size_t begin, std::size_t end) {
  const bool turn = args.table.fields > kDdmBlendFields;
  turn ? DdmBlendRange<true>(args, begin, end) : DdmBlendRange<false>(args, begin, end);
}

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
SINEW_KERNEL(void, DdmBlendKernel,
             (const DdmBlendKernelArgs& args, std::size_t begin, std::size_t end), DdmBlendBlocks,
             (args, begin, end))
#endif
