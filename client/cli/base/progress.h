// progress.h - progress of a command: one line on a terminal, a few lines in a log, or messages for
// a program that reads them.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <thread>

#include "client/bake/base/monitor.h"

namespace sinew::cli {

// Moves the cursor of a terminal to the start of the line and erases the line.
inline constexpr char kWipeLine[] = "\r\x1b[K";

// Writes a line of JSON to stderr, such as {"event":"note","text":"..."}.
std::string EventText(const nlohmann::ordered_json& event);
void PrintEvent(const nlohmann::ordered_json& event);

// Thread-safe: the client library reports from its own threads.
class Progress : public bake::ProgressLine {
 public:
  enum class Form {
    kNone,
    kBar,     // redraws one line of stderr, at most ten times a second, and erases it at the end
    kLines,   // a line after a second and then every ten seconds, for output that is not a terminal
    kOpenJd,  // openjd_status and openjd_progress, every second
    kJson,    // an event every second
  };
  using Part = bake::Monitor::Part;  // openjd_progress counts kMain only
  // The time begins with the first update.
  Progress(Form form, std::string label, Part part = Part::kMain)
      : form_(form), part_(part), label_(std::move(label)) {}
  ~Progress() override;
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Update(double fraction, const std::string& detail) override;

  // Wipes the line; later updates draw nothing.
  void Close() override;

 private:
  void DrawBar();
  void WriteLines(const std::stop_token& stop);
  void WriteLine();

  std::mutex mutex_;
  Form form_;
  const Part part_;
  bool drawn_ = false, has_line_ = false;
  std::string label_, detail_;
  double fraction_ = 0;
  std::chrono::steady_clock::time_point last_;
  std::condition_variable_any wake_;
  std::jthread writer_;  // of all forms but kBar, from the first update on
};

}  // namespace sinew::cli
