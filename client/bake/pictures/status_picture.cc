#include "client/bake/pictures/status_picture.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_replace.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "client/bake/base/quantity.h"

namespace sinew::bake {
namespace {

struct StateLook {
  const char *name, *colour_name, *what;
  client::Rgb colour;
};

// By number; up to "excluded" in Vaillant's colours.
constexpr std::array<StateLook, client::kVertexStatus + 1> kLooks = {{
    {"not displaced", "yellow", "march: was on its surface already", {240, 205, 40}},
    {"fitted", "green", "march: moved onto it", {60, 170, 70}},
    {"gradient divergence", "red", "march: stopped where another part is met", {205, 40, 35}},
    {"potential pit", "violet", "march: would be led off the surface", {140, 60, 165}},
    {"iteration limit", "blue", "march: off its surface after the last step", {45, 85, 205}},
    {"zero gradient", "black", "march: no direction to move in", {18, 18, 20}},
    {"excluded", "white", "excluded at bind", {246, 246, 246}},
    {"unmoved", "grey", "was on its own level already, or is as thick as at rest", {150, 150, 155}},
    {"at rest level", "cyan", "moved to its own level", {130, 225, 215}},
    {"contact", "orange", "stopped where it meets another limb", {240, 115, 30}},
    {"move limit", "olive", "off its level at the limit of its move", {125, 130, 30}},
    {"unknown", "pink", "of a newer server", {255, 0, 255}},
}};

std::size_t IndexOf(client::VertexStatus state) {
  return std::min<std::size_t>(static_cast<std::size_t>(state), client::kVertexStatus);
}

}  // namespace

StatusCounts CountVertexStatus(std::span<const client::VertexStatus> vertex_status) {
  StatusCounts counts{};
  for (const client::VertexStatus state : vertex_status) ++counts[IndexOf(state)];
  return counts;
}

void ColourByStatus(std::span<const client::VertexStatus> vertex_status, PosedPanel& panel) {
  panel.colours.clear();
  panel.colours.reserve(vertex_status.size() * 3);
  for (const client::VertexStatus state : vertex_status) {
    for (const std::uint8_t c : kLooks[IndexOf(state)].colour) {
      panel.colours.push_back(static_cast<float>(c) / 255);
    }
  }
  panel.swatches.clear();
  const StatusCounts counts = CountVertexStatus(vertex_status);
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (counts[k] == 0) continue;
    panel.swatches.push_back(
        {kLooks[k].colour, absl::StrCat(kLooks[k].name, " ", CountText(counts[k]))});
  }
}

nlohmann::ordered_json VertexStatusJson(const StatusCounts& counts) {
  nlohmann::ordered_json json;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (k >= client::kVertexStatus && counts[k] == 0) continue;
    json[absl::StrReplaceAll(kLooks[k].name, {{" ", "_"}})] = counts[k];
  }
  return json;
}

std::string VertexStatusHelp() {
  std::string text;
  for (std::size_t k = 0; k < client::kVertexStatus; ++k) {
    const StateLook& look = kLooks[k];
    absl::StrAppend(&text, "  ",
                    absl::StrFormat("%-21s%-8s%s\n", look.name, look.colour_name, look.what));
  }
  return text;
}

}  // namespace sinew::bake
