// target.h - which instruction set the kernels run on.
//
// All levels compute the same bits: a kernel is written once over packs of 16 lanes with explicit
// fused multiply-add, and the scalar level runs the same text with std::fma. Levels without fused
// multiply-add are not offered.
#pragma once

#include <absl/status/status.h>

#include <string_view>
#include <vector>

namespace sinew {

enum class Isa { kAuto, kScalar, kAvx2, kAvx512, kNeon };

std::string_view IsaName(Isa isa);
// "auto", "scalar", "avx2", "avx512" or "neon"; kInvalidArgument otherwise.
absl::Status ParseIsa(std::string_view name, Isa& isa);

// The levels this machine can run, scalar first.
std::vector<Isa> SupportedIsas();

// Makes every kernel use this level from now on, process-wide; call it before evaluating. kAuto:
// the best there is. kInvalidArgument: this machine cannot run it.
absl::Status ForceIsa(Isa isa);

// The level in use.
Isa ActiveIsa();

}  // namespace sinew
