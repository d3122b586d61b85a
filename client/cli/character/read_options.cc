#include "client/cli/character/read_options.h"

namespace sinew::cli {

void AddStrictOption(OptionSet& set, ReadOptions& options) {
  set.AddFlag("--strict", options.strict,
              "Fail, before anything is written or sent, if the importer has warnings");
}

void AddReadOptions(OptionSet& set, ReadOptions& options) {
  set.AddText("--muscles", options.muscles,
              "Muscles that replace those of FILE; a .json file, see `sinew help muscles`");
  set.AddChoice("--unweighted", options.unweighted, UnweightedNames(),
                "Vertices without weights: refuse the file, move them with the root joint or like "
                "the nearest vertex, or keep them still");
  AddStrictOption(set, options);
}

}  // namespace sinew::cli
