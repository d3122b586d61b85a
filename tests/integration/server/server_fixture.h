// server_fixture.h - a server in this process on a loopback port, with stubs.
#pragma once

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "server/process/server.h"
#include "tests/integration/server/long_work.h"
#include "tests/integration/server/stream_client.h"
#include "tests/integration/server/stubs.h"
#include "tests/support/fake_clock.h"
#include "tests/support/test_rig.h"
#include "tests/support/wait_until.h"

namespace sinew::testing {

// Tests set `config` and call Start.
class ServerTest : public ::testing::Test {
 protected:
  ServerTest() {
    config.network.listen = {"127.0.0.1:0"};
    config.log.level = "off";
    config.access.client_share = 1;  // all tests' calls come from one client
  }
  void Start(server::Clock& time = server::RealClock()) {
    auto started = server::Server::Start(config, time);
    ASSERT_TRUE(started.ok()) << started.status();
    server_ = *std::move(started);
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(64 << 20);
    // Every test its own connection.
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    channel_ = grpc::CreateCustomChannel(server_->addresses().front(),
                                         grpc::InsecureChannelCredentials(), arguments);
    stubs_ = std::make_unique<Stubs>(channel_);
  }
  // Advances the clock until the bind that runs is over. What it waits for must be allowed to
  // take long: the clock advances far while the bind notices that it should stop.
  void ExceedBindTime() {
    stubs().WaitFor(&v1::ServerStats::binds_running, 1);
    WaitUntil([&] { return stubs().Stats().binds_running() == 0; },
              [&] { clock.Advance(std::chrono::seconds(1)); });
  }
  Stubs& stubs() { return *stubs_; }
  server::Server& server() { return *server_; }

  v1::StreamOpen OpenFor(const std::string& session) {
    v1::StreamOpen open;
    open.mutable_target()->set_session(session);
    return open;
  }
  v1::StreamOpen OpenRecipe(const std::string& rig, const std::string& recipe_text) {
    v1::StreamOpen open;
    open.mutable_target()->mutable_source()->set_rig(rig);
    open.mutable_target()->mutable_source()->set_recipe_text(recipe_text);
    return open;
  }

  server::Config config;
  FakeClock clock;  // for Start
  std::unique_ptr<server::Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<Stubs> stubs_;
};

}  // namespace sinew::testing
