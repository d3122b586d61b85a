#include "tests/fault/suite.h"

#include <absl/strings/str_cat.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace sinew::testing {

Suite::Suite(Options options) : options_(std::move(options)) {}

double Suite::Elapsed() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

bool Suite::OutOfTime() const {
  return Elapsed() > options_.seconds;
}

void Suite::EndKind() {
  if (kinds_.empty()) return;
  kinds_.back().seconds = Elapsed() - kind_start_;
  kinds_.back().frames = frames - frames_before_;
}

void Suite::Begin(const std::string& kind) {
  const std::lock_guard lock(mutex_);
  EndKind();
  kinds_.emplace_back().name = kind;
  kind_start_ = Elapsed();
  frames_before_ = frames;
  step_ = 0;
  what_.clear();
}

void Suite::Step(const std::string& what) {
  const std::lock_guard lock(mutex_);
  ++step_;
  what_ = what;
}

Random Suite::Dice(const std::string& purpose) const {
  const std::lock_guard lock(mutex_);
  const std::string text =
      absl::StrCat(options_.seed, "/", kinds_.empty() ? "" : kinds_.back().name, "/", purpose);
  return Random(static_cast<std::uint32_t>(XXH3_64bits(text.data(), text.size())));
}

std::uint64_t Suite::Repeats() const {
  return std::max<std::uint64_t>(3, options_.kills / 20);
}
std::uint64_t Suite::SlowRepeats() const {
  return std::max<std::uint64_t>(1, options_.kills / 50);
}

void Suite::Count(int table, const std::string& what, std::uint64_t count) {
  const std::lock_guard lock(mutex_);
  kinds_.back().counts[table][what] += count;
}

void Suite::Violated(const std::string& what) {
  ++violations_;
  const std::lock_guard lock(mutex_);
  std::printf(
      "VIOLATION: %s\n  in %s, step %llu: %s\n  replay: --seed %u --only %s --kills %llu"
      " --frames %llu --seconds %g\n",
      what.c_str(), kinds_.back().name.c_str(), static_cast<unsigned long long>(step_),
      what_.c_str(), options_.seed, kinds_.back().name.c_str(),
      static_cast<unsigned long long>(options_.kills),
      static_cast<unsigned long long>(options_.frames), options_.seconds);
  std::fflush(stdout);
}

void Suite::Abandon(const std::string& what) {
  Violated(what);
  throw Abandoned();
}

void Suite::Need(const absl::Status& status, const std::string& what) {
  if (!status.ok()) Abandon(absl::StrCat(what, ": got ", status.ToString()));
}

void Suite::CheckEnd(const absl::Status& status, const std::string& what,
                     std::initializer_list<absl::StatusCode> documented) {
  const bool known =
      status.ok() || std::ranges::find(documented, status.code()) != documented.end();
  if (!known) Violated(absl::StrCat(what, ": ended with ", status.ToString()));
  Checked(absl::StrCat(what, ": ended with ", absl::StatusCodeToString(status.code())));
}

std::thread Suite::Thread(std::function<void()> body) {
  return std::thread([body = std::move(body)] {
    try {
      body();
    } catch (const Abandoned&) {
    }
  });
}

int Suite::Report() const {
  const std::lock_guard lock(mutex_);
  std::vector<Kind> kinds = kinds_;
  if (!kinds.empty()) {
    kinds.back().seconds = Elapsed() - kind_start_;
    kinds.back().frames = frames - frames_before_;
  }
  for (const Kind& kind : kinds) {
    if (kind.counts[0].empty() && kind.counts[1].empty()) continue;
    std::printf("%s (%.1f s, %llu frames)\n", kind.name.c_str(), kind.seconds,
                static_cast<unsigned long long>(kind.frames));
    for (int table = 0; table < 2; ++table) {
      std::printf("  %s\n", table == 0 ? "injected" : "checked");
      for (const auto& [what, count] : kind.counts[table]) {
        std::printf("    %9llu  %s\n", static_cast<unsigned long long>(count), what.c_str());
      }
    }
  }
  std::printf("seed %u: %llu kills, %llu frames, %llu violations in %.1f s\n", options_.seed,
              static_cast<unsigned long long>(kills), static_cast<unsigned long long>(frames),
              static_cast<unsigned long long>(violations_), Elapsed());
  if (failed()) return 1;
  const bool complete =
      !options_.only.empty() || (kills >= options_.kills && frames >= options_.frames);
  if (!complete || OutOfTime()) {
    std::printf("incomplete: asked for %llu kills and %llu frames within %g s\n",
                static_cast<unsigned long long>(options_.kills),
                static_cast<unsigned long long>(options_.frames), options_.seconds);
    return 2;
  }
  return 0;
}

void Pass(std::chrono::microseconds time) {
  std::this_thread::sleep_for(time);
}

}  // namespace sinew::testing
