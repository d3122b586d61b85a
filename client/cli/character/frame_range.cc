#include "client/cli/character/frame_range.h"

#include <absl/strings/str_cat.h>

#include <regex>

#include "client/cli/base/exit_code.h"
#include "client/cli/base/quantity.h"

namespace sinew::cli {
namespace {

constexpr std::int64_t kMaxFrame = 1'000'000'000;

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

std::int64_t FrameCount(const FrameRange& range) {
  return (range.last.value_or(range.first) - range.first) / range.step + 1;
}

}  // namespace sinew::cli
