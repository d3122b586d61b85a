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

std::size_t WarnOfImport(const Context& context, const bake::CharacterFile& character) {
  const std::vector<std::string> lines = bake::ImportWarnings(character);
  for (std::size_t k = 0; k < lines.size(); ++k) {
    k < bake::kMostWarnings ? context.Warn(lines[k]) : context.KeepWarning(lines[k]);
  }
  if (lines.size() > bake::kMostWarnings) {
    context.PrintWarning(bake::ShownWarnings(character).back() +
                         "; `sinew inspect FILE` lists all");
  }
  return lines.size();
}

absl::StatusOr<bake::CharacterFile> ReadAndWarn(const Context& context, const std::string& file,
                                                const bake::ReadOptions& options) {
  SINEW_ASSIGN_OR_RETURN(bake::CharacterFile character, bake::ReadCharacter(file, options));
  const std::size_t count = WarnOfImport(context, character);
  if (count == 0) return character;
  const std::string number = absl::StrCat(character.label, ": ", CountedText(count, "warning"));
  if (options.strict) {
    return absl::InvalidArgumentError(absl::StrCat(number, ", --strict allows none"));
  }
  context.Note(number);
  return character;
}

}  // namespace sinew::cli
