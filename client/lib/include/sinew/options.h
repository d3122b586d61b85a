// options.h - options of a client and of its calls: retries, TLS, tokens, trace context.
//
// Included by sinew/client.h.
#pragma once

#include <absl/status/status.h>
#include <absl/time/time.h>

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>

namespace sinew::client {

// How idempotent calls are repeated after UNAVAILABLE, calls that the server has refused for a time
// that it states (RESOURCE_EXHAUSTED with RetryInfo) after this time, and streams opened again.
struct RetryPolicy {
  int max_attempts = 4;  // of a call, or of opening a stream the first time; 1 = no retry
  absl::Duration repeat_for =
      absl::ZeroDuration();  // retry at least this long, beyond max_attempts
  // A Character, or a stream, tries for so long to come back: from each break, or from the first
  // one while poses wait for their frames.
  absl::Duration resume_for = absl::Seconds(30);
  // Doubles from wait to wait; each is scaled by a random factor from 0.75 to 1.25.
  absl::Duration initial_backoff = absl::Milliseconds(100);
  absl::Duration max_backoff = absl::Seconds(5);
};

// Called once per disconnect of a stream or a Character, and once per call that the server refuses
// for a time, from any thread, before the library starts to wait: with the error, and the longest
// time it will wait. Must not call back into the library.
using WaitNotice = std::function<void(const absl::Status& error, absl::Duration max_wait)>;

// An encrypted connection. Files are PEM, and read again when they change, for new connections.
struct TlsOptions {
  std::string ca_file = {};    // authorities of the server's certificate; empty = the system's
  std::string cert_file = {};  // the client's certificate and its key, if the server wants one
  std::string key_file = {};
  std::string server_name = {};  // in the server's certificate; empty = the host of the address
};

// Returns the W3C trace context to send with a call: "00-<trace id>-<parent id>-<flags>", or empty
// for none. If it is not valid, none is sent. Called once per attempt of a call on the caller's
// thread, so that it may use the span that is active there. A stream calls it once, in OpenStream,
// and sends the result again when it opens again; only for rigs and sessions that a broken stream
// makes again is it called on another thread. Must be thread-safe, and not call back into the
// library.
using TraceparentSource = std::function<std::string()>;

// Where the server is, and how calls reach it.
struct ClientOptions {
  // host, host:port, [IPv6]:port or unix:/path; the default port is 50051. Other gRPC targets must
  // include the port: dns:///host:50051. A server on another machine is reached through the proxy
  // of $grpc_proxy, $https_proxy or $http_proxy, unless $no_proxy names it.
  std::string address = "127.0.0.1:50051";
  absl::Duration deadline = absl::Minutes(2);  // of a call with its retries; streams: of opening
  RetryPolicy retry = {};
  std::size_t max_receive_bytes = 64 << 20;   // largest message accepted
  std::size_t piece_bytes = 1 << 20;          // of an upload, at most 4 MiB
  std::size_t compare_block_bytes = 3 << 20;  // of poses per request of Compare, at most 4 MiB
  absl::Duration keepalive_time = absl::Seconds(20), keepalive_timeout = absl::Seconds(5);
  std::map<std::string, std::string> metadata = {};  // sent with every call; lower-case keys
  TraceparentSource traceparent = {};                // not with a traceparent in metadata
  WaitNotice on_wait = {};
  std::optional<TlsOptions> tls = {};  // none = not encrypted
  // Sent with every call, from memory or from a file. The file is read again, and the call repeated
  // once, when the server answers kUnauthenticated.
  std::string token = {}, token_file = {};
  bool token_without_tls = false;  // allows a token on an unencrypted connection to another machine
};

// Options of one call; the defaults are those of ClientOptions.
struct CallOptions {
  absl::Duration deadline = absl::ZeroDuration();  // 0 = the client's
  std::stop_token stop = {};                       // a requested stop cancels the call: kCancelled
};

}  // namespace sinew::client
