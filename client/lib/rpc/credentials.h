// credentials.h - how a client proves who it is, and makes sure of the server: TLS and bearer
// token.
#pragma once

#include <absl/status/statusor.h>
#include <grpcpp/security/credentials.h>

#include <memory>
#include <mutex>
#include <string>

#include "sinew/client.h"

namespace sinew::client {

// Plain without ClientOptions::tls. kInvalidArgument: a file is missing or holds something else.
absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> MakeChannelCredentials(
    const ClientOptions& options);

// The token of ClientOptions. Thread-safe.
class BearerToken {
 public:
  // kInvalidArgument: the file cannot be read, or the token has characters that cannot be sent.
  static absl::StatusOr<std::shared_ptr<BearerToken>> From(const ClientOptions& options);

  // The value of `authorization`; empty = none is sent.
  std::string Header() const;
  // Reads the file again. False: there is none, or it cannot be used.
  bool ReadAgain();

 private:
  explicit BearerToken(std::string file) : file_(std::move(file)) {}

  const std::string file_;
  mutable std::mutex mutex_;
  std::string token_;
};

// kInvalidArgument: a token would be sent in the clear to another machine.
absl::Status CheckTokenIsSafe(const ClientOptions& options, const std::string& target);

}  // namespace sinew::client
