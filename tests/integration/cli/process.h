// process.h - runs the real programs: `sinew` to its end, `sinewd` in the background.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/temporary_folder.h"

namespace sinew::testing {

struct Finished {
  int exit_code = -1;  // -1: ended by a signal
  int signal = 0;
  std::string out, err;
};

// A child process whose stdout and stderr are collected. Move only; the destructor kills it.
class Process {
 public:
  // Starts `arguments[0]`; stdin is /dev/null. `folder` is its working folder if not empty;
  // `environment` holds NAME=VALUE entries added to ours (SINEW_SERVER and TRACEPARENT are always
  // removed first).
  explicit Process(const std::vector<std::string>& arguments, const std::string& folder = {},
                   const std::vector<std::string>& environment = {});
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  void Signal(int signal) const;
  bool running();

  // Reads everything and waits for the end.
  Finished Wait();

  // Reads stdout up to the next newline; empty at its end.
  std::string ReadLine();
  // Reads stderr up to the end of a line that contains `text`; false: there is none.
  bool ReadErrorsUntil(const std::string& text);

 private:
  pid_t pid_ = -1;
  int out_ = -1, err_ = -1;
  bool reaped_ = false;
  int state_ = 0;
};

// sinewd on a loopback port; the destructor stops it.
class Daemon {
 public:
  // "127.0.0.1:0" picks a free port.
  explicit Daemon(const std::string& listen = "127.0.0.1:0",
                  const std::vector<std::string>& flags = {});

  const std::string& address() const { return address_; }
  Process& process() { return process_; }

 private:
  Process process_;
  std::string address_;
};

// `sinew ARGUMENTS...`, run to its end.
Finished Sinew(std::vector<std::string> arguments, const std::string& folder = {},
               const std::vector<std::string>& environment = {});
// Runs sinew with --server ADDRESS.
Finished SinewAt(const std::string& address, std::vector<std::string> arguments);

// Tests with a folder for each and one server for all of them.
class DaemonTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { daemon_ = new Daemon; }
  static void TearDownTestSuite() { delete std::exchange(daemon_, nullptr); }

  static Finished At(std::vector<std::string> arguments) {
    return SinewAt(daemon_->address(), std::move(arguments));
  }
  static nlohmann::json JsonAt(std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    const Finished finished = At(arguments);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return nlohmann::json::parse(finished.out, nullptr, false);
  }

  inline static Daemon* daemon_ = nullptr;
  TemporaryFolder folder_;
};

}  // namespace sinew::testing
