#include "client/cli/character/read_options.h"

#include <absl/strings/str_cat.h>

#include <vector>

#include "client/bake/character/import_warnings.h"
#include "core/base/counted_text.h"
#include "core/base/status.h"

namespace sinew::cli {

void AddStrictOption(OptionSet& set, bake::ReadOptions& options) {
  set.AddFlag("--strict", options.strict,
              "Fail, before anything is written or sent, if the importer has warnings");
}

void AddReadOptions(OptionSet& set, bake::ReadOptions& options) {
  set.AddText("--muscles", options.muscles,
              "Muscles that replace those of FILE; a .json file, see `sinew help muscles`");
  set.AddChoice("--unweighted", options.unweighted, bake::UnweightedNames(),
                "Vertices without weights: refuse the file, move them with the root joint or like "
                "the nearest vertex, or keep them still");
  AddStrictOption(set, options);
}

absl::StatusOr<bake::CharacterFile> ReadAndWarn(const Context& context, const std::string& file,
                                                const bake::ReadOptions& options) {
  SINEW_ASSIGN_OR_RETURN(bake::CharacterFile character, bake::ReadCharacter(file, options));
  const std::vector<std::string> lines = bake::ShownWarnings(character);
  for (const std::string& line : lines) {
    const bool has_more = &line == &lines.back() && lines.size() > bake::kMostWarnings;
    has_more ? context.PrintWarning(line + "; `sinew inspect FILE` lists all") : context.Warn(line);
  }
  const std::size_t count = bake::ImportWarnings(character).size();
  if (count == 0) return character;
  const std::string number = absl::StrCat(character.label, ": ", CountedText(count, "warning"));
  if (options.strict) {
    return absl::InvalidArgumentError(absl::StrCat(number, ", --strict allows none"));
  }
  context.Note(number);
  return character;
}

}  // namespace sinew::cli
