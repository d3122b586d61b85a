#include "client/cli/progress.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "client/cli/printable.h"

namespace sinew::cli {
namespace {

constexpr int kBarColumns = 30;
constexpr auto kBetween = std::chrono::milliseconds(100);
constexpr char kWipe[] = "\r\x1b[K";

}  // namespace

Progress::~Progress() {
  Close();
}

void Progress::Close() {
  const std::lock_guard lock(mutex_);
  if (drawn_) std::fputs(kWipe, stderr);
  drawn_ = shown_ = false;
}

void Progress::Update(double fraction, const std::string& detail) {
  const std::lock_guard lock(mutex_);
  if (!shown_) return;
  const auto now = std::chrono::steady_clock::now();
  if (drawn_ && now - last_ < kBetween) return;
  drawn_ = true;
  last_ = now;
  const double part = std::isfinite(fraction) ? std::clamp(fraction, 0.0, 1.0) : 0.0;
  const auto filled = static_cast<std::size_t>(std::lround(part * kBarColumns));
  const std::string bar = std::string(filled, '=') + std::string(kBarColumns - filled, ' ');
  std::fprintf(stderr, "%s%s [%s] %3.0f %%  %s", kWipe, label_.c_str(), bar.c_str(), part * 100,
               Printable(detail).c_str());
  std::fflush(stderr);
}

}  // namespace sinew::cli
