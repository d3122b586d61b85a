// problem.h - what is doubtful about an input that is accepted all the same.
#pragma once

#include <cstdint>
#include <string>

namespace sinew {

enum class Severity : std::uint8_t { kInfo, kWarning, kError };

struct Problem {
  Severity severity = Severity::kWarning;
  std::string field;    // path from the input: "stages[1].ddm.lambda", "muscles[3]", "joints"
  std::string message;  // what was found and why it matters, without the field

  friend bool operator==(const Problem&, const Problem&) = default;
};

}  // namespace sinew
