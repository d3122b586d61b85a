#include "server/base/clock.h"

namespace sinew::server {
namespace {

class ComputerClock final : public Clock {
 public:
  Time Now() const override { return std::chrono::steady_clock::now(); }
  WallTime WallNow() const override { return std::chrono::system_clock::now(); }
  void WaitUntil(Time due, std::condition_variable_any& changed, absl::Mutex& mutex) override {
    // Not an absl::CondVar: its timeout follows the wall clock, which may be set back.
    BasicLock lock{mutex};
    changed.wait_until(lock, due);
  }
};

}  // namespace

Clock& RealClock() {
  static ComputerClock clock;
  return clock;
}

}  // namespace sinew::server
