#include "client/cli/base/progress.h"

#include <absl/strings/str_format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "client/bake/character/json_text.h"
#include "client/cli/base/printable.h"

namespace sinew::cli {
namespace {

constexpr int kBarColumns = 30;
constexpr auto kBetween = std::chrono::milliseconds(100);
constexpr auto kBetweenMessages = std::chrono::milliseconds(1000);

}  // namespace

Progress::~Progress() {
  Close();
}

void Progress::Close() {
  std::jthread writer;  // joined without the lock
  const std::lock_guard lock(mutex_);
  if (drawn_) std::fputs(kWipeLine, stderr);
  drawn_ = false;
  // Programs want the last state too, and a log must not end in the middle.
  const bool says_last = form_ != Form::kLines || (!last_line_.empty() && last_line_ != LogLine());
  if (writer_.joinable() && says_last) WriteLine();
  form_ = Form::kNone;
  writer = std::exchange(writer_, {});
  writer.request_stop();
}

std::string EventText(const nlohmann::ordered_json& event) {
  return bake::JsonText(event, -1);
}

void PrintEvent(const nlohmann::ordered_json& event) {
  const std::string line = EventText(event);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void Progress::Update(double fraction, const std::string& detail) {
  const std::lock_guard lock(mutex_);
  if (form_ == Form::kNone) return;
  fraction_ = std::isfinite(fraction) ? std::clamp(fraction, 0.0, 1.0) : 0.0;
  detail_ = detail;
  if (form_ == Form::kBar) {
    DrawBar();
  } else if (!writer_.joinable()) {
    writer_ = std::jthread([this](const std::stop_token& stop) { WriteLines(stop); });
  }
}

void Progress::DrawBar() {
  const auto now = std::chrono::steady_clock::now();
  if (drawn_ && now - last_ < kBetween) return;
  drawn_ = true;
  last_ = now;
  const auto filled = static_cast<std::size_t>(std::lround(fraction_ * kBarColumns));
  const std::string bar = std::string(filled, '=') + std::string(kBarColumns - filled, ' ');
  std::fprintf(stderr, "%s%s [%s] %3.0f %%  %s", kWipeLine, label_.c_str(), bar.c_str(),
               fraction_ * 100, Printable(detail_).c_str());
  std::fflush(stderr);
}

void Progress::WriteLines(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const bool lines = form_ == Form::kLines;
  if (!lines) WriteLine();
  while (true) {
    wake_.wait_for(lock, stop, lines ? between_lines_ : kBetweenMessages, [] { return false; });
    if (stop.stop_requested()) return;
    WriteLine();
  }
}

std::string Progress::LogLine() const {
  const std::string detail = detail_.empty() ? "" : "  " + Printable(detail_);
  return absl::StrFormat("%s %.0f %%%s", label_, fraction_ * 100, detail);
}

void Progress::WriteLine() {
  if (form_ == Form::kJson) {
    PrintEvent(
        {{"event", "progress"}, {"task", label_}, {"fraction", fraction_}, {"detail", detail_}});
  } else if (form_ == Form::kOpenJd) {
    std::fprintf(stderr, "openjd_status: %s\n", LogLine().c_str());
    if (part_ == Part::kMain) std::fprintf(stderr, "openjd_progress: %.1f\n", fraction_ * 100);
  } else if (form_ == Form::kLines) {
    last_line_ = LogLine();
    std::fprintf(stderr, "sinew: %s\n", last_line_.c_str());
  }
}

}  // namespace sinew::cli
