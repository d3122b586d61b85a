// progress.h - one line on a terminal that says how far a command is.
#pragma once

#include <chrono>
#include <mutex>
#include <string>

namespace sinew::cli {

// Redraws one line of stderr, at most ten times a second; the destructor wipes it. Does nothing
// unless `shown`: pass whether stderr is a terminal. Thread-safe: the client library reports from
// its own threads.
class Progress {
 public:
  Progress(bool shown, std::string label) : shown_(shown), label_(std::move(label)) {}
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `fraction` in [0, 1]; `detail` stands behind the bar.
  void Update(double fraction, const std::string& detail = {});

  // Wipes the line; later updates draw nothing.
  void Close();

 private:
  std::mutex mutex_;
  bool shown_;
  bool drawn_ = false;
  std::string label_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace sinew::cli
