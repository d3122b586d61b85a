#include "tests/integration/server/http_get.h"

#include <httplib.h>

#include "server/base/address.h"

namespace sinew::testing {

HttpReply HttpGet(const std::string& address, const std::string& path) {
  const auto parsed = server::ParseHostPort("http", address);
  if (!parsed.ok()) return {};
  httplib::Client client(parsed->host, parsed->port);
  const httplib::Result result = client.Get(path);
  return result ? HttpReply{result->status, result->body} : HttpReply{};
}

}  // namespace sinew::testing
