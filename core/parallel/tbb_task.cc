#include <absl/status/status.h>
#include <absl/strings/str_cat.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstdint>

#include "core/parallel/task.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace sinew {

DenormalGuard::DenormalGuard() {
#if defined(__x86_64__)
  constexpr unsigned int kFlushAndZero = 0x8040;  // FTZ | DAZ
  const unsigned int mode = _mm_getcsr();
  saved_ = mode;
  if ((mode & kFlushAndZero) != kFlushAndZero) _mm_setcsr(mode | kFlushAndZero);
#elif defined(__aarch64__)
  constexpr std::uint64_t kFlush = std::uint64_t{1} << 24;  // FPCR.FZ
  asm volatile("mrs %0, fpcr" : "=r"(saved_));
  asm volatile("msr fpcr, %0" : : "r"(saved_ | kFlush));
#else
#error "this architecture needs its own way to flush denormals"
#endif
}

DenormalGuard::~DenormalGuard() {
#if defined(__x86_64__)
  if (_mm_getcsr() != static_cast<unsigned int>(saved_)) {
    _mm_setcsr(static_cast<unsigned int>(saved_));
  }
#elif defined(__aarch64__)
  asm volatile("msr fpcr, %0" : : "r"(saved_));
#endif
}

void Task::For(std::size_t n, std::size_t grain,
               absl::FunctionRef<void(std::size_t, std::size_t)> body) const {
  const std::size_t chunks = (n + grain - 1) / grain;
  const auto run = [&](std::size_t first, std::size_t last) {
    const DenormalGuard guard;
    for (std::size_t c = first; c < last && !cancelled(); ++c) {
      body(c * grain, std::min(n, (c + 1) * grain));
    }
  };
  if (chunks <= 1 || !options_.parallel) {
    run(0, chunks);
    return;
  }
  tbb::parallel_for(
      tbb::blocked_range<std::size_t>(0, chunks),
      [&](const tbb::blocked_range<std::size_t>& range) { run(range.begin(), range.end()); });
}

absl::Status Task::CheckCancelled() const {
  return cancelled() ? absl::CancelledError("cancelled") : absl::OkStatus();
}

absl::Status Task::CheckMemory(std::size_t bytes) const {
  if (bytes <= memory_limit()) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat(kNoMemory, "may need ", bytes, " bytes or more, limit ", memory_limit()));
}

void Task::SetTotal(double work) {
  total_ = work;
}

void Task::Advance(double work) {
  const std::lock_guard lock(advancing_);
  done_ += work;
  if (options_.progress && total_ > 0) options_.progress(std::clamp(done_ / total_, 0.0, 1.0));
}

}  // namespace sinew
