// running_server.h - the real sinewd as a child process on a loopback port, for tests that end it
// the hard way.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "sinew/client.h"

namespace sinew::client {

class RunningServer {
 public:
  // Starts SINEWD with --listen `listen` and the further arguments and waits for its one line.
  // Fails the test and leaves address() empty if it does not come up.
  explicit RunningServer(const std::string& listen = "127.0.0.1:0",
                         const std::vector<std::string>& arguments = {});
  ~RunningServer();  // kills it if it still runs
  RunningServer(const RunningServer&) = delete;
  RunningServer& operator=(const RunningServer&) = delete;

  const std::string& address() const { return address_; }
  // Options that reach it, with short waits between attempts.
  ClientOptions Options() const;

  // Sends the signal.
  void Signal(int signal) const;
  // Waits for the end and returns the exit code, or minus the signal that ended it.
  int Wait();

 private:
  pid_t pid_ = -1;
  std::string address_;
};

}  // namespace sinew::client
