#include "client/bake/character/import_warnings.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>

namespace sinew::bake {

std::vector<std::string> ImportWarnings(const CharacterFile& character) {
  std::vector<std::string> lines;
  for (const client::Problem& problem : character.problems) {
    if (problem.severity == client::Severity::kInfo) continue;
    const std::string line = absl::StrCat(
        character.label, ": ", problem.field, problem.field.empty() ? "" : ": ",
        problem.reason == client::kLostReason ? "not imported: " : "", problem.message);
    lines.push_back(absl::StrReplaceAll(line, {{"\n", "; "}}));
  }
  return lines;
}

std::vector<std::string> ShownWarnings(const CharacterFile& character) {
  std::vector<std::string> lines = ImportWarnings(character);
  if (lines.size() <= kMostWarnings) return lines;
  const std::size_t more = lines.size() - kMostWarnings;
  lines.resize(kMostWarnings);
  lines.push_back(absl::StrCat(character.label, ": and ", more, " more"));
  return lines;
}

}  // namespace sinew::bake
