#include "client/bake/character/json_text.h"

#include "client/import/json_text.h"
#include "core/base/status.h"

namespace sinew::bake {

absl::StatusOr<nlohmann::json> ParseJson(std::string_view text) {
  SINEW_RETURN_IF_ERROR(client::CheckJson(text, /*allow_comments=*/true));
  return nlohmann::json::parse(text.begin(), text.end(), nullptr, true, /*ignore_comments=*/true);
}

}  // namespace sinew::bake
