#include "client/cli/run/interrupt.h"

#include <pthread.h>
#include <unistd.h>

#include <ctime>

#include "client/bake/files/output_file.h"

namespace sinew::cli {
namespace {

constexpr timespec kGrace = {.tv_sec = 5, .tv_nsec = 0};

}  // namespace

Interrupt::Interrupt() {
  // Both become errors of write(), which clean up behind them.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  sigemptyset(&signals_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    if (sigaction(signal, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
      sigaddset(&signals_, signal);
  }
  sigaddset(&signals_, SIGUSR2);  // how the destructor wakes the thread
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  thread_ = std::thread([this] { Wait(); });
}

Interrupt::~Interrupt() {
  finished_.request_stop();
  pthread_kill(thread_.native_handle(), SIGUSR2);
  thread_.join();
}

void Interrupt::Wait() {
  int signal = 0;
  if (sigwait(&signals_, &signal) != 0 || finished_.stop_requested()) return;
  caught_ = signal == SIGUSR2 ? SIGTERM : signal;
  source_.request_stop();
  sigtimedwait(&signals_, nullptr, &kGrace);
  if (finished_.stop_requested()) return;
  bake::RemoveTemporaryFiles();
  Raise();
}

void Interrupt::Raise() const {
  const int signal = caught_;
  std::signal(signal, SIG_DFL);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  std::raise(signal);
  _exit(128 + signal);
}

}  // namespace sinew::cli
