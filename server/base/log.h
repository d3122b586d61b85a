// log.h - the server's log, written by a thread of its own so that no caller waits for its reader.
#pragma once

#include <absl/status/statusor.h>
#include <spdlog/logger.h>

#include <cstdint>
#include <memory>
#include <string>

#include "server/base/log_config.h"

namespace sinew::server {

using Log = std::shared_ptr<spdlog::logger>;

// Lines wait in a queue of bounded length. A line that finds it full replaces the oldest one: a
// pipe that nothing reads must stop neither the server nor its shutdown. Thread-safe.
class LogOutput {
 public:
  // The server's log on stderr, as text or JSON lines of time (RFC 3339, UTC), level and message,
  // or the messages alone to LogConfig::take. Control characters are written as \xNN: text from a
  // client cannot look like another line.
  static std::unique_ptr<LogOutput> ToStderr(const LogConfig& config);
  // Lines as they are, appended to a file that only its owner may read; "-" = stdout.
  // kInvalidArgument: cannot be opened.
  static absl::StatusOr<std::unique_ptr<LogOutput>> ToFile(const std::string& path);
  // Writes what waits, for up to a second if the reader is slow.
  ~LogOutput();
  LogOutput(const LogOutput&) = delete;
  LogOutput& operator=(const LogOutput&) = delete;

  // Must not be used after this object.
  const Log& log() const;
  // Lines that were lost.
  std::uint64_t dropped() const;
  // Continues in a new file of the same name, after a rotation has renamed the old one.
  absl::Status Reopen();

 private:
  struct State;
  explicit LogOutput(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sinew::server
