#include "server/base/clock.h"

#include <absl/time/time.h>

namespace sinew::server {
namespace {

class ComputerClock final : public Clock {
 public:
  Time Now() const override { return std::chrono::steady_clock::now(); }
  WallTime WallNow() const override { return std::chrono::system_clock::now(); }
  void WaitUntil(Time due, absl::CondVar& changed, absl::Mutex& mutex) override {
    changed.WaitWithTimeout(&mutex, absl::FromChrono(due - Now()));
  }
};

}  // namespace

Clock& RealClock() {
  static ComputerClock clock;
  return clock;
}

}  // namespace sinew::server
