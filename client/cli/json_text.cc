#include "client/cli/json_text.h"

#include <absl/strings/str_cat.h>

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace sinew::cli {
namespace {

using Json = nlohmann::json;

// Follows the parser into objects and arrays and keeps the first key that an object has twice.
class KeyWatch {
 public:
  void See(Json::parse_event_t event, const Json& parsed) {
    using enum Json::parse_event_t;
    if (!twice_.empty()) return;
    switch (event) {
      case key:
        levels_.back().key = parsed.get<std::string>();
        if (!levels_.back().keys.insert(levels_.back().key).second) twice_ = Path();
        return;
      case object_start:
      case array_start:
        NextItem();
        levels_.push_back({.is_array = event == array_start});
        return;
      case object_end:
      case array_end:
        levels_.pop_back();
        return;
      case value:
        NextItem();
    }
  }

  // Empty: none.
  const std::string& twice() const { return twice_; }

 private:
  struct Level {
    bool is_array = false;
    std::size_t items = 0;  // of an array, begun so far
    std::string key{};      // of an object, the present one
    std::set<std::string> keys{};
  };

  void NextItem() {
    if (!levels_.empty() && levels_.back().is_array) ++levels_.back().items;
  }
  std::string Path() const {
    std::string path;
    for (const Level& level : levels_) {
      if (level.is_array) {
        absl::StrAppend(&path, "[", level.items - 1, "]");
      } else {
        absl::StrAppend(&path, path.empty() ? "" : ".", level.key);
      }
    }
    return path;
  }

  std::vector<Level> levels_;
  std::string twice_;
};

}  // namespace

absl::StatusOr<nlohmann::json> ParseJson(std::string_view text) {
  KeyWatch watch;
  const auto see = [&](int, Json::parse_event_t event, Json& parsed) {
    watch.See(event, parsed);
    return true;
  };
  try {
    Json json = Json::parse(text.begin(), text.end(), see, true, true);
    if (watch.twice().empty()) return json;
  } catch (const Json::parse_error& error) {
    return absl::InvalidArgumentError(absl::StrCat("byte ", error.byte, ": not JSON"));
  } catch (const Json::exception&) {  // a number too large, say
    return absl::InvalidArgumentError("not JSON: a value is out of range");
  }
  return absl::AlreadyExistsError(absl::StrCat(watch.twice(), ": given twice, need it once"));
}

}  // namespace sinew::cli
