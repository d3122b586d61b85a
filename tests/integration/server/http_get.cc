#include "tests/integration/server/http_get.h"

#include <httplib.h>

#include <cstdlib>

#include "server/base/address.h"
#include "tests/support/wait_until.h"

namespace sinew::testing {

HttpReply HttpGet(const std::string& address, const std::string& path) {
  const auto parsed = server::ParseHostPort("http", address);
  if (!parsed.ok()) return {};
  httplib::Client client(parsed->host, parsed->port);
  const httplib::Result result = client.Get(path);
  return result ? HttpReply{result->status, result->body} : HttpReply{};
}

std::string MetricOf(const std::string& address, const std::string& name) {
  const std::string text = "\n" + HttpGet(address, "/metrics").body, key = "\n" + name + " ";
  const std::size_t found = text.find(key);
  if (found == std::string::npos) return "";
  const std::size_t begin = found + key.size();
  return text.substr(begin, text.find('\n', begin) - begin);
}

int RunningCalls(const std::string& address, const std::string& method) {
  return std::atoi(
      MetricOf(address, "sinew_rpcs_in_flight{method=\"sinew.v1." + method + "\"}").c_str());
}

void WaitForWrites(const std::string& address, int count) {
  WaitUntil(
      [&] { return MetricOf(address, "sinew_frame_send_seconds_count") == std::to_string(count); });
}

}  // namespace sinew::testing
