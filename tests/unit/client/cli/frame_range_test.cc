#include "client/cli/character/frame_range.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/cli/base/exit_code.h"

namespace sinew::cli {
namespace {

using ::testing::ElementsAre;

struct Good {
  const char* text;
  std::int64_t first;
  std::optional<std::int64_t> last;
  std::int64_t step;
};

TEST(FrameRange, ReadsEveryForm) {
  for (const Good& row : {Good{"12", 12, 12, 1}, Good{"0-99", 0, 99, 1}, Good{"0-99x2", 0, 99, 2},
                          Good{"5-", 5, std::nullopt, 1}, Good{"5-x3", 5, std::nullopt, 3},
                          Good{"7-7", 7, 7, 1}, Good{"3x4", 3, 3, 4}}) {
    const auto range = ParseFrameRange(row.text);
    ASSERT_TRUE(range.ok()) << row.text << ": " << range.status();
    EXPECT_EQ(range->first, row.first) << row.text;
    EXPECT_EQ(range->last, row.last) << row.text;
    EXPECT_EQ(range->step, row.step) << row.text;
  }
}

TEST(FrameRange, RejectsOtherForms) {
  for (const char* text :
       {"", "x", "-", "-5", "5-4", "0-9x", "0-9x0", "0-9x-1", "0-9 ", " 0", "0..9", "1e3",
        "0-9x2x2", "99999999999", "99999999999999999999", "0-1-2", "a-b", "+1", "0x"}) {
    const auto range = ParseFrameRange(text);
    ASSERT_FALSE(range.ok()) << '"' << text << '"';
    EXPECT_EQ(ExitCode(range.status()), kExitUsage) << text;
  }
}

TEST(Times, ReadsNumbersAndRanges) {
  EXPECT_THAT(*ParseTimes("12"), ElementsAre(12));
  EXPECT_THAT(*ParseTimes("10,10.25"), ElementsAre(10, 10.25));
  EXPECT_THAT(*ParseTimes("0.5,1-2x0.5,7.125"), ElementsAre(0.5, 1, 1.5, 2, 7.125));
  EXPECT_EQ(ParseTimes("0-1x0.1")->size(), 11u) << "the end counts in spite of rounding";
}

TEST(Times, RejectsOtherForms) {
  for (const char* text :
       {"", ",", "1,", "2,1", "1,1", "1-2", "2-1x1", "0-1x0", "-1", "1e3", "0.1.2", "nan", "1 ,2",
        "0-1000000000x0.5", "9999999999", "1.0000000001"}) {
    const auto times = ParseTimes(text);
    ASSERT_FALSE(times.ok()) << '"' << text << '"';
    EXPECT_EQ(ExitCode(times.status()), kExitUsage) << text;
  }
}

TEST(FrameRange, ErrorsSayWhatIsWrong) {
  const std::pair<const char*, const char*> rows[] = {
      {"10-5", "--frames: got \"10-5\", need a last frame that is not before the first"},
      {"0-9x0", "--frames: got \"0-9x0\", need a step of at least 1"},
      {"9999999999", "--frames: got \"9999999999\", need frames and a step of at most 1000000000"},
  };
  for (const auto& [text, said] : rows) {
    EXPECT_EQ(ParseFrameRange(text).status().message(), said);
  }
}

TEST(FrameRange, ResolvesAgainstClip) {
  const auto resolve = [](const char* text) {
    return *ResolveFrames(*ParseFrameRange(text), 48, "clip 'run'", 24);
  };
  EXPECT_EQ(*resolve("10-").last, 47);
  EXPECT_EQ(FrameCount(resolve("10-")), 38);
  EXPECT_EQ(*resolve("0-10x4").last, 8) << "the last frame is one that is taken";
  EXPECT_EQ(FrameCount(resolve("0-10x4")), 3);
  EXPECT_EQ(FrameCount(resolve("47")), 1);
  EXPECT_EQ(FrameCount(*ResolveFrames({}, 48, "c", 24)), 48);
}

TEST(FrameRange, OutOfRangeErrorNamesOption) {
  const auto said = [](const FrameRange& range) {
    return std::string(ResolveFrames(range, 48, "clip 'run'", 24).status().message());
  };
  const std::string allowed = "; allowed are frames 0-47, which clip 'run' has at 24 fps";
  EXPECT_EQ(said({.first = 480, .last = 480, .option = "--frame"}), "--frame: got 480" + allowed);
  EXPECT_EQ(said(*ParseFrameRange("480")), "--frames: got 480" + allowed);
  EXPECT_EQ(said(*ParseFrameRange("40-90x5")), "--frames: got 40-90" + allowed);
  EXPECT_EQ(said(*ParseFrameRange("90-")), "--frames: got 90-" + allowed);
}

TEST(FrameRange, OutOfRangeErrorNamesAvailableFrames) {
  for (const char* text : {"48", "0-48", "100-", "40-60x5"}) {
    const auto range = ResolveFrames(*ParseFrameRange(text), 48, "clip 'run'", 24);
    ASSERT_FALSE(range.ok()) << text;
    EXPECT_EQ(ExitCode(range.status()), kExitBadInput);
    EXPECT_THAT(std::string(range.status().message()), ::testing::HasSubstr("0-47"));
    EXPECT_THAT(std::string(range.status().message()), ::testing::HasSubstr("run"));
  }
}

}  // namespace
}  // namespace sinew::cli
