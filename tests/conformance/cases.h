// cases.h - what every client must reproduce: recipes on rigs, with results in double and in bits.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/types.h"
#include "tests/conformance/case_rigs.h"
#include "tests/conformance/double_reference.h"

namespace sinew::conformance {

// How near float results are to those in double.
struct Nearness {
  double distance = 0;  // in units of the rig
  double share = 1;     // of the vertices of a frame, at least
  std::string origin;   // of both numbers
};

struct CaseFrame {
  std::vector<Vec3f> positions;    // of the core
  std::optional<Points> expected;  // in double
};

struct Case {
  std::string name;  // RIG.NUMBER-METHODS, unique
  std::string recipe;
  const CaseRig* rig = nullptr;
  std::string determinism_digest;  // as a session on this machine has it
  std::vector<CaseFrame> frames;
  std::vector<std::string> sources;  // of the reference, in tests/reference; empty = none
  std::string no_reference;          // why there is none; empty = there is one
  Nearness nearness;
  double measured = 0;  // largest distance of the core's results, over the `share` nearest vertices
};

// All cases, computed. `rigs` must outlive them.
//   kInternal: a method without a case, or a result that is not near its reference.
absl::StatusOr<std::vector<Case>> MakeCases(const std::vector<CaseRig>& rigs);

}  // namespace sinew::conformance
