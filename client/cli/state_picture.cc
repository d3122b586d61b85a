#include "client/cli/state_picture.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "client/cli/quantity.h"

namespace sinew::cli {
namespace {

struct StateLook {
  const char* name;  // in JSON
  const char* text;  // in legends
  client::Rgb colour;
};

// By number; Vaillant's colours.
constexpr std::array<StateLook, client::kVertexStates + 1> kLooks = {{
    {"not_displaced", "not displaced", {240, 205, 40}},
    {"fitted", "fitted", {60, 170, 70}},
    {"gradient_divergence", "contact (gradient divergence)", {205, 40, 35}},
    {"potential_pit", "potential pit", {140, 60, 165}},
    {"nb_iter_max", "out of steps", {45, 85, 205}},
    {"norm_grad_null", "no gradient", {18, 18, 20}},
    {"out_vert", "excluded at bind", {246, 246, 246}},
    {"unknown", "unknown state", {255, 0, 255}},
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
        {kLooks[k].colour, absl::StrCat(kLooks[k].text, " ", CountText(counts[k]))});
  }
}

nlohmann::ordered_json StatesJson(const StateCounts& counts) {
  nlohmann::ordered_json json;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (k < client::kVertexStates || counts[k] > 0) json[kLooks[k].name] = counts[k];
  }
  return json;
}

}  // namespace sinew::cli
