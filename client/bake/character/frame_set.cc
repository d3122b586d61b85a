#include "client/bake/character/frame_set.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <regex>
#include <utility>

#include "client/bake/base/errors.h"
#include "client/bake/base/quantity.h"
#include "client/bake/character/shutter.h"
#include "core/base/status.h"

namespace sinew::bake {
namespace {

constexpr std::int64_t kMaxFrames = 10'000'000;
constexpr std::int64_t kMaxTimes = 1'000'000;
constexpr double kSameFrame = 1e-6;  // rounding of times

absl::Status WrongFrames(const std::string& text, const std::string& why) {
  return RequestError(absl::StrCat("frames: got \"", text, "\", ", why));
}

absl::StatusOr<FrameRange> ParseRange(const std::string& given) {
  // Blanks around numbers are those of OpenJD. Bounded: a long run would exhaust the stack.
  static const std::regex form(
      R"(([0-9]{1,10})[ \t]{0,9}(-[ \t]{0,9}([0-9]{1,10})?[ \t]{0,9})?(([xy:])(-?[0-9]{1,10}))?)");
  constexpr char kBlanks[] = " \t";
  const std::size_t begin = std::min(given.find_first_not_of(kBlanks), given.size());
  const std::string text = given.substr(begin, given.find_last_not_of(kBlanks) + 1 - begin);
  std::smatch parts;
  if (!std::regex_match(text, parts, form)) {
    return WrongFrames(
        text,
        "need FIRST, FIRST-LAST or FIRST-, followed by xSTEP for every STEP-th frame, separated "
        "by commas, e.g. 0-99x2,120");
  }
  FrameRange range;
  range.first = std::stoll(parts[1]);
  if (!parts[2].matched) range.last = range.first;
  if (parts[3].matched) range.last = std::stoll(parts[3]);
  if (parts[6].matched) range.step = std::stoll(parts[6]);
  range.inverted = parts[5] == "y";
  const std::int64_t last = range.last.value_or(range.first);
  if (std::max(range.first, last) > kMaxFrame || std::abs(range.step) > kMaxFrame) {
    return WrongFrames(text, absl::StrCat("need frames and a step of at most ", kMaxFrame));
  }
  if (range.step < 0 && range.last && *range.last <= range.first) {
    if (range.inverted) return WrongFrames(text, "need a step of at least 1 after y");
    range.step = -range.step;
    range.last = std::exchange(range.first,
                               range.first - (range.first - *range.last) / range.step * range.step);
  }
  if (range.step < 1) return WrongFrames(text, "need a step of at least 1");
  if (range.first > range.last.value_or(range.first)) {
    return WrongFrames(text, "need a last frame that is not before the first");
  }
  return range;
}

std::string RangeText(const FrameRange& range) {
  if (range.last == range.first) return absl::StrCat(range.first);
  return range.last ? absl::StrCat(range.first, "-", *range.last) : absl::StrCat(range.first, "-");
}

}  // namespace

absl::StatusOr<FrameSet> ParseFrames(const std::string& text) {
  FrameSet set;
  for (const std::string& piece : std::vector<std::string>(absl::StrSplit(text, ','))) {
    SINEW_ASSIGN_OR_RETURN(set.ranges.emplace_back(), ParseRange(piece));
  }
  return set;
}

absl::StatusOr<std::vector<double>> ParseTimes(const std::string& text) {
  static const std::regex form(
      R"(([0-9]{1,10}(?:\.[0-9]{1,9})?)(?:-([0-9]{1,10}(?:\.[0-9]{1,9})?)x([0-9]{1,10}(?:\.[0-9]{1,9})?))?)");
  const auto wrong = [&](const std::string& why) {
    return RequestError(absl::StrCat("frames: got \"", text, "\", ", why));
  };
  std::vector<double> times;
  for (const std::string& piece : std::vector<std::string>(absl::StrSplit(text, ','))) {
    std::smatch parts;
    if (!std::regex_match(piece, parts, form)) {
      return wrong(
          "need frames and FIRST-LASTxSTEP, separated by commas, e.g. 10,10.25,12-13x0.125");
    }
    const double first = OnSampleGrid(std::stod(parts[1]));
    const double last = parts[2].matched ? OnSampleGrid(std::stod(parts[2])) : first;
    const double step = parts[3].matched ? std::stod(parts[3]) : 1;
    if (last > kMaxFrame) return wrong(absl::StrCat("need frames of at most ", kMaxFrame));
    if (step <= 0) return wrong("need a step of more than 0");
    if (last < first || (!times.empty() && first <= times.back()))
      return wrong("need rising frames");
    const double count = std::floor((last - first) / step + kSameFrame) + 1;
    if (count + static_cast<double>(times.size()) > kMaxTimes) {
      return wrong(absl::StrCat("need at most ", kMaxTimes, " frames"));
    }
    for (double k = 0; k < count; ++k) times.push_back(OnSampleGrid(first + k * step));
  }
  return times;
}

absl::StatusOr<std::vector<std::int64_t>> ResolveFrames(const FrameSet& set, std::int64_t frames,
                                                        const std::string& clip, double fps) {
  const std::int64_t end = set.start + frames - 1;
  const std::vector<FrameRange> all = {FrameRange{.first = set.start}};
  std::vector<std::int64_t> numbers;
  for (const FrameRange& range : set.ranges.empty() ? all : set.ranges) {
    const std::int64_t last = range.last.value_or(end);
    if (range.first < set.start || range.first > end || last > end) {
      return absl::OutOfRangeError(
          absl::StrCat(set.name, ": got ", RangeText(range), "; allowed are frames ", set.start,
                       "-", end, ", which ", clip, " has at ", NumberText(fps), " fps"));
    }
    const std::int64_t count = (last - range.first) / (range.inverted ? 1 : range.step) + 1;
    if (count > kMaxFrames - static_cast<std::int64_t>(numbers.size())) {
      return InvalidArgument(set.name, ": got more than ", kMaxFrames, " frames, need fewer");
    }
    for (std::int64_t k = range.first; k <= last; k += range.inverted ? 1 : range.step) {
      if (!range.inverted || (k - range.first) % range.step != 0) numbers.push_back(k - set.start);
    }
  }
  std::ranges::sort(numbers);
  numbers.erase(std::ranges::unique(numbers).begin(), numbers.end());
  if (numbers.empty()) return InvalidArgument(set.name, ": no frame is left, need one or more");
  return numbers;
}

void SetFrameNumbers(std::span<const std::int64_t> numbers, client::ClipData& clip) {
  clip.frames = numbers.size();
  clip.first_frame = numbers.front();
  clip.step = numbers.size() > 1 ? numbers[1] - numbers[0] : 1;
  clip.frame_numbers.clear();
  const bool even = std::ranges::adjacent_find(numbers, [&](std::int64_t a, std::int64_t b) {
                      return b - a != clip.step;
                    }) == numbers.end();
  if (!even) clip.frame_numbers.assign(numbers.begin(), numbers.end());
}

double MovedFrame(double number, std::int64_t start) {
  return start == 0 ? number : OnSampleGrid(number + static_cast<double>(start));
}

void MoveFrames(std::int64_t start, client::ClipData& clip) {
  clip.first_frame += start;
  for (double& number : clip.frame_numbers) number = MovedFrame(number, start);
}

absl::Status CheckTimes(const std::vector<double>& times, double end, const std::string& clip,
                        double fps, std::int64_t start) {
  if (times.front() >= 0 && times.back() <= end + kSameFrame) return absl::OkStatus();
  const auto text = [&](double number) {
    return ExactText(OnSampleGrid(number + static_cast<double>(start)));
  };
  return absl::OutOfRangeError(absl::StrCat("frames: got ",
                                            text(times.front() < 0 ? times.front() : times.back()),
                                            "; allowed are frames ", start, " to ", text(end),
                                            ", which ", clip, " has at ", NumberText(fps), " fps"));
}

}  // namespace sinew::bake
