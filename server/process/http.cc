#include "server/process/http.h"

#include <absl/strings/str_cat.h>
#include <httplib.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "core/base/status.h"
#include "server/base/address.h"
#include "server/process/timed_http_server.h"

namespace sinew::server {

struct HttpPort::State {
  TimedHttpServer server;
  Pages pages;
  std::string address;
  std::thread thread;
};

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

HttpPort::HttpPort(std::unique_ptr<State> state) : state_(std::move(state)) {}

HttpPort::~HttpPort() {
  state_->server.stop();
  if (state_->thread.joinable()) state_->thread.join();
}

const std::string& HttpPort::address() const {
  return state_->address;
}

absl::StatusOr<std::unique_ptr<HttpPort>> HttpPort::Start(const std::string& address, Pages pages) {
  SINEW_ASSIGN_OR_RETURN(const HostPort parsed, ParseHostPort("http", address));
  auto state = std::make_unique<State>();
  state->pages = std::move(pages);
  TimedHttpServer& server = state->server;
  server.set_payload_max_length(kBodyBytes);
  // By default the library lets a second server share the port without an error.
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  AddPages(server, state->pages);
  const int port = parsed.port == 0 ? server.bind_to_any_port(parsed.host.c_str())
                   : server.bind_to_port(parsed.host.c_str(), parsed.port) ? parsed.port
                                                                           : -1;
  if (port < 0) {
    return absl::UnavailableError(
        absl::StrCat("http: cannot bind ", address, ": ", std::strerror(errno)));
  }
  server.LengthenQueue();
  const bool v6 = parsed.host.find(':') != std::string::npos;
  state->address =
      v6 ? absl::StrCat("[", parsed.host, "]:", port) : absl::StrCat(parsed.host, ":", port);
  state->thread = std::thread([&server] { server.listen_after_bind(); });
  // A stop() before the thread runs would have no effect.
  while (!server.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return std::unique_ptr<HttpPort>(new HttpPort(std::move(state)));
}

}  // namespace sinew::server
