// http.h - the HTTP port: /metrics for Prometheus, /livez and /readyz (?verbose) for probes.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "server/base/files.h"
#include "server/runtime.h"
#include "server/threads/workers.h"

namespace sinew::server {

class TimedHttpServer;

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
  // runtime: for its threads, metrics and limits; outlives the port.
  HttpPort(Runtime& runtime, Pages pages);
  // Ends open connections, and waits for them.
  ~HttpPort();
  HttpPort(const HttpPort&) = delete;
  HttpPort& operator=(const HttpPort&) = delete;

  // Takes a connection that has been accepted, and does not wait.
  void Serve(Descriptor connection);

 private:
  const Pages pages_;
  const std::unique_ptr<TimedHttpServer> server_;
  Workers lane_;
};

}  // namespace sinew::server
