#include "client/cli/base/progress.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "client/cli/base/printable.h"

namespace sinew::cli {
namespace {

constexpr int kBarColumns = 30;
constexpr auto kBetween = std::chrono::milliseconds(100);
constexpr auto kFirstLine = std::chrono::seconds(1), kBetweenLines = std::chrono::seconds(10);

}  // namespace

Progress::~Progress() {
  Close();
}

void Progress::Close() {
  std::jthread writer;  // joined without the lock
  const std::lock_guard lock(mutex_);
  if (drawn_) std::fputs(kWipeLine, stderr);
  drawn_ = false;
  form_ = Form::kNone;
  writer = std::exchange(writer_, {});
  writer.request_stop();
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
  for (auto wait = kFirstLine;; wait = kBetweenLines) {
    wake_.wait_for(lock, stop, wait, [] { return false; });
    if (stop.stop_requested()) return;
    std::fprintf(stderr, "sinew: %s %.0f %%%s%s\n", label_.c_str(), fraction_ * 100,
                 detail_.empty() ? "" : "  ", Printable(detail_).c_str());
  }
}

}  // namespace sinew::cli
