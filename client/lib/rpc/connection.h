// connection.h - the channel, its stubs, and the one place where a call is started, cancelled and
// repeated.
#pragma once

#include <absl/functional/function_ref.h>
#include <absl/status/status.h>
#include <absl/time/time.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>

#include <functional>
#include <memory>

#include "sinew/client.h"
#include "sinew/v1/info_service.grpc.pb.h"
#include "sinew/v1/rig_service.grpc.pb.h"
#include "sinew/v1/session_service.grpc.pb.h"

namespace sinew::client {

// What happens after an error that IsBroken.
enum class Repeat {
  kNever,
  kAttempts,  // RetryPolicy::max_attempts
  kPersist,   // for RetryPolicy::resume_for
};

// Makes again what the server has lost and returns the target to use instead. Empty: a loss is
// final.
using HealTarget = std::function<absl::StatusOr<Target>(const std::stop_token&)>;
inline constexpr int kMaxHeals = 3;  // in a row, without a frame in between

// Waits, but not beyond a requested stop. False if it was requested.
bool SleepFor(absl::Duration duration, const std::stop_token& stop);

class Connection {
 public:
  Connection(std::shared_ptr<grpc::Channel> channel, ClientOptions options, bool in_process);

  const ClientOptions& options() const { return options_; }
  // The channel ends in this process: received buffers are the server's own and must be copied.
  bool in_process() const { return in_process_; }
  grpc::GenericStub& raw() { return raw_; }
  v1::InfoService::StubInterface& info() { return *info_; }
  v1::RigService::StubInterface& rigs() { return *rigs_; }
  v1::SessionService::StubInterface& sessions() { return *sessions_; }

  absl::Time Deadline(const CallOptions& call) const;

  // A context with the client's metadata; an infinite deadline sets none.
  std::unique_ptr<grpc::ClientContext> NewContext(absl::Time deadline) const;

  // Runs `attempt` with a fresh context until it succeeds, fails for good or `repeat` is exhausted;
  // a stop cancels the context. CANCELLED that nobody here asked for is returned as kUnavailable.
  absl::Status Run(const CallOptions& call, Repeat repeat,
                   absl::FunctionRef<absl::Status(grpc::ClientContext&)> attempt) const;

  // Gives a broken channel a moment to connect, however long it wanted to wait itself. Without this
  // nothing would look at its sockets between calls that fail at once, but for a poller of gRPC's
  // own every 5 s.
  void Reconnect(const std::stop_token& stop) const;

  // One attempt of it.
  absl::Status RunOnce(absl::Time deadline, const std::stop_token& stop,
                       absl::FunctionRef<absl::Status(grpc::ClientContext&)> attempt) const;

 private:
  const ClientOptions options_;
  const bool in_process_;
  const std::shared_ptr<grpc::Channel> channel_;
  grpc::GenericStub raw_;
  const std::unique_ptr<v1::InfoService::StubInterface> info_;
  const std::unique_ptr<v1::RigService::StubInterface> rigs_;
  const std::unique_ptr<v1::SessionService::StubInterface> sessions_;
};

// Counts failed attempts of one piece of work and waits between them.
class Retrier {
 public:
  // Gives up at `deadline` whatever `repeat` says. `connection` must outlive it.
  Retrier(const Connection& connection, Repeat repeat, absl::Time deadline, std::stop_token stop);

  // After a failure: waits and returns true if the work should be tried again; false if `status` is
  // final.
  bool Again(const absl::Status& status);

  // The work got further: what comes next is a first attempt.
  void Progress();

 private:
  const Connection& connection_;
  const Repeat repeat_;
  const absl::Time deadline_;
  const std::stop_token stop_;
  int attempt_ = 0;
  absl::Time first_failure_ = absl::InfiniteFuture();
};

}  // namespace sinew::client
