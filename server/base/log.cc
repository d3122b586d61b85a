#include "server/base/log.h"

#include <absl/time/clock.h>
#include <absl/time/time.h>
#include <spdlog/formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <nlohmann/json.hpp>
#include <string>

namespace sinew::server {
namespace {

class JsonFormatter : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) override {
    nlohmann::ordered_json line;
    line["time"] =
        absl::FormatTime(absl::RFC3339_full, absl::FromChrono(message.time), absl::UTCTimeZone());
    const auto level = spdlog::level::to_string_view(message.level);
    line["level"] = std::string(level.data(), level.size());
    line["message"] = std::string(message.payload.data(), message.payload.size());
    const std::string text =
        line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
    out.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<JsonFormatter>();
  }
};

}  // namespace

Log MakeLog(const LogConfig& config) {
  auto log =
      std::make_shared<spdlog::logger>("sinewd", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  if (config.format == "json") {
    log->set_formatter(std::make_unique<JsonFormatter>());
  } else {
    log->set_pattern("%Y-%m-%dT%H:%M:%S.%e %l %v");
  }
  log->set_level(spdlog::level::from_str(config.level));
  log->flush_on(spdlog::level::debug);
  return log;
}

}  // namespace sinew::server
