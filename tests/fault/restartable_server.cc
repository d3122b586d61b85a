#include "tests/fault/restartable_server.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <utility>

#include "tests/fault/motions.h"

namespace sinew::testing {
namespace {

namespace fs = std::filesystem;

// The whole of 127/8 is loopback: an address that no other process uses, so that the port is free
// after each kill.
std::string OwnAddress() {
  static std::atomic<unsigned> count{0};
  const auto id = static_cast<unsigned>(::getpid());
  return absl::StrCat("127.", 2 + id / 256 % 250, ".", id % 256, ".", 1 + count++ % 250, ":0");
}

}  // namespace

RestartableServer::RestartableServer(Suite& suite, fs::path data_dir,
                                     std::vector<std::string> flags)
    : suite_(suite),
      data_dir_(std::move(data_dir)),
      flags_(std::move(flags)),
      address_(OwnAddress()) {
  Start();
}

RestartableServer::~RestartableServer() {
  if (suite_.failed() && process_ != nullptr) {
    std::printf("stderr of sinewd:\n%s\n", process_->err().c_str());
  }
}

void RestartableServer::Start() {
  std::vector<std::string> flags = {"--listen",    address_, "--http",         "off",
                                    "--log-level", "error",  "--client-share", "1"};
  if (!data_dir_.empty()) flags.insert(flags.end(), {"--data-dir", data_dir_.string()});
  flags.insert(flags.end(), flags_.begin(), flags_.end());
  process_.reset();
  process_ = std::make_unique<SinewdProcess>(std::move(flags));
  if (process_->address().empty()) {
    suite_.Abandon(absl::StrCat("sinewd does not start: ", process_->err()));
  }
  address_ = process_->address();
}

void RestartableServer::Kill() {
  if (process_->HasEnded()) {
    suite_.Abandon(absl::StrCat("sinewd has ended by itself: exit code ", process_->Wait(), ", ",
                                process_->err()));
  }
  process_->Signal(SIGKILL);
  if (process_->Wait() != -SIGKILL) suite_.Abandon("sinewd outlives SIGKILL");
}

client::Client RestartableServer::Client() const {
  return Connected(suite_, Direct(address_));
}

void RestartableServer::CheckFolders() const {
  const auto names = [&](const char* folder) {
    std::vector<std::string> found;
    std::error_code error;
    for (fs::directory_iterator it(data_dir_ / folder, error), end; !error && it != end;
         it.increment(error)) {
      found.push_back(it->path().filename().string());
    }
    return found;
  };
  for (const char* folder : {"rigs", "bound", "uploads"}) {
    for (const std::string& name : names(folder)) {
      if (absl::EndsWith(name, ".tmp")) {
        suite_.Violated(absl::StrCat("temporary file ", folder, "/", name, " is left"));
      }
    }
  }
  for (const std::string& name : names("bound")) {
    const std::string hex = name.substr(0, name.find('-'));
    if (absl::EndsWith(name, ".bound") &&
        !fs::exists(data_dir_ / "rigs" / absl::StrCat("sha256-", hex, ".sinewrig"))) {
      suite_.Violated(absl::StrCat("bound/", name, " is left of a rig that is not stored"));
    }
  }
  suite_.Checked("data folders: no temporary file, no orphan");
}

}  // namespace sinew::testing
