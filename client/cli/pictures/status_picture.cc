#include "client/cli/pictures/status_picture.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_replace.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "client/cli/text/quantity.h"

namespace sinew::cli {
namespace {

struct StateLook {
  const char *name, *colour_name, *what;
  client::Rgb colour;
};

// By number; Vaillant's colours.
constexpr std::array<StateLook, client::kVertexStates + 1> kLooks = {{
    {"not displaced", "yellow", "was on its surface already", {240, 205, 40}},
    {"fitted", "green", "moved onto it", {60, 170, 70}},
    {"contact", "red", "stopped where another part is met", {205, 40, 35}},
    {"pit", "violet", "stopped where the field leads away", {140, 60, 165}},
    {"out of steps", "blue", "iterations=... did not suffice", {45, 85, 205}},
    {"no gradient", "black", "no direction to move in", {18, 18, 20}},
    {"excluded", "white", "left out at bind", {246, 246, 246}},
    {"unknown", "pink", "of a newer server", {255, 0, 255}},
}};

std::size_t IndexOf(client::VertexState state) {
  return std::min<std::size_t>(static_cast<std::size_t>(state), client::kVertexStates);
}

}  // namespace

StateCounts CountStates(std::span<const client::VertexState> states) {
  StateCounts counts{};
  for (const client::VertexState state : states) ++counts[IndexOf(state)];
  return counts;
}

void ColourByState(std::span<const client::VertexState> states, PosedPanel& panel) {
  panel.colours.clear();
  panel.colours.reserve(states.size() * 3);
  for (const client::VertexState state : states) {
    for (const std::uint8_t c : kLooks[IndexOf(state)].colour) {
      panel.colours.push_back(static_cast<float>(c) / 255);
    }
  }
  panel.swatches.clear();
  const StateCounts counts = CountStates(states);
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (counts[k] == 0) continue;
    panel.swatches.push_back(
        {kLooks[k].colour, absl::StrCat(kLooks[k].name, " ", CountText(counts[k]))});
  }
}

nlohmann::ordered_json StatesJson(const StateCounts& counts) {
  nlohmann::ordered_json json;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (k >= client::kVertexStates && counts[k] == 0) continue;
    json[absl::StrReplaceAll(kLooks[k].name, {{" ", "_"}})] = counts[k];
  }
  return json;
}

std::string StatesHelp() {
  std::string text;
  for (std::size_t k = 0; k < client::kVertexStates; ++k) {
    const StateLook& look = kLooks[k];
    absl::StrAppend(&text, "  ",
                    absl::StrFormat("%-15s%-8s%s\n", look.name, look.colour_name, look.what));
  }
  return text;
}

}  // namespace sinew::cli
