#include "client/bake/character/frame_set.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <cmath>
#include <regex>
#include <utility>

#include "client/bake/base/errors.h"
#include "client/bake/base/quantity.h"
#include "client/bake/character/shutter.h"
#include "core/base/status.h"

namespace sinew::bake {
namespace {

constexpr double kMaxFrames = 10'000'000;
constexpr double kSameFrame = 1e-6;  // rounding of fractions

absl::Status WrongFrames(const std::string& text, const std::string& why) {
  return RequestError(absl::StrCat("frames: got \"", text, "\", ", why));
}

bool IsWhole(double number) {
  return number == std::floor(number);
}

bool HasFraction(const FrameRange& range) {
  return !IsWhole(range.first) || !IsWhole(range.last.value_or(0)) || !IsWhole(range.step);
}

absl::StatusOr<FrameRange> ParseRange(const std::string& given) {
  // Blanks around numbers are those of OpenJD. Bounded: a long run would exhaust the stack.
  static const std::regex form(
      R"(([0-9]{1,10}(?:\.[0-9]{1,9})?)[ \t]{0,9}(-[ \t]{0,9}([0-9]{1,10}(?:\.[0-9]{1,9})?)?[ \t]{0,9})?)"
      R"((([xy:])(-?[0-9]{1,10}(?:\.[0-9]{1,9})?))?)");
  constexpr char kBlanks[] = " \t";
  const std::size_t begin = std::min(given.find_first_not_of(kBlanks), given.size());
  const std::string text = given.substr(begin, given.find_last_not_of(kBlanks) + 1 - begin);
  std::smatch parts;
  if (!std::regex_match(text, parts, form)) {
    return WrongFrames(
        text,
        "need FIRST, FIRST-LAST or FIRST- (to the end), each may be followed by xSTEP, or ySTEP "
        "for all but those, separated by commas, with or without fractions, e.g. 0-99x2,120 or "
        "10.25,12-13x0.125");
  }
  FrameRange range;
  range.first = OnSampleGrid(std::stod(parts[1]));
  if (!parts[2].matched) range.last = range.first;
  if (parts[3].matched) range.last = OnSampleGrid(std::stod(parts[3]));
  if (parts[6].matched) range.step = std::stod(parts[6]);
  range.inverted = parts[5] == "y";
  const double last = range.last.value_or(range.first);
  if (std::max(range.first, last) > kMaxFrame || std::abs(range.step) > kMaxFrame) {
    return WrongFrames(text, absl::StrCat("need frames and a step of at most ", kMaxFrame));
  }
  if (range.inverted && HasFraction(range)) return WrongFrames(text, "need whole numbers with y");
  if (range.step < 0 && range.last && *range.last <= range.first) {
    if (range.inverted) return WrongFrames(text, "need a step of at least 1 after y");
    range.step = -range.step;
    const double steps = std::floor((range.first - *range.last) / range.step + kSameFrame);
    range.last = std::exchange(range.first, OnSampleGrid(range.first - steps * range.step));
  }
  if (range.step < kSameFrame) return WrongFrames(text, "need a step of more than 0");
  if (range.first > range.last.value_or(range.first)) {
    return WrongFrames(text, "need a last frame that is not before the first");
  }
  return range;
}

// "; allowed are frames 0-47, which clip 'run' has at 24 fps"
std::string AllowedText(double first, double last, const std::string& clip, double fps) {
  const std::string from = ExactText(OnSampleGrid(first)), to = ExactText(OnSampleGrid(last));
  return absl::StrCat("; allowed ",
                      from == to ? "is frame " + from : "are frames " + from + "-" + to, ", which ",
                      clip, " has at ", NumberText(fps), " fps");
}

std::string RangeText(const FrameRange& range) {
  const std::string first = ExactText(range.first);
  if (range.last == range.first) return first;
  return absl::StrCat(first, "-", range.last ? ExactText(*range.last) : "");
}

}  // namespace

bool FrameSet::HasFractions() const {
  return std::ranges::any_of(ranges, HasFraction);
}

absl::StatusOr<FrameSet> ParseFrames(const std::string& text) {
  FrameSet set;
  for (const std::string& piece : std::vector<std::string>(absl::StrSplit(text, ','))) {
    SINEW_ASSIGN_OR_RETURN(set.ranges.emplace_back(), ParseRange(piece));
  }
  return set;
}

absl::StatusOr<std::vector<double>> ResolveNumbers(const FrameSet& set, double end,
                                                   const std::string& clip, double fps) {
  const auto start = static_cast<double>(set.start);
  // Whole frames end at one, whatever fraction of a frame the clip has after it.
  const double whole_end = std::floor(end + kSameFrame);
  const std::vector<FrameRange> all = {FrameRange{.first = start}};
  std::vector<double> numbers;
  for (const FrameRange& range : set.ranges.empty() ? all : set.ranges) {
    const double latest = start + (HasFraction(range) ? end : whole_end);
    const double last = range.last.value_or(latest);
    if (range.first < start || range.first > latest + kSameFrame || last > latest + kSameFrame) {
      return absl::OutOfRangeError(absl::StrCat(set.name, ": got ", RangeText(range),
                                                AllowedText(start, latest, clip, fps)));
    }
    const double step = range.inverted ? 1 : range.step;
    const double count = std::floor((last - range.first) / step + kSameFrame) + 1;
    if (count + static_cast<double>(numbers.size()) > kMaxFrames) {
      return InvalidArgument(set.name, ": got more than ", static_cast<std::int64_t>(kMaxFrames),
                             " frames, need fewer");
    }
    for (double k = 0; k < count; ++k) {
      if (range.inverted && std::fmod(k, range.step) == 0) continue;
      numbers.push_back(OnSampleGrid(range.first + k * step - start));
    }
  }
  std::ranges::sort(numbers);
  numbers.erase(std::ranges::unique(numbers).begin(), numbers.end());
  if (numbers.empty()) return InvalidArgument(set.name, ": no frame is left, need one or more");
  return numbers;
}

absl::StatusOr<std::vector<std::int64_t>> ResolveFrames(const FrameSet& set, std::int64_t frames,
                                                        const std::string& clip, double fps) {
  const auto fraction = std::ranges::find_if(set.ranges, HasFraction);
  if (fraction != set.ranges.end()) {
    return RequestError(
        absl::StrCat(set.name, ": got ", RangeText(*fraction), ", need whole frames of ", clip));
  }
  SINEW_ASSIGN_OR_RETURN(const std::vector<double> numbers,
                         ResolveNumbers(set, static_cast<double>(frames - 1), clip, fps));
  return std::vector<std::int64_t>(numbers.begin(), numbers.end());
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
  const auto offset = static_cast<double>(start);
  return absl::OutOfRangeError(absl::StrCat(
      "frames: got ",
      ExactText(OnSampleGrid((times.front() < 0 ? times.front() : times.back()) + offset)),
      AllowedText(offset, end + offset, clip, fps)));
}

}  // namespace sinew::bake
