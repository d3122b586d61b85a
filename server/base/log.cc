#include "server/base/log.h"
#include "server/base/thread_name.h"

#include <absl/strings/str_cat.h>
#include <absl/time/clock.h>
#include <absl/time/time.h>
#include <fcntl.h>
#include <poll.h>
#include <spdlog/async_logger.h>
#include <spdlog/details/thread_pool.h>
#include <spdlog/formatter.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/sink.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "server/base/files.h"
#include "server/base/printable.h"

namespace sinew::server {
namespace {

using Steady = std::chrono::steady_clock;
using Take = std::function<void(const std::string&)>;

constexpr std::size_t kLines = 2048;      // that wait for the reader
constexpr std::size_t kLineBytes = 4096;  // of a message
constexpr std::chrono::seconds kLastWords{1};
constexpr int kPollMilliseconds = 50;

std::string MessageOf(const spdlog::details::log_msg& message) {
  return Printable(Shortened({message.payload.data(), message.payload.size()}, kLineBytes));
}

void Append(std::string_view text, spdlog::memory_buf_t& out) {
  out.append(text.data(), text.data() + text.size());
}

class JsonFormatter : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) override {
    nlohmann::ordered_json line;
    line["time"] =
        absl::FormatTime(absl::RFC3339_full, absl::FromChrono(message.time), absl::UTCTimeZone());
    const auto level = spdlog::level::to_string_view(message.level);
    line["level"] = std::string(level.data(), level.size());
    line["message"] = MessageOf(message);
    Append(line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace), out);
    Append("\n", out);
  }
  std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<JsonFormatter>();
  }
};

class TextFormatter : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) override {
    head_.format(message, out);
    Append(MessageOf(message), out);
    Append("\n", out);
  }
  std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<TextFormatter>();
  }

 private:
  spdlog::pattern_formatter head_{"%Y-%m-%dT%H:%M:%S.%e%z %l ", spdlog::pattern_time_type::local,
                                  ""};
};

// Writes to a file or pipe and never waits in the kernel: a thread that does cannot be ended.
class DescriptorSink final : public spdlog::sinks::sink {
 public:
  DescriptorSink(int file, std::unique_ptr<spdlog::formatter> formatter, Take take)
      : file_(file), formatter_(std::move(formatter)), take_(std::move(take)) {}

  // Called by the thread of the log only.
  void log(const spdlog::details::log_msg& message) override {
    if (take_) return take_(MessageOf(message));
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    if (!Write({line.data(), line.size()})) ++dropped_;
  }
  void flush() override {}
  void set_pattern(const std::string&) override {}
  void set_formatter(std::unique_ptr<spdlog::formatter>) override {}

  // From now on a reader that takes nothing is waited for only this long.
  void GiveUpAt(Steady::time_point deadline) { deadline_ = deadline.time_since_epoch().count(); }
  std::uint64_t dropped() const { return dropped_; }

 private:
  bool Write(std::string_view line) {
    while (!line.empty()) {
      if (!WaitWritable()) return false;
      // A pipe that polls as writable takes this much without blocking.
      const ssize_t written =
          ::write(file_, line.data(), std::min<std::size_t>(line.size(), PIPE_BUF));
      if (written < 0 && errno != EINTR && errno != EAGAIN) return false;
      if (written > 0) line.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
  }

  bool WaitWritable() const {
    while (true) {
      pollfd file{.fd = file_, .events = POLLOUT, .revents = 0};
      const bool late = Steady::now().time_since_epoch().count() >= deadline_;
      const int found = ::poll(&file, 1, late ? 0 : kPollMilliseconds);
      if (found > 0) return (file.revents & POLLOUT) != 0;
      if (found < 0 && errno != EINTR) return false;
      if (late) return false;
    }
  }

  const int file_;
  const std::unique_ptr<spdlog::formatter> formatter_;
  const Take take_;  // the messages, if set
  std::atomic<Steady::rep> deadline_{std::numeric_limits<Steady::rep>::max()};
  std::atomic<std::uint64_t> dropped_{0};
};

Descriptor OpenForAppending(const std::string& path) {
  return Descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
}

absl::Status CannotOpen(const std::string& path) {
  return absl::InvalidArgumentError(absl::StrCat("cannot open ", path, ": ", std::strerror(errno)));
}

}  // namespace

struct LogOutput::State {
  State(int fd, std::unique_ptr<spdlog::formatter> formatter, Take take = {})
      : sink(std::make_shared<DescriptorSink>(fd, std::move(formatter), std::move(take))),
        pool(std::make_shared<spdlog::details::thread_pool>(kLines, 1, [] { NameThread("log"); })),
        log(std::make_shared<spdlog::async_logger>(
            "sinewd", sink, pool, spdlog::async_overflow_policy::overrun_oldest)) {}

  std::string path;  // empty = a stream that was open before
  Descriptor file;
  std::shared_ptr<DescriptorSink> sink;
  std::shared_ptr<spdlog::details::thread_pool> pool;
  Log log;
};

LogOutput::LogOutput(std::unique_ptr<State> state) : state_(std::move(state)) {}

LogOutput::~LogOutput() {
  state_->sink->GiveUpAt(Steady::now() + kLastWords);
  state_->pool.reset();  // writes what waits and joins the thread
}

std::unique_ptr<LogOutput> LogOutput::ToStderr(const LogConfig& config) {
  std::unique_ptr<spdlog::formatter> formatter = std::make_unique<TextFormatter>();
  if (config.format == "json") formatter = std::make_unique<JsonFormatter>();
  auto state = std::make_unique<State>(STDERR_FILENO, std::move(formatter), config.take);
  state->log->set_level(spdlog::level::from_str(config.level));
  return std::unique_ptr<LogOutput>(new LogOutput(std::move(state)));
}

absl::StatusOr<std::unique_ptr<LogOutput>> LogOutput::ToFile(const std::string& path) {
  auto lines = std::make_unique<spdlog::pattern_formatter>("%v");
  if (path == "-") {
    auto state = std::make_unique<State>(STDOUT_FILENO, std::move(lines));
    return std::unique_ptr<LogOutput>(new LogOutput(std::move(state)));
  }
  Descriptor file = OpenForAppending(path);
  if (!file.ok()) return CannotOpen(path);
  auto state = std::make_unique<State>(file.fd(), std::move(lines));
  state->path = path;
  state->file = std::move(file);
  return std::unique_ptr<LogOutput>(new LogOutput(std::move(state)));
}

const Log& LogOutput::log() const {
  return state_->log;
}

std::uint64_t LogOutput::dropped() const {
  return state_->pool->overrun_counter() + state_->sink->dropped();
}

absl::Status LogOutput::Reopen() {
  if (state_->path.empty()) return absl::OkStatus();
  const Descriptor file = OpenForAppending(state_->path);
  // The descriptor keeps its number: a line that is being written ends in one of the two files.
  if (!file.ok() || ::dup3(file.fd(), state_->file.fd(), O_CLOEXEC) < 0) {
    return CannotOpen(state_->path);
  }
  return absl::OkStatus();
}

}  // namespace sinew::server
