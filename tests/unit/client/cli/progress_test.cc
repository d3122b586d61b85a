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

using ::testing::ElementsAre;
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
  constexpr std::chrono::milliseconds kBetween{200};
  ::testing::internal::CaptureStderr();
  {
    Progress progress(Progress::Form::kLines, "Draw", Progress::Part::kMain, kBetween);
    progress.Update(0.5, "frame 5 of 10");
    Sleep(300);
    progress.Update(0.75, "");  // soon replaced
    progress.Update(1, "");
    progress.Close();
  }
  EXPECT_THAT(Lines(), ElementsAre("sinew: Draw 50 %  frame 5 of 10", "sinew: Draw 100 %"));
  ::testing::internal::CaptureStderr();
  {
    Progress progress(Progress::Form::kLines, "Draw", Progress::Part::kMain, kBetween);
    progress.Update(1, "");
    Sleep(300);
  }
  EXPECT_THAT(Lines(), ElementsAre("sinew: Draw 100 %"));
}

}  // namespace
}  // namespace sinew::cli
