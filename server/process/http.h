// http.h - the HTTP port: /metrics for Prometheus, /livez and /readyz (?verbose) for probes.
#pragma once

#include <absl/status/statusor.h>

#include <functional>
#include <memory>
#include <string>

namespace sinew::server {

class HttpPort {
 public:
  struct Probe {
    bool ready = false;
    std::string verbose;  // one "[+]name ok" or "[-]name why" line per check
  };
  struct Pages {
    std::function<std::string()> metrics;  // text exposition format
    std::function<Probe()> ready;
  };
  // address: host:port. kUnavailable: cannot be bound.
  static absl::StatusOr<std::unique_ptr<HttpPort>> Start(const std::string& address, Pages pages);
  ~HttpPort();
  HttpPort(const HttpPort&) = delete;
  HttpPort& operator=(const HttpPort&) = delete;

  // host:port with the actual port if it was 0.
  const std::string& address() const;

 private:
  struct State;
  explicit HttpPort(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sinew::server
