// compare_report.h - figures of a comparison as a table and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "client/bake/character/character_file.h"
#include "sinew/client.h"

namespace sinew::cli {

// One row of a comparison.
struct ComparedMethod {
  std::string label;
  client::TargetMetrics metrics;
};

// One line per method, the worst of its frames, with a line above that says so.
std::string CompareText(const bake::CharacterFile& character, const client::ClipData& clip,
                        const std::vector<ComparedMethod>& methods);

// The summary and every frame. Frames carry the numbers of the clip; what is absent is null.
nlohmann::ordered_json CompareJson(const bake::CharacterFile& character,
                                   const client::ClipData& clip,
                                   const std::vector<ComparedMethod>& methods);

// Position in the clip of the frame that some method distorts most (edges, root mean square).
std::size_t WorstFrame(const std::vector<ComparedMethod>& methods);

}  // namespace sinew::cli
