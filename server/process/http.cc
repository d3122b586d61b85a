#include "server/process/http.h"

#include <httplib.h>

#include <string>
#include <utility>

#include "server/process/timed_http_server.h"

namespace sinew::server {

namespace {

constexpr std::size_t kBodyBytes = 1024;  // no page accepts a body

void AddPages(httplib::Server& server, const HttpPort::Pages& pages) {
  server.Get("/metrics", [&pages](const httplib::Request&, httplib::Response& response) {
    response.set_content(pages.metrics(), "text/plain; version=0.0.4; charset=utf-8");
  });
  server.Get("/livez", [](const httplib::Request&, httplib::Response& response) {
    response.set_content("ok\n", "text/plain");
  });
  server.Get("/readyz", [&pages](const httplib::Request& request, httplib::Response& response) {
    const HttpPort::Probe probe = pages.ready();
    response.status = probe.ready ? 200 : 503;
    std::string text = request.has_param("verbose") ? probe.verbose : std::string();
    text += probe.ready ? "ok\n" : "not ready\n";
    response.set_content(text, "text/plain");
  });
}

}  // namespace

HttpPort::HttpPort(Runtime& runtime, Pages pages)
    : pages_(std::move(pages)),
      server_(std::make_unique<TimedHttpServer>()),
      lane_(runtime.pools.io, TimedHttpServer::kThreads, runtime.waiting_calls,
            runtime.metrics.AddLane("http")) {
  server_->set_payload_max_length(kBodyBytes);
  AddPages(*server_, pages_);
}

HttpPort::~HttpPort() {
  server_->CutOff();
  lane_.Stop();
}

void HttpPort::Serve(Descriptor connection) {
  if (!server_->Count()) return;
  lane_.PostStep({}, [this, socket = connection.Release()](const absl::Status&) {
    server_->process_and_close_socket(socket);
  });
}

}  // namespace sinew::server
