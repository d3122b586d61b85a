#include <absl/time/clock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "tests/unit/client/lib/fake_server.h"

namespace sinew::client {
namespace {

TEST(Calls, RetryWhenServerIsUnavailable) {
  FakeServer server;
  const Client client = *Client::Connect(server.Options());
  for (const grpc::StatusCode code : {grpc::UNAVAILABLE, grpc::CANCELLED}) {
    server.faults.fail_next_call = grpc::Status(code, "away");
    EXPECT_TRUE(client.GetServerInfo().ok()) << code;
  }
  EXPECT_EQ(server.counts.calls, 4);
  server.faults.fail_next_call = grpc::Status(grpc::INTERNAL, "broken");
  EXPECT_TRUE(absl::IsInternal(client.GetServerInfo().status()));
}

TEST(Calls, TakeNoProxyToThisMachine) {
  FakeServer server;
  ::setenv("http_proxy", "http://127.0.0.1:9", 1);  // nothing listens there
  EXPECT_TRUE(Client::Connect(server.Options())->GetServerInfo().ok());
  ::unsetenv("http_proxy");
}

TEST(Calls, RefusedCallsWaitAsLongAsTheServerSays) {
  FakeServer server;
  const Client client = *Client::Connect(server.Options());
  server.faults.fail_next_call = Refused(std::chrono::milliseconds(20));
  const absl::Time before = absl::Now();
  EXPECT_TRUE(client.GetServerInfo().ok());
  EXPECT_GE(absl::Now() - before, absl::Milliseconds(20));
  EXPECT_EQ(server.counts.calls, 2);
  server.faults.fail_next_call = Refused({});
  EXPECT_TRUE(absl::IsResourceExhausted(client.GetServerInfo().status())) << "it may last for ever";
  server.faults.fail_next_call = Refused(std::chrono::milliseconds(900));
  EXPECT_TRUE(absl::IsResourceExhausted(
      client.GetServerInfo({.deadline = absl::Milliseconds(800)}).status()))
      << "beyond the deadline";
  EXPECT_EQ(server.counts.calls, 4);
}

TEST(Calls, GiveUpAfterMaxAttempts) {
  ClientOptions options;
  {
    FakeServer server;
    options = server.Options();
  }
  options.retry.max_attempts = 3;
  EXPECT_TRUE(absl::IsUnavailable(Client::Connect(options)->GetServerInfo().status()));
}

TEST(Calls, SendMetadata) {
  FakeServer server;
  ClientOptions options = server.Options();
  options.metadata["x-sinew-test"] = "hello";
  EXPECT_EQ(Client::Connect(options)->GetServerInfo()->version, "hello");
}

TEST(Calls, EndAtStopOrDeadline) {
  FakeServer server;
  const Client client = *Client::Connect(server.Options());
  EXPECT_TRUE(
      absl::IsDeadlineExceeded(client.ListMethods({.deadline = absl::Milliseconds(50)}).status()));
  std::stop_source stop;
  std::thread stopper([&] {
    absl::SleepFor(absl::Milliseconds(30));
    stop.request_stop();
  });
  EXPECT_TRUE(absl::IsCancelled(client.ListMethods({.stop = stop.get_token()}).status()));
  stopper.join();
  EXPECT_TRUE(absl::IsCancelled(client.GetServerInfo({.stop = stop.get_token()}).status()));
}

TEST(Connect, RefusesOptionsOutOfRange) {
  const auto code = [](auto spoil) {
    ClientOptions options;
    spoil(options);
    return Client::Connect(options).status().code();
  };
  const auto bad = absl::StatusCode::kInvalidArgument;
  EXPECT_EQ(code([](ClientOptions&) {}), absl::StatusCode::kOk);
  EXPECT_EQ(code([](ClientOptions& o) { o.address = ""; }), bad);
  EXPECT_EQ(code([](ClientOptions& o) { o.deadline = absl::ZeroDuration(); }), bad);
  EXPECT_EQ(code([](ClientOptions& o) { o.max_receive_bytes = 1; }), bad);
  EXPECT_EQ(code([](ClientOptions& o) { o.max_receive_bytes = ~std::size_t{0}; }), bad);
  EXPECT_EQ(code([](ClientOptions& o) { o.piece_bytes = 0; }), bad);
  EXPECT_EQ(code([](ClientOptions& o) { o.piece_bytes = 4 << 20; }), bad);
  EXPECT_EQ(code([](ClientOptions& o) { o.compare_block_bytes = 5 << 20; }), bad);
  EXPECT_EQ(code([](ClientOptions& o) { o.retry.max_attempts = 0; }), bad);
  EXPECT_EQ(code([](ClientOptions& o) { o.metadata["Upper"] = "x"; }), bad);
  EXPECT_EQ(code([](ClientOptions& o) { o.metadata["x"] = "\n"; }), bad);
  const auto traced = [](ClientOptions& o) { o.traceparent = [] { return std::string(); }; };
  EXPECT_EQ(code(traced), absl::StatusCode::kOk);
  const auto traced_twice = [&](ClientOptions& o) {
    traced(o);
    o.metadata["traceparent"] = "x";
  };
  EXPECT_EQ(code(traced_twice), bad);
}

TEST(CreateSession, RetryCreatesOneSession) {
  FakeServer server;
  server.rigs["rigs/a"] = "";
  const Client client = *Client::Connect(server.Options());
  server.faults.fail_next_call = grpc::Status(grpc::UNAVAILABLE, "answer lost");
  const auto session = client.CreateSession({.rig = "rigs/a", .recipe = "lbs"});
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_EQ(server.counts.creates, 2);
  EXPECT_EQ(server.sessions.size(), 1u);
  EXPECT_EQ(session->state, SessionState::kBinding);
  EXPECT_EQ(client.CreateSession({.rig = "rigs/a", .recipe = "lbs"})->name, "sessions/2")
      << "another call is another session";
}

TEST(WaitSession, ReportsProgressAcrossBreak) {
  FakeServer server;
  server.rigs["rigs/a"] = "";
  const Client client = *Client::Connect(server.Options());
  const Session session = *client.CreateSession({.rig = "rigs/a", .recipe = "lbs"});
  server.faults.fail_next_call = grpc::Status(grpc::UNAVAILABLE, "away");
  std::vector<SessionState> vertex_status;
  const auto ready = client.WaitSession(
      session.name, [&](const Session& now) { vertex_status.push_back(now.state); });
  ASSERT_TRUE(ready.ok()) << ready.status();
  EXPECT_EQ(ready->state, SessionState::kReady);
  EXPECT_EQ(vertex_status,
            (std::vector{SessionState::kBinding, SessionState::kBinding, SessionState::kReady}));
}

TEST(WaitSession, ReturnsErrorOfFailedBind) {
  FakeServer server;
  server.rigs["rigs/a"] = "";
  const Client client = *Client::Connect(server.Options());
  const Session session = *client.CreateSession({.rig = "rigs/a", .recipe = "never"});
  const absl::Status status = client.WaitSession(session.name).status();
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_EQ(Details(status).reason, "LIMIT");
}

}  // namespace
}  // namespace sinew::client
