// rig_lint.h - what is doubtful or wrong in a rig, whatever file it came from.
#pragma once

#include <string>
#include <vector>

#include "sinew/rig_data.h"

namespace sinew::cli {

struct LintFinding {
  enum class Severity : std::uint8_t {
    kInfo,     // noteworthy
    kWarning,  // will show in the result
    kError,    // a server refuses it
  };
  Severity severity = Severity::kInfo;
  std::string where;  // "mesh 'Body'", or empty: the rig
  std::string what;
};

const char* SeverityName(LintFinding::Severity severity);  // "info", "warning" or "error"

// Checks sizes, indices, values and weights; then faces without area in their indices, vertices no
// face uses, seams whose two sides have different weights, mirrored bind matrices, and units that
// do not fit. Safe for any arrays. Cost O(size of the rig).
std::vector<LintFinding> Lint(const client::RigData& rig);

}  // namespace sinew::cli
