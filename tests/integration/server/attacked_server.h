// attacked_server.h - sinewd with a loopback port for attackers and a Unix socket for another
// client, who must be served meanwhile.
#pragma once

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/integration/server/sinewd_process.h"
#include "tests/integration/server/stubs.h"
#include "tests/support/temporary_folder.h"

namespace sinew::testing {

class AttackTest : public ::testing::Test {
 protected:
  void Start(std::vector<std::string> flags = {}) {
    const std::string socket = "unix:" + (folder_.path() / "socket").string();
    flags.insert(flags.end(), {"--listen", "127.0.0.1:0", "--listen", socket});
    server_.emplace(std::move(flags));
    ASSERT_FALSE(server_->address().empty()) << server_->err();
    stubs_.emplace(Connect(socket));
    stubs_->Stats();  // connected, and all threads started
  }
  // A connection of its own. The attacker's are one client, whatever their number.
  std::shared_ptr<grpc::Channel> Connect(const std::string& address) const {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetMaxReceiveMessageSize(64 << 20);
    return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
  }
  Stubs Attacker() const { return Stubs(Connect(address())); }

  SinewdProcess& server() { return *server_; }
  const std::string& address() const { return server_->address(); }
  pid_t pid() const { return server_->pid(); }
  // Stubs of the other client.
  Stubs& stubs() { return *stubs_; }

 private:
  TemporaryFolder folder_;
  std::optional<SinewdProcess> server_;
  std::optional<Stubs> stubs_;
};

}  // namespace sinew::testing
