// server.h - a running Sinew server: the gRPC services for other processes, for this one, or both.
//
//   SINEW_ASSIGN_OR_RETURN(auto server, Server::Start(config));
//   SINEW_ASSIGN_OR_RETURN(auto channel, server->InProcessChannel());
//   auto stub = sinew::v1::RigService::NewStub(channel);
//   ...
//   server->Drain(); server->Stop();
//
// A program that serves only itself (the command line's --local) starts one with no listen address
// and http "off".
#pragma once

#include <absl/status/statusor.h>
#include <grpcpp/channel.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "server/base/clock.h"
#include "server/base/config.h"

namespace sinew::server {

class Server {
 public:
  // Binds every address and starts to serve. kInvalidArgument: the configuration is
  // wrong; kUnavailable: an address cannot be bound; kFailedPrecondition: data_dir cannot be used.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const Config& config,
                                                       Clock& clock = RealClock());

  // Calls Stop if still running.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Listening addresses, with actual ports in place of 0: "127.0.0.1:41234", "unix:/path".
  const std::vector<std::string>& addresses() const;
  // "127.0.0.1:9464", or empty.
  const std::string& http_address() const;

  // "127.0.0.1:8080", where browsers find the page, or empty.
  const std::string& web_address() const;

  // A channel for this process alone: it needs no token and has no share of the limits. It connects
  // to an abstract socket, which accepts no other process. Receive limit 64 MiB. Calls through it
  // end with Stop; make none afterwards. kUnavailable: there is no descriptor for the socket.
  absl::StatusOr<std::shared_ptr<grpc::Channel>> InProcessChannel();

  // After a signal to read the configuration again: takes over what can change while serving, see
  // Runtime::Reload. An error is logged and changes nothing.
  void Reload(absl::StatusOr<Config> config);

  // Refuses new work from now on (UNAVAILABLE), reports not serving and not ready, and
  // notifies open streams. Returns immediately; a second call has no effect.
  void Drain();
  // After Drain: waits up to `timeout` until no call is running. True: none is.
  bool WaitDrained(std::chrono::milliseconds timeout);
  // Cancels running calls, waits for them and closes the sockets. Call it from any thread except
  // the server's own.
  void Stop();

 private:
  class State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sinew::server
