#include "client/import/json_text.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

namespace sinew::client {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxDepth = 64;  // extras may nest; real files stay below 10

class Scanner : public nlohmann::json_sax<Json> {
 public:
  Scanner(std::string_view text,
          const std::function<void(const std::string&, const std::string&)>& see)
      : text_(text), see_(see) {}

  bool null() override { return Value(); }
  bool boolean(bool) override { return Value(); }
  bool number_integer(number_integer_t) override { return Value(); }
  bool number_unsigned(number_unsigned_t) override { return Value(); }
  bool number_float(number_float_t, const string_t&) override { return Value(); }
  bool binary(binary_t&) override { return Value(); }
  bool string(string_t& value) override {
    Value();
    if (see_) see_(Path(), value);
    return true;
  }
  bool start_object(std::size_t) override { return Open(false); }
  bool end_object() override { return Close(); }
  bool start_array(std::size_t) override { return Open(true); }
  bool end_array() override { return Close(); }
  bool key(string_t& name) override {
    levels_.back().key = name;
    if (levels_.back().keys.insert(name).second) return true;
    status = absl::AlreadyExistsError(absl::StrCat(Path(), ": given twice, need it once"));
    return false;
  }
  bool parse_error(std::size_t position, const std::string&, const Json::exception& why) override {
    const bool range = dynamic_cast<const Json::out_of_range*>(&why) != nullptr;
    status = absl::InvalidArgumentError(absl::StrCat(PlaceInText(text_, position), ": ",
                                                     range ? "a number out of range" : "not JSON"));
    return false;
  }

  absl::Status status;

 private:
  struct Level {
    bool is_array = false;
    std::size_t items = 0;  // of an array, begun so far
    std::string key{};      // of an object, the present one
    std::set<std::string> keys{};
  };

  bool Value() {
    if (!levels_.empty() && levels_.back().is_array) ++levels_.back().items;
    return true;
  }
  bool Open(bool is_array) {
    Value();
    if (levels_.size() < kMaxDepth) {
      levels_.push_back({.is_array = is_array});
      return true;
    }
    status = absl::InvalidArgumentError(
        absl::StrCat(Path().substr(0, 40), "...: nested deeper than ", kMaxDepth));
    return false;
  }
  bool Close() {
    levels_.pop_back();
    return true;
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

  const std::string_view text_;
  const std::function<void(const std::string&, const std::string&)>& see_;
  std::vector<Level> levels_;
};

}  // namespace

std::string PlaceInText(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, byte > 0 ? byte - 1 : 0);
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  const auto starts_character = [](char c) { return (static_cast<unsigned char>(c) >> 6) != 2; };
  return absl::StrCat("line ", 1 + std::count(before.begin(), before.end(), '\n'), ", column ",
                      1 + std::count_if(before.begin() + static_cast<std::ptrdiff_t>(line_start),
                                        before.end(), starts_character));
}

absl::Status CheckJson(
    std::string_view text, bool allow_comments,
    const std::function<void(const std::string& path, const std::string& value)>& see) {
  Scanner scanner(text, see);
  Json::sax_parse(text.begin(), text.end(), &scanner, Json::input_format_t::json, true,
                  allow_comments);
  return std::move(scanner.status);
}

}  // namespace sinew::client
