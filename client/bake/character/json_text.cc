#include "client/bake/character/json_text.h"

#include <algorithm>

#include "client/import/json_text.h"
#include "client/import/valid_text.h"
#include "core/base/status.h"

namespace sinew::bake {
namespace {

void MakeValid(nlohmann::ordered_json& json) {
  if (json.is_string()) json = client::ValidText(json.get_ref<const std::string&>());
  if (json.is_structured()) std::ranges::for_each(json, MakeValid);
}

}  // namespace

absl::StatusOr<nlohmann::json> ParseJson(std::string_view text) {
  SINEW_RETURN_IF_ERROR(client::CheckJson(text, /*allow_comments=*/true));
  return nlohmann::json::parse(text.begin(), text.end(), nullptr, true, /*ignore_comments=*/true);
}

std::string JsonText(nlohmann::ordered_json json, int indent) {
  MakeValid(json);
  return json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace sinew::bake
