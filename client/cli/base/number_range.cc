#include "client/cli/base/number_range.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include "client/cli/base/quantity.h"

namespace sinew::cli {

std::function<std::string(const std::string&)> NumberFrom(double low, double high) {
  return [low, high](const std::string& text) -> std::string {
    double value = 0;
    if (absl::SimpleAtod(text, &value) && value >= low && value <= high) return {};
    return absl::StrCat("got \"", text, "\", need a number from ", NumberText(low), " to ",
                        NumberText(high));
  };
}

std::function<std::string(const std::string&)> WholeFrom(std::int64_t low, std::int64_t high) {
  return [low, high](const std::string& text) -> std::string {
    std::int64_t value = 0;
    if (absl::SimpleAtoi(text, &value) && value >= low && value <= high) return {};
    return absl::StrCat("got \"", text, "\", need a whole number from ", low, " to ", high);
  };
}

}  // namespace sinew::cli
