// http_client.h - HTTP requests of the server, by libcurl: time limits, TLS, signatures of AWS.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/statusor.h>
#include <absl/synchronization/mutex.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sinew::server {

// The host of a URL; of one in brackets, with them. kInvalidArgument: not a URL, or not a port.
absl::StatusOr<std::string> HostOf(const std::string& url);

// Thread-safe. Connections are kept and used again.
class HttpClient {
 public:
  struct Options {
    std::string ca_file;         // PEM; empty = the system's authorities
    double connect_seconds = 3;  // for name, connection and handshake
    // For a request and its reply, if they are small; a long one only must not stall.
    double seconds = 60;
    double stall_seconds = 5;         // for a reply to begin, and between its bytes
    double write_stall_seconds = 30;  // the same of writes: the server may have to reach its disks
  };
  explicit HttpClient(Options options);
  ~HttpClient();

  // Signature version 4 of AWS; not signed without a user.
  struct Signature {
    std::string scope;  // as CURLOPT_AWS_SIGV4
    std::string user, secret;
  };
  struct Request {
    std::string method, url;
    std::vector<std::string> headers;  // "name: value"
    std::string_view body;
    std::uint64_t most_bytes = 1 << 20;  // of the reply's body
    Signature signature = {};
  };
  struct Reply {
    long status = 0;
    std::string etag;  // with its quotes; empty = none
    std::string body;
  };
  // The reply, whatever its status. kUnavailable: no reply, or it ended early; kResourceExhausted:
  // a reply of 200 that is larger than most_bytes.
  absl::StatusOr<Reply> Send(const Request& request);

  // Requests in progress and later ones fail.
  void Stop() { stopped_ = true; }

 private:
  struct Handle;
  std::unique_ptr<Handle> Take();
  void Return(std::unique_ptr<Handle> handle);

  const Options options_;
  std::atomic<bool> stopped_{false};
  absl::Mutex mutex_;
  std::vector<std::unique_ptr<Handle>> idle_ ABSL_GUARDED_BY(mutex_);
};

// Before libcurl is used elsewhere. Thread-safe and idempotent.
void StartCurl();

// A part of a URL, with all but unreserved characters as %XX.
std::string UrlEncoded(std::string_view text);

}  // namespace sinew::server
