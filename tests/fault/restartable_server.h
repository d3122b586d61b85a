// restartable_server.h - sinewd with a data folder, killed and started again at the same address.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "sinew/client.h"
#include "tests/fault/suite.h"
#include "tests/integration/server/sinewd_process.h"

namespace sinew::testing {

class RestartableServer {
 public:
  // Starts it. An empty folder: no data-dir.
  RestartableServer(Suite& suite, std::filesystem::path data_dir,
                    std::vector<std::string> flags = {});
  ~RestartableServer();

  void Start();
  void Kill();  // SIGKILL

  const std::string& address() const { return address_; }
  const std::filesystem::path& data_dir() const { return data_dir_; }
  SinewdProcess& process() { return *process_; }
  // A new connection that repeats nothing.
  client::Client Client() const;

  // Violated if a temporary file is left, or bound data of a rig that is not stored. For a server
  // that has just started: it removes both.
  void CheckFolders() const;

 private:
  Suite& suite_;
  const std::filesystem::path data_dir_;
  const std::vector<std::string> flags_;
  std::string address_;
  std::unique_ptr<SinewdProcess> process_;
};

}  // namespace sinew::testing
