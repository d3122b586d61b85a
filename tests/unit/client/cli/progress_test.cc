#include "client/cli/base/progress.h"

#include <absl/strings/str_split.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace sinew::cli {
namespace {

using ::testing::Each;
using ::testing::IsEmpty;

void Sleep(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

std::vector<std::string> Lines() {
  return absl::StrSplit(::testing::internal::GetCapturedStderr(), '\n', absl::SkipEmpty());
}

TEST(Progress, LogHasNoLinesOfAFewSeconds) {
  ::testing::internal::CaptureStderr();
  {
    Progress progress(Progress::Form::kLines, "Draw");
    progress.Update(0.98, "");
    Sleep(1500);
    progress.Update(1, "");
  }
  EXPECT_THAT(Lines(), IsEmpty());
}

TEST(Progress, LogHasTheLastStateOnce) {
  constexpr std::chrono::milliseconds kBetween{50};
  ::testing::internal::CaptureStderr();
  {
    Progress progress(Progress::Form::kLines, "Draw", Progress::Part::kMain, kBetween);
    progress.Update(0.5, "frame 5 of 10");
    Sleep(1000);  // long enough for a line on a busy machine; more of them are no fault
    progress.Update(1, "");
    progress.Close();
  }
  std::vector<std::string> lines = Lines();
  ASSERT_GE(lines.size(), 2u);
  EXPECT_EQ(lines.back(), "sinew: Draw 100 %");
  lines.pop_back();
  EXPECT_THAT(lines, Each("sinew: Draw 50 %  frame 5 of 10"));
}

}  // namespace
}  // namespace sinew::cli
