// local_server.h - a sinewd for tests: on a free port of this machine, ended with its object or its
// process.
//
//   static auto server = sinew::client::LocalServer::Start();
//   ASSERT_TRUE(server.ok()) << server.status();
//   const auto client = sinew::client::Client::Connect({.address = server->address()});
#pragma once

#include <absl/status/statusor.h>
#include <absl/time/time.h>
#include <sys/types.h>

#include <string>
#include <vector>

namespace sinew::client {

// Options of LocalServer::Start.
struct LocalServerOptions {
  std::string program = {};  // path of sinewd; empty: $SINEWD, else it is looked for in $PATH
  std::string listen = "127.0.0.1:0";   // port 0: a free one
  std::vector<std::string> flags = {};  // further options of sinewd
  absl::Duration start_deadline = absl::Seconds(30);
};

// A running sinewd with rigs in memory and without HTTP. It ends with this process, also one that
// is killed, and writes no file. Not thread-safe.
class LocalServer {
 public:
  // Waits until it listens. Its errors go to stderr of this process.
  //   kNotFound: no such program. kUnavailable: it ended before it listened.
  //   kDeadlineExceeded: it did not listen in time.
  static absl::StatusOr<LocalServer> Start(const LocalServerOptions& options = {});

  LocalServer(LocalServer&& other) noexcept;             // leaves `other` stopped
  LocalServer& operator=(LocalServer&& other) noexcept;  // exchanges the two servers
  ~LocalServer();                                        // as Stop

  // Where it listens, e.g. "127.0.0.1:41234".
  const std::string& address() const { return address_; }
  pid_t pid() const { return pid_; }  // of sinewd; -1 once it is stopped

  // Sends SIGTERM, and SIGKILL after `deadline`; waits for the end. Returns its exit code, minus
  // the signal that killed it, or 0 if it was stopped before.
  int Stop(absl::Duration deadline = absl::Seconds(10));

 private:
  LocalServer(pid_t pid, int output) : pid_(pid), output_(output) {}
  absl::Status ReadAddress(absl::Duration limit);

  pid_t pid_ = -1;
  int output_ = -1;  // its stdout
  std::string address_;
};

}  // namespace sinew::client
