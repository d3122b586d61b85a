#include "client/cli/context.h"

#include <absl/strings/str_cat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "client/cli/exit_code.h"
#include "client/cli/printable.h"
#include "client/cpp/status_macros.h"

namespace sinew::cli {

absl::StatusOr<client::Client> Context::Connect() {
  if (client_) return *client_;
  if (globals_.local) {
    SINEW_ASSIGN_OR_RETURN(local_, LocalService::Start());
    client_ = local_->client();
  } else {
    SINEW_ASSIGN_OR_RETURN(client_, client::Client::Connect({.address = globals_.server}));
  }
  return *client_;
}

absl::Status Context::CheckStop() const {
  return stop_.stop_requested() ? absl::CancelledError("interrupted") : absl::OkStatus();
}

std::shared_ptr<Progress> Context::MakeProgress(const std::string& label) const {
  return std::make_shared<Progress>(!globals_.quiet && ::isatty(STDERR_FILENO) == 1, label);
}

void Context::Print(const std::string& text) const {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void Context::PrintJson(const nlohmann::ordered_json& json) const {
  Print(json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

void Context::Note(const std::string& text) const {
  if (!globals_.quiet) std::fprintf(stderr, "sinew: %s\n", Printable(text).c_str());
}

void Context::Warn(const std::string& text) const {
  std::fprintf(stderr, "sinew: warning: %s\n", Printable(text).c_str());
}

void Context::Warn(const std::vector<client::Problem>& problems) const {
  for (const client::Problem& problem : problems) Warn(problem.message);
}

void Context::WarnOnce(const std::string& text) const {
  if (warned_.insert(text).second) Warn(text);
}

absl::Status CheckOutput() {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return absl::OkStatus();
  return OutputError(
      absl::StrCat("stdout: cannot write: ", std::strerror(errno != 0 ? errno : EIO)));
}

}  // namespace sinew::cli
