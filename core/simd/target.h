// target.h - selects the instruction set of the kernels.
//
// All levels compute the same bits: a kernel is written once over packs of 16 lanes with explicit
// fused multiply-add, and the scalar level runs the same code with std::fma. Levels without fused
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

// The levels this machine supports, scalar first.
std::vector<Isa> SupportedIsas();

// Makes every kernel use this level, process-wide; call it before evaluating. kAuto: the best
// supported level. kInvalidArgument: not supported by this machine.
absl::Status ForceIsa(Isa isa);

Isa ActiveIsa();

}  // namespace sinew
