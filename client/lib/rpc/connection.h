// connection.h - the channel and its stubs; starts, cancels and repeats calls.
#pragma once

#include <absl/functional/function_ref.h>
#include <absl/status/statusor.h>
#include <absl/time/time.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>

#include <memory>
#include <stop_token>
#include <string>

#include "client/lib/codec/status_codec.h"
#include "client/lib/rpc/credentials.h"
#include "client/lib/rpc/recovery.h"
#include "client/lib/rpc/routes.h"
#include "core/base/status.h"
#include "sinew/client.h"
#include "sinew/v1/info_service.grpc.pb.h"
#include "sinew/v1/rig_service.grpc.pb.h"
#include "sinew/v1/session_service.grpc.pb.h"

namespace sinew::client {

using InfoStub = v1::InfoService::StubInterface;
using RigStub = v1::RigService::StubInterface;
using SessionStub = v1::SessionService::StubInterface;

// Options of one call among several that must all end by `end`.
CallOptions CallUntil(absl::Time end, const std::stop_token& stop);

class Connection {
 public:
  Connection(std::shared_ptr<grpc::Channel> channel, ClientOptions options,
             std::shared_ptr<BearerToken> token, std::string proxy = {});

  const ClientOptions& options() const { return options_; }
  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }
  grpc::GenericStub& raw() { return raw_; }
  InfoStub& info() { return *info_; }
  RigStub& rigs() { return *rigs_; }
  SessionStub& sessions() { return *sessions_; }

  absl::Time Deadline(const CallOptions& call) const;

  // What ClientOptions::traceparent returns now; empty if that is not valid.
  std::string Traceparent() const;

  // A context with the client's metadata and token. Neither an infinite deadline nor an empty
  // traceparent or route is set. route: as routes.h has it.
  std::unique_ptr<grpc::ClientContext> NewContext(absl::Time deadline,
                                                  const std::string& traceparent,
                                                  const std::string& route) const;

  // Runs `attempt`, each time with a new context, until it succeeds or RetryPolicy::max_attempts is
  // reached; a stop cancels the context.
  absl::Status Run(const CallOptions& call, const std::string& route,
                   absl::FunctionRef<absl::Status(grpc::ClientContext&)> attempt) const;

  // Run of a call with one reply.
  template <class Stub, class Request, class Response>
  absl::StatusOr<Response> Call(
      Stub& stub, grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
      const Request& request, const CallOptions& call, const std::string& route = {}) const {
    Response response;
    SINEW_RETURN_IF_ERROR(Run(call, route, [&](grpc::ClientContext& context) {
      return FromGrpc((stub.*method)(&context, request, &response));
    }));
    return response;
  }

  // Call of a deletion. kNotFound is success after a failed attempt: the server may have deleted
  // the object before its reply was lost.
  template <class Stub, class Request, class Response>
  absl::Status Delete(Stub& stub,
                      grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                      const Request& request, const CallOptions& call,
                      const std::string& route) const {
    int attempts = 0;
    Response response;
    const absl::Status status = Run(call, route, [&](grpc::ClientContext& context) {
      ++attempts;
      return FromGrpc((stub.*method)(&context, request, &response));
    });
    return attempts > 1 && absl::IsNotFound(status) ? absl::OkStatus() : status;
  }

  // One attempt. kUnavailable instead of kCancelled if the caller requested no stop: proxies cancel
  // the calls of a dead replica.
  absl::Status RunOnce(absl::Time deadline, const std::stop_token& stop, const std::string& route,
                       absl::FunctionRef<absl::Status(grpc::ClientContext&)> attempt) const;

  Routes& routes() { return routes_; }

  // After kUnauthenticated: reads the token again. False: there is no file to read it from.
  bool RenewToken() const { return token_->ReadAgain(); }

  // Names the proxy in an error that is not the server's.
  absl::Status WithProxy(const absl::Status& status) const;

  // Lets a broken channel connect now instead of after gRPC's own backoff, and waits for it a
  // moment, at most until the deadline. Calls that fail at once do not poll the channel's sockets;
  // gRPC itself does so only every 5 s.
  void Reconnect(absl::Time deadline, const std::stop_token& stop) const;

 private:
  const ClientOptions options_;
  const std::shared_ptr<BearerToken> token_;
  const std::string proxy_;  // where it is and which variable names it; empty = none
  const std::shared_ptr<grpc::Channel> channel_;
  grpc::GenericStub raw_;
  const std::unique_ptr<InfoStub> info_;
  const std::unique_ptr<RigStub> rigs_;
  const std::unique_ptr<SessionStub> sessions_;
  Routes routes_;
};

}  // namespace sinew::client
