// number_range.h - a check for options that take real numbers.
#pragma once

#include <functional>
#include <string>

namespace sinew::cli {

// For CLI::Option::check: a finite number from `low` to `high`. CLI11's own Range lets "nan" pass.
std::function<std::string(const std::string&)> NumberFrom(double low, double high);

}  // namespace sinew::cli
