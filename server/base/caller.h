// caller.h - who makes a call.
#pragma once

#include <string>
#include <string_view>

namespace sinew::server {

// What one peer without a tenant may use: an IPv6 address stands for its /64 network, which a
// single customer has alone; any other peer stands for itself.
std::string NetworkOf(const std::string& peer);

struct Caller {
  std::string peer;       // address without port: "10.0.0.7", "::1", "unix"; empty = this process
  std::string tenant;     // owner of its rigs and sessions; empty = the default tenant
  std::string principal;  // subject of its token or certificate; empty = anonymous

  bool admin = true;  // may see what concerns other tenants; also if none authenticates

  // Whose share of the limits the call uses; empty = none, for calls from this process.
  std::string client() const { return tenant.empty() ? NetworkOf(peer) : tenant; }
};

// The peer of a gRPC address such as "ipv4:10.0.0.7:4711" or "unix:/run/sinew".
std::string PeerOf(std::string_view address);

// Whether `name` may name a tenant, and so a folder: [a-z0-9][a-z0-9_-]{0,62}.
bool IsTenantName(std::string_view name);

}  // namespace sinew::server
