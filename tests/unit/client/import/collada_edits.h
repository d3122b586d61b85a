// collada_edits.h - COLLADA files with some of their text replaced, and why files are refused.
#pragma once

#include <absl/status/status.h>
#include <absl/strings/str_replace.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace sinew::client {

using Edits = std::vector<std::pair<std::string, std::string>>;

// The file with each first text replaced by the second; a first text that is missing fails the
// test.
inline std::string Edited(std::string file, const Edits& edits) {
  for (const auto& [from, to] : edits) {
    EXPECT_THAT(file, ::testing::HasSubstr(from));
    file = absl::StrReplaceAll(file, {{from, to}});
  }
  return file;
}

// The message of an invalid argument.
inline std::string MessageOf(const absl::Status& status) {
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  return std::string(status.message());
}

}  // namespace sinew::client
