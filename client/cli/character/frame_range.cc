#include "client/cli/character/frame_range.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <cmath>
#include <regex>

#include "client/cli/base/exit_code.h"
#include "client/cli/base/quantity.h"

namespace sinew::cli {
namespace {

constexpr std::int64_t kMaxFrame = 1'000'000'000;
constexpr std::int64_t kMaxTimes = 1'000'000;
constexpr double kSameFrame = 1e-6;  // rounding of times

absl::Status WrongRange(const std::string& text, const std::string& why) {
  return UsageError(absl::StrCat("--frames: got \"", text, "\", ", why));
}

}  // namespace

absl::StatusOr<FrameRange> ParseFrameRange(const std::string& text) {
  static const std::regex form("([0-9]{1,10})(-([0-9]{1,10})?)?(x([0-9]{1,10}))?");
  std::smatch parts;
  if (!std::regex_match(text, parts, form)) {
    return WrongRange(
        text,
        "need FIRST, FIRST-LAST or FIRST-, followed by xSTEP for every STEP-th frame, "
        "e.g. 0-99x2");
  }
  FrameRange range;
  range.first = std::stoll(parts[1]);
  if (!parts[2].matched) range.last = range.first;
  if (parts[3].matched) range.last = std::stoll(parts[3]);
  if (parts[5].matched) range.step = std::stoll(parts[5]);
  const std::int64_t last = range.last.value_or(range.first);
  if (range.first > last) return WrongRange(text, "need a last frame that is not before the first");
  if (last > kMaxFrame || range.step > kMaxFrame) {
    return WrongRange(text, absl::StrCat("need frames and a step of at most ", kMaxFrame));
  }
  if (range.step < 1) return WrongRange(text, "need a step of at least 1");
  return range;
}

absl::StatusOr<std::vector<double>> ParseTimes(const std::string& text) {
  static const std::regex form(
      R"(([0-9]{1,10}(?:\.[0-9]{1,9})?)(?:-([0-9]{1,10}(?:\.[0-9]{1,9})?)x([0-9]{1,10}(?:\.[0-9]{1,9})?))?)");
  const auto wrong = [&](const std::string& why) {
    return UsageError(absl::StrCat("--times: got \"", text, "\", ", why));
  };
  std::vector<double> times;
  for (const std::string& piece : std::vector<std::string>(absl::StrSplit(text, ','))) {
    std::smatch parts;
    if (!std::regex_match(piece, parts, form)) {
      return wrong(
          "need frames and FIRST-LASTxSTEP, separated by commas, e.g. 10,10.25,12-13x0.125");
    }
    const double first = std::stod(parts[1]);
    const double last = parts[2].matched ? std::stod(parts[2]) : first;
    const double step = parts[3].matched ? std::stod(parts[3]) : 1;
    if (last > kMaxFrame) return wrong(absl::StrCat("need frames of at most ", kMaxFrame));
    if (step <= 0) return wrong("need a step of more than 0");
    if (last < first || (!times.empty() && first <= times.back()))
      return wrong("need rising frames");
    const double count = std::floor((last - first) / step + kSameFrame) + 1;
    if (count + static_cast<double>(times.size()) > kMaxTimes) {
      return wrong(absl::StrCat("need at most ", kMaxTimes, " frames"));
    }
    for (double k = 0; k < count; ++k) times.push_back(first + k * step);
  }
  return times;
}

absl::StatusOr<FrameRange> ResolveFrames(const FrameRange& range, std::int64_t frames,
                                         const std::string& clip, double fps) {
  const std::int64_t end = frames - 1;
  if (range.first > end || range.last.value_or(end) > end) {
    const std::string got = range.last == range.first ? absl::StrCat(range.first)
                            : range.last              ? absl::StrCat(range.first, "-", *range.last)
                                                      : absl::StrCat(range.first, "-");
    return absl::OutOfRangeError(absl::StrCat(range.option, ": got ", got,
                                              "; allowed are frames 0-", end, ", which ", clip,
                                              " has at ", NumberText(fps), " fps"));
  }
  FrameRange resolved = range;
  const std::int64_t last = range.last.value_or(end);
  resolved.last = range.first + (last - range.first) / range.step * range.step;
  return resolved;
}

absl::Status CheckTimes(const std::vector<double>& times, double end, const std::string& clip,
                        double fps) {
  if (times.back() <= end + kSameFrame) return absl::OkStatus();
  return absl::OutOfRangeError(absl::StrCat("--times: got ", times.back(),
                                            "; allowed are frames 0 to ", end, ", which ", clip,
                                            " has at ", NumberText(fps), " fps"));
}

std::int64_t FrameCount(const FrameRange& range) {
  return (range.last.value_or(range.first) - range.first) / range.step + 1;
}

}  // namespace sinew::cli
