#include "client/cli/character/frame_range.h"

#include <absl/strings/str_cat.h>

#include <charconv>
#include <string_view>

#include "client/cli/base/exit_code.h"
#include "client/cli/base/quantity.h"

namespace sinew::cli {
namespace {

constexpr std::int64_t kMaxFrame = 1'000'000'000;

// Reads digits at the front of `text` and removes them.
std::optional<std::int64_t> TakeNumber(std::string_view& text) {
  std::int64_t value = 0;
  if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value > kMaxFrame) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

bool Take(std::string_view& text, char c) {
  if (text.empty() || text[0] != c) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<FrameRange> Parse(std::string_view text) {
  FrameRange range;
  const auto first = TakeNumber(text);
  if (!first) return std::nullopt;
  range.first = *first;
  if (Take(text, '-')) {
    range.last = TakeNumber(text);
  } else {
    range.last = range.first;
  }
  if (Take(text, 'x')) {
    const auto step = TakeNumber(text);
    if (!step || *step < 1) return std::nullopt;
    range.step = *step;
  }
  if (!text.empty() || (range.last && *range.last < range.first)) return std::nullopt;
  return range;
}

}  // namespace

absl::StatusOr<FrameRange> ParseFrameRange(const std::string& text) {
  const auto range = Parse(text);
  if (!range) {
    return UsageError(
        absl::StrCat("--frames: got \"", text,
                     "\", need FIRST, FIRST-LAST or FIRST-, followed by xSTEP for every "
                     "STEP-th frame, e.g. 0-99x2"));
  }
  return *range;
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
