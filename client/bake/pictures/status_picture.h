// status_picture.h - vertex status as colours, counts and JSON.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "client/bake/pictures/posed_picture.h"
#include "sinew/messages.h"

namespace sinew::bake {

// Vertices of each status; the last counts numbers that this version does not know.
using StatusCounts = std::array<std::uint64_t, client::kVertexStatus + 1>;
StatusCounts CountVertexStatus(std::span<const client::VertexStatus> vertex_status);

// Colours each vertex by its state, with a swatch and a count for each state there is. States of
// the march have the colours of Vaillant et al. 2013.
void ColourByStatus(std::span<const client::VertexStatus> vertex_status, PosedPanel& panel);

// {"not_displaced": 12, ...}, every state: the legend's names with '_' for blanks.
nlohmann::ordered_json VertexStatusJson(const StatusCounts& counts);

// A line for each state: its name, colour and meaning.
std::string VertexStatusHelp();

}  // namespace sinew::bake
