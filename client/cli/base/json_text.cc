#include "client/cli/base/json_text.h"

#include <absl/strings/str_cat.h>

#include <string>

#include "client/import/json_text.h"

namespace sinew::cli {
namespace {

using Json = nlohmann::json;

void Follow(Json::parse_event_t event, const Json& parsed, client::KeyWatch& watch) {
  using enum Json::parse_event_t;
  switch (event) {
    case key:
      return watch.Key(parsed.get<std::string>());
    case object_start:
    case array_start:
      return watch.Open(event == array_start);
    case object_end:
    case array_end:
      return watch.Close();
    case value:
      return watch.Value();
  }
}

}  // namespace

absl::StatusOr<nlohmann::json> ParseJson(std::string_view text) {
  client::KeyWatch watch;
  const auto see = [&](int, Json::parse_event_t event, const Json& parsed) {
    Follow(event, parsed, watch);
    return true;
  };
  try {
    Json json = Json::parse(text.begin(), text.end(), see, true, true);
    if (watch.twice().empty()) return json;
  } catch (const Json::parse_error& error) {
    return absl::InvalidArgumentError(
        absl::StrCat(client::PlaceInText(text, error.byte), ": not JSON"));
  } catch (const Json::exception&) {  // a number too large, say
    return absl::InvalidArgumentError("not JSON: a value is out of range");
  }
  return absl::AlreadyExistsError(absl::StrCat(watch.twice(), ": given twice, need it once"));
}

}  // namespace sinew::cli
