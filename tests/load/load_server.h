// load_server.h - sinewd under load, with its default limits; its end is judged.
#pragma once

#include <string>
#include <vector>

#include "sinew/client.h"
#include "tests/integration/server/sinewd_process.h"
#include "tests/load/report.h"

namespace sinew::testing {

class LoadServer {
 public:
  explicit LoadServer(Report& report, std::vector<std::string> flags = {});
  // What it wrote is printed if something failed.
  ~LoadServer();

  const std::string& address() const { return process_.address(); }
  pid_t pid() const { return process_.pid(); }
  // A new connection that repeats nothing, so that no error is hidden.
  client::Client Client() const;
  client::ServerStats Stats(const client::Client& client) const;
  // Allocated memory, of its metrics.
  double HeapBytes() const;
  // SIGTERM; without calls in progress it ends at once.
  void Stop();

 private:
  Report& report_;
  SinewdProcess process_;
};

}  // namespace sinew::testing
