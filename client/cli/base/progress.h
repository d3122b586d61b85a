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

// An event as one line of JSON with its newline, such as {"event":"note","text":"..."}.
std::string EventText(const nlohmann::ordered_json& event);
// Writes it to stderr at once, so that events of several threads do not mix.
void PrintEvent(const nlohmann::ordered_json& event);

// Thread-safe: the client library reports from its own threads.
class Progress : public bake::ProgressLine {
 public:
  enum class Form {
    kNone,
    kBar,     // redraws one line of stderr, at most ten times a second, and erases it at the end
    kLines,   // for logs: a line every ten seconds; if there was any, also the last state, once
    kOpenJd,  // openjd_status and openjd_progress, every second
    kJson,    // an event every second
  };
  using Part = bake::Monitor::Part;  // openjd_progress counts kMain only
  // label: what is done, such as "Bake"; printed as it is. Nothing is printed before the first
  // update, with which the time begins. between: of lines of kLines; another one for tests.
  Progress(Form form, std::string label, Part part = Part::kMain,
           std::chrono::milliseconds between = std::chrono::seconds(10))
      : form_(form), part_(part), between_lines_(between), label_(std::move(label)) {}
  ~Progress() override;  // as Close
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // kBar draws at once; the other forms are written by a thread of their own. A fraction outside
  // [0, 1] is clamped, one that is not finite counts as 0. `detail` is made printable.
  void Update(double fraction, const std::string& detail) override;

  // Wipes the line, or writes the last state; later updates draw nothing. Idempotent.
  void Close() override;

 private:
  void DrawBar();
  void WriteLines(const std::stop_token& stop);
  void WriteLine();
  std::string LogLine() const;

  std::mutex mutex_;
  Form form_;
  const Part part_;
  const std::chrono::milliseconds between_lines_;
  bool drawn_ = false;
  std::string last_line_;  // of kLines
  std::string label_, detail_;
  double fraction_ = 0;
  std::chrono::steady_clock::time_point last_;
  std::condition_variable_any wake_;
  std::jthread writer_;  // of all forms but kBar, from the first update on
};

}  // namespace sinew::cli
