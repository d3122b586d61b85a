// number_range.h - checks for options that take numbers, with the range in the message.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace sinew::cli {

// For CLI::Option::check: a finite number from `low` to `high`. CLI11's own Range lets "nan" pass.
std::function<std::string(const std::string&)> NumberFrom(double low, double high);

// The same for whole numbers, signed or not.
std::function<std::string(const std::string&)> WholeFrom(std::int64_t low, std::int64_t high);

}  // namespace sinew::cli
