// interrupt.h - Ctrl-C as a stop token.
#pragma once

#include <atomic>
#include <csignal>
#include <stop_token>
#include <thread>

namespace sinew::cli {

// Turns SIGINT, SIGTERM and SIGHUP into a requested stop, and ignores SIGPIPE and SIGXFSZ. Make one
// at the start of main, before any other thread. A second signal, or five seconds without an end
// after the first, removes temporary files and ends the process. Signals that were ignored when the
// process started (nohup) stay ignored.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  std::stop_token token() const { return source_.get_token(); }
  bool requested() const { return source_.stop_requested(); }
  // That a shell shows for the signal: 130 for Ctrl-C.
  int exit_code() const { return 128 + caught_; }

  // Ends the process the way the signal would have, so that the caller's shell sees what happened.
  [[noreturn]] void Raise() const;

 private:
  void Wait();

  std::stop_source source_;
  sigset_t signals_{};
  std::atomic<int> caught_ = SIGINT;
  std::stop_source finished_;
  std::thread thread_;
};

}  // namespace sinew::cli
