#include "client/cli/character/import_warnings.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>

#include <utility>

#include "core/base/counted_text.h"
#include "core/base/status.h"

namespace sinew::cli {

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
  lines.push_back(
      absl::StrCat(character.label, ": and ", more, " more; `sinew inspect FILE` lists all"));
  return lines;
}

absl::StatusOr<CharacterFile> ReadAndWarn(const Context& context, const std::string& file,
                                          const ReadOptions& options) {
  SINEW_ASSIGN_OR_RETURN(CharacterFile character, ReadCharacter(file, options));
  for (const std::string& line : ShownWarnings(character)) context.Warn(line);
  const std::size_t count = ImportWarnings(character).size();
  if (count == 0) return character;
  const std::string number = absl::StrCat(character.label, ": ", CountedText(count, "warning"));
  if (options.strict) {
    return absl::InvalidArgumentError(absl::StrCat(number, ", --strict allows none"));
  }
  context.Note(number);
  return character;
}

}  // namespace sinew::cli
