#include "client/bake/character/frame_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/bake/base/errors.h"

namespace sinew::bake {
namespace {

using ::testing::ElementsAre;

std::vector<std::int64_t> Resolved(const std::string& text) {
  const auto set = ParseFrames(text);
  EXPECT_TRUE(set.ok()) << text << ": " << set.status();
  if (!set.ok()) return {};
  const auto numbers = ResolveFrames(*set, 48, "clip 'run'", 24);
  EXPECT_TRUE(numbers.ok()) << text << ": " << numbers.status();
  return numbers.value_or(std::vector<std::int64_t>());
}

TEST(FrameSet, ReadsNumbersAndRanges) {
  EXPECT_THAT(Resolved("12"), ElementsAre(12));
  EXPECT_THAT(Resolved("3-5"), ElementsAre(3, 4, 5));
  EXPECT_THAT(Resolved("0-9x4"), ElementsAre(0, 4, 8));
  EXPECT_THAT(Resolved("45-"), ElementsAre(45, 46, 47));
  EXPECT_THAT(Resolved("40-x3"), ElementsAre(40, 43, 46));
  EXPECT_THAT(Resolved("7-7"), ElementsAre(7));
  EXPECT_THAT(Resolved("3x4"), ElementsAre(3));
  EXPECT_THAT(Resolved("9,1-3"), ElementsAre(1, 2, 3, 9)) << "rising";
  EXPECT_THAT(Resolved("1-3,2-4"), ElementsAre(1, 2, 3, 4)) << "each once";
}

// The examples of the documentation of OpenJD's range expressions, and of OpenCue's FrameRange.
TEST(FrameSet, ReadsTheSyntaxOfFarms) {
  EXPECT_THAT(Resolved("1 - 5"), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(Resolved("1-5:2"), ElementsAre(1, 3, 5));
  EXPECT_THAT(Resolved("10-15:2,1-5"), ElementsAre(1, 2, 3, 4, 5, 10, 12, 14));
  EXPECT_THAT(Resolved("1-10:4"), ElementsAre(1, 5, 9));
  EXPECT_THAT(Resolved("\t1 , 3-4 "), ElementsAre(1, 3, 4));
  EXPECT_THAT(Resolved("1-10x3"), ElementsAre(1, 4, 7, 10));
  EXPECT_THAT(Resolved("1-10y3"), ElementsAre(2, 3, 5, 6, 8, 9));
  EXPECT_THAT(Resolved("10-1x-1"), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
  EXPECT_THAT(Resolved("9-0x-2"), ElementsAre(1, 3, 5, 7, 9));
}

TEST(FrameSet, RejectsOtherForms) {
  for (const char* text : {"",
                           "x",
                           "-",
                           "-5",
                           "5-4",
                           "0-9x",
                           "0-9x0",
                           "0-9x-1",
                           "0..9",
                           "1e3",
                           "0-9x2x2",
                           "99999999999",
                           "99999999999999999999",
                           "0-1-2",
                           "a-b",
                           "+1",
                           "0x",
                           ",",
                           "1,",
                           ",1",
                           "1 2",
                           "9-0y-2",
                           "0-9y0",
                           "1\n",
                           "5-x-1"}) {
    const auto set = ParseFrames(text);
    ASSERT_FALSE(set.ok()) << '"' << text << '"';
    EXPECT_TRUE(IsRequestError(set.status())) << text;
  }
}

TEST(FrameSet, KeepsDistancesThatAreEven) {
  client::ClipData clip;
  SetFrameNumbers(Resolved("4-12x4"), clip);
  EXPECT_EQ(clip.frames, 3u);
  EXPECT_EQ(clip.first_frame, 4);
  EXPECT_EQ(clip.step, 4);
  EXPECT_TRUE(clip.frame_numbers.empty());
  SetFrameNumbers(Resolved("7x9"), clip);
  EXPECT_EQ(clip.step, 1) << "of one frame";
  SetFrameNumbers(Resolved("1,2,4"), clip);
  EXPECT_THAT(clip.frame_numbers, ElementsAre(1, 2, 4));
}

std::vector<double> Numbers(const std::string& text, std::int64_t start = 0) {
  auto set = ParseFrames(text);
  EXPECT_TRUE(set.ok()) << text << ": " << set.status();
  if (!set.ok()) return {};
  EXPECT_TRUE(set->HasFractions()) << text;
  set->start = start;
  const auto numbers = ResolveNumbers(*set, 12.3, "clip 'run'", 24);
  EXPECT_TRUE(numbers.ok()) << text << ": " << numbers.status();
  return numbers.value_or(std::vector<double>());
}

TEST(FrameSet, FractionsHaveTheSameForms) {
  EXPECT_THAT(Numbers("10,10.25"), ElementsAre(10, 10.25));
  EXPECT_THAT(Numbers("0.5,1-2x0.5,7.125"), ElementsAre(0.5, 1, 1.5, 2, 7.125));
  EXPECT_THAT(Numbers("1-5,7.5"), ElementsAre(1, 2, 3, 4, 5, 7.5));
  EXPECT_THAT(Numbers("10.25-"), ElementsAre(10.25, 11.25, 12.25));
  EXPECT_THAT(Numbers("11-,0.5"), ElementsAre(0.5, 11, 12)) << "whole frames end at a whole one";
  EXPECT_THAT(Numbers("12-:0.1"), ElementsAre(12, 12.1, 12.2, 12.3));
  EXPECT_THAT(Numbers("2-0.5x-0.75"), ElementsAre(0.5, 1.25, 2));
  EXPECT_THAT(Numbers("2-1x-0.75"), ElementsAre(1.25, 2)) << "the first counts";
  EXPECT_THAT(Numbers("7.5, 1 - 2 ,1"), ElementsAre(1, 2, 7.5)) << "rising, each once";
  EXPECT_EQ(Numbers("0-1x0.1").size(), 11u) << "the end counts in spite of rounding";
  EXPECT_THAT(Numbers("1001.5,1003-1004x0.5", 1001), ElementsAre(0.5, 2, 2.5, 3));
}

TEST(FrameSet, FractionsHaveTheSameErrors) {
  for (const char* text : {"0.1.2", "nan", "1.5-1", "0-1x-0.5", "0-1x0.0000001", "1.0000000001",
                           "1.", ".5", "0-9y1.5", "0.5-9y2"}) {
    const auto set = ParseFrames(text);
    ASSERT_FALSE(set.ok()) << '"' << text << '"';
    EXPECT_TRUE(IsRequestError(set.status())) << text;
  }
  const auto said = [](const char* text) {
    return std::string(ResolveNumbers(*ParseFrames(text), 12.3, "c", 24).status().message());
  };
  const std::string allowed = "; allowed are frames 0-12.3, which c has at 24 fps";
  EXPECT_EQ(said("12.5"), "frames: got 12.5" + allowed);
  EXPECT_EQ(said("1-12.75x0.5"), "frames: got 1-12.75" + allowed);
  EXPECT_EQ(said("13,0.5"), "frames: got 13; allowed are frames 0-12, which c has at 24 fps");
  EXPECT_EQ(ResolveNumbers(*ParseFrames("3"), 0, "c", 24).status().message(),
            "frames: got 3; allowed is frame 0, which c has at 24 fps");
  EXPECT_EQ(said("0-12x0.000001"), "frames: got more than 10000000 frames, need fewer");
  const absl::Status whole = ResolveFrames(*ParseFrames("1,2.5-3.5"), 48, "p.npy", 24).status();
  EXPECT_EQ(whole.message(), "frames: got 2.5-3.5, need whole frames of p.npy");
  EXPECT_TRUE(IsRequestError(whole));
}

TEST(FrameSet, ErrorsSayWhatIsWrong) {
  const std::pair<const char*, const char*> rows[] = {
      {"10-5", "frames: got \"10-5\", need a last frame that is not before the first"},
      {"0-9x0", "frames: got \"0-9x0\", need a step of more than 0"},
      {"0..9",
       "frames: got \"0..9\", need FIRST, FIRST-LAST or FIRST- (to the end), each may be followed "
       "by "
       "xSTEP, or ySTEP for all but those, separated by commas, with or without fractions, e.g. "
       "0-99x2,120 or 10.25,12-13x0.125"},
      {"9999999999", "frames: got \"9999999999\", need frames and a step of at most 1000000000"},
  };
  for (const auto& [text, said] : rows) EXPECT_EQ(ParseFrames(text).status().message(), said);
}

TEST(FrameSet, RejectsSetsWithoutFramesOrWithTooMany) {
  EXPECT_EQ(ResolveFrames(*ParseFrames("5-9y1"), 48, "c", 24).status().message(),
            "frames: no frame is left, need one or more");
  EXPECT_EQ(
      ResolveFrames(*ParseFrames("0-5000000,0-5000000"), 1'000'000'000, "c", 24).status().message(),
      "frames: got more than 10000000 frames, need fewer");
}

TEST(FrameSet, OutOfRangeErrorNamesOption) {
  const auto said = [](const FrameSet& set) {
    return std::string(ResolveFrames(set, 48, "clip 'run'", 24).status().message());
  };
  const std::string allowed = "; allowed are frames 0-47, which clip 'run' has at 24 fps";
  EXPECT_EQ(said(FrameSet::One(480, "frame")), "frame: got 480" + allowed);
  EXPECT_EQ(said(*ParseFrames("480")), "frames: got 480" + allowed);
  EXPECT_EQ(said(*ParseFrames("0-9,40-90x5")), "frames: got 40-90" + allowed);
  EXPECT_EQ(said(*ParseFrames("90-")), "frames: got 90-" + allowed);
}

TEST(FrameSet, OutOfRangeErrorNamesAvailableFrames) {
  for (const char* text : {"48", "0-48", "100-", "40-60x5"}) {
    const auto numbers = ResolveFrames(*ParseFrames(text), 48, "clip 'run'", 24);
    ASSERT_FALSE(numbers.ok()) << text;
    EXPECT_TRUE(absl::IsOutOfRange(numbers.status()));
    EXPECT_THAT(std::string(numbers.status().message()), ::testing::HasSubstr("0-47"));
    EXPECT_THAT(std::string(numbers.status().message()), ::testing::HasSubstr("run"));
  }
}

}  // namespace
}  // namespace sinew::bake
