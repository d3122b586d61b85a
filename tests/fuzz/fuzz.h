// fuzz.h - what fuzz targets share. A target is a file with LLVMFuzzerTestOneInput; what it
// requires of accepted input is checked besides crashes, see tests/fuzz/README.md.
#pragma once

#include <absl/status/status.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <ranges>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace sinew::fuzz {

// Ends the process, which is a finding, unless `holds`. Also without assertions.
inline void Require(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: required, but it does not hold: %s\n", what.c_str());
  std::abort();
}

inline std::string_view Text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

inline bool AllFinite(const std::ranges::range auto& numbers) {
  return std::ranges::all_of(numbers, [](auto number) { return std::isfinite(number); });
}

// A refusal has one of these codes, and says why.
inline void RequireRefusal(const absl::Status& status,
                           std::initializer_list<absl::StatusCode> codes = {
                               absl::StatusCode::kInvalidArgument}) {
  Require(std::ranges::find(codes, status.code()) != codes.end() && !status.message().empty(),
          "an error with a message and an expected code, got " + status.ToString());
}

}  // namespace sinew::fuzz
