#include "core/simd/target.h"

#include <hwy/targets.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "core/base/status.h"

namespace sinew {
namespace {

struct Level {
  Isa isa;
  std::string_view name;
  std::int64_t targets;  // Highway's target bits, which differ between architectures
};

constexpr std::int64_t kScalarTargets = HWY_EMU128 | HWY_SCALAR;

constexpr std::array kLevels = {
    Level{Isa::kScalar, "scalar", kScalarTargets}, Level{Isa::kAvx2, "avx2", HWY_AVX2},
    Level{Isa::kAvx512, "avx512", HWY_AVX3}, Level{Isa::kNeon, "neon", HWY_NEON}};

std::int64_t MachineTargets() {
  hwy::SetSupportedTargetsForTest(0);
  return hwy::SupportedTargets();
}

bool Runs(const Level& level, std::int64_t machine) {
  return level.isa == Isa::kScalar || (level.targets & machine) != 0;
}

}  // namespace

std::string_view IsaName(Isa isa) {
  for (const Level& level : kLevels) {
    if (level.isa == isa) return level.name;
  }
  return "auto";
}

absl::Status ParseIsa(std::string_view name, Isa& isa) {
  for (const Isa candidate : {Isa::kAuto, Isa::kScalar, Isa::kAvx2, Isa::kAvx512, Isa::kNeon}) {
    if (IsaName(candidate) == name) {
      isa = candidate;
      return absl::OkStatus();
    }
  }
  return InvalidArgument("isa: got '", name, "', need auto, scalar, avx2, avx512 or neon");
}

std::vector<Isa> SupportedIsas() {
  const Isa active = ActiveIsa();
  const std::int64_t machine = MachineTargets();
  std::vector<Isa> isas;
  for (const Level& level : kLevels) {
    if (Runs(level, machine)) isas.push_back(level.isa);
  }
  (void)ForceIsa(active);
  return isas;
}

absl::Status ForceIsa(Isa isa) {
  const std::int64_t machine = MachineTargets();
  std::int64_t allowed = kScalarTargets;
  for (const Level& level : kLevels) {
    if (isa == Isa::kAuto ? Runs(level, machine) : level.isa == isa) {
      if (!Runs(level, machine)) {
        return InvalidArgument("isa: this machine does not support ", level.name);
      }
      allowed |= level.targets & machine;
    }
  }
  hwy::SetSupportedTargetsForTest(allowed);
  hwy::GetChosenTarget().Update(allowed);
  return absl::OkStatus();
}

Isa ActiveIsa() {
  const std::int64_t targets = hwy::SupportedTargets();
  Isa active = Isa::kScalar;
  for (const Level& level : kLevels) {
    if (Runs(level, targets)) active = level.isa;
  }
  return active;
}

}  // namespace sinew
