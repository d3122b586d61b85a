// problems.h - looks for what an import reports.
#pragma once

#include <string>

#include "sinew/import.h"

namespace sinew::testing {

// Whether a problem of this severity and reason has `text` in its message or its field.
inline bool HasProblem(const client::ImportedScene& scene, client::Severity severity,
                       const std::string& text, const std::string& reason = {}) {
  for (const client::Problem& problem : scene.problems) {
    if (problem.severity == severity && problem.reason == reason &&
        (problem.message + "\n" + problem.field).find(text) != std::string::npos) {
      return true;
    }
  }
  return false;
}

}  // namespace sinew::testing
