// sinew methods: every deformation method with its parameters.
#include <absl/algorithm/container.h>
#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include <nlohmann/json.hpp>
#include <set>

#include "client/bake/base/quantity.h"
#include "client/cli/base/printable.h"
#include "client/cli/base/table.h"
#include "client/cli/commands/commands.h"
#include "core/base/closest_names.h"
#include "core/base/status.h"

namespace sinew::cli {
namespace {

std::string Range(const client::Parameter& parameter) {
  if (!parameter.choices.empty()) return absl::StrJoin(parameter.choices, ", ");
  if (!parameter.minimum && !parameter.maximum) return parameter.type;
  return absl::StrCat(parameter.minimum ? bake::NumberText(*parameter.minimum) : "", "..",
                      parameter.maximum ? bake::NumberText(*parameter.maximum) : "");
}

template <class T>
Cell JsonOnly(const std::optional<T>& value) {
  return value ? Cell(*value, "") : Cell();
}

// `text`, which is "-" for people if it is empty.
Cell OrDash(const std::string& text) {
  return {text, text.empty() ? "-" : text};
}

Table Parameters(const client::Method& method) {
  Table table({{"  parameter", "name"},
               {"", "type"},
               {"default", "default"},
               {"range"},
               {"unit", "unit"},
               {"what", "description"},
               {"", "minimum"},
               {"", "maximum"},
               {"", "choices"}});
  for (const client::Parameter& parameter : method.parameters) {
    table.Add({Cell(parameter.name, "  " + parameter.name), parameter.type,
               OrDash(parameter.default_value), Range(parameter), OrDash(parameter.unit),
               parameter.description, JsonOnly(parameter.minimum), JsonOnly(parameter.maximum),
               parameter.choices.empty() ? Cell() : Cell(parameter.choices, "")});
  }
  return table;
}

Table Presets(const client::MethodList& list) {
  Table table({{"preset", "name"}, {"recipe", "recipe_text"}, {"what", "summary"}});
  for (const client::Preset& preset : list.presets) {
    table.Add({preset.name, preset.recipe_text, preset.summary});
  }
  return table;
}

nlohmann::ordered_json MethodJson(const client::Method& method) {
  return {{"name", method.name},
          {"summary", method.summary},
          {"reads", method.reads},
          {"paper", method.paper},
          {"cost_class", method.cost_class},
          {"version", method.version},
          {"example", method.example},
          {"parameters", Parameters(method).Json()}};
}

std::string MethodText(const client::Method& method) {
  std::string text = absl::StrCat(Printable(method.name), ": ", Printable(method.summary), "\n");
  if (!method.paper.empty()) absl::StrAppend(&text, "  paper: ", Printable(method.paper), "\n");
  absl::StrAppend(&text, "  cost: ", Printable(method.cost_class), "; reads ",
                  Printable(method.reads), " positions; try: ", Printable(method.example), "\n");
  return method.parameters.empty() ? text : text + Parameters(method).Text();
}

std::string ListText(const client::MethodList& list) {
  std::string text;
  for (const client::Method& method : list.methods) {
    absl::StrAppend(&text, text.empty() ? "" : "\n", MethodText(method));
  }
  return list.presets.empty() ? text : absl::StrCat(text, "\n", Presets(list).Text());
}

// The method or preset called `name`, and the methods of a preset's stages.
absl::Status KeepOnly(const std::string& name, client::MethodList& list) {
  std::vector<std::string> names;
  std::set<std::string> wanted = {name};
  for (const client::Method& method : list.methods) names.push_back(method.name);
  for (const client::Preset& preset : list.presets) {
    if (!absl::c_linear_search(names, preset.name)) names.push_back(preset.name);
    if (preset.name != name) continue;
    for (const absl::string_view stage : absl::StrSplit(preset.recipe_text, '|')) {
      const absl::string_view text = absl::StripAsciiWhitespace(stage);
      wanted.insert(std::string(text.substr(0, text.find('('))));
    }
  }
  std::erase_if(list.presets, [&](const client::Preset& preset) { return preset.name != name; });
  std::erase_if(list.methods,
                [&](const client::Method& method) { return !wanted.contains(method.name); });
  if (!list.methods.empty() || !list.presets.empty()) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat("NAME: got \"", name, "\", need one of ",
                                          absl::StrJoin(names, ", "), DidYouMean(name, names)));
}

absl::Status Methods(Context& context, const std::string& name) {
  SINEW_ASSIGN_OR_RETURN(const client::Client connection, context.ConnectIfNamed());
  SINEW_ASSIGN_OR_RETURN(client::MethodList list, connection.ListMethods(context.call()));
  if (!name.empty()) SINEW_RETURN_IF_ERROR(KeepOnly(name, list));
  nlohmann::ordered_json methods = nlohmann::ordered_json::array();
  for (const client::Method& method : list.methods) methods.push_back(MethodJson(method));
  context.PrintResult({{"methods", methods}, {"presets", Presets(list).Json()}}, ListText(list));
  return absl::OkStatus();
}

}  // namespace

void AddMethods(CommandList& commands) {
  auto [set, name] = commands.Add<std::string>(
      "methods", "Every deformation method with parameters, units, ranges and defaults", Methods);
  set.AddText("NAME", name, "Only this method, or this preset with the methods of its stages");
  set.SetFooter(
      R"(Lists the methods built into this program; with --server those of a server.
Parameters follow the name in parentheses: 'ddm(iterations=8, lambda=2)', 'ddm(radius=0.03)'.
Text with spaces needs double quotes: 'lbs | delta_mush(map="soft skin")'; "" is the empty text.
Examples:
  sinew methods
  sinew methods ddm --json
  sinew methods implicit_skinning
See also: sinew bind, sinew render (several methods side by side).)");
}

}  // namespace sinew::cli
