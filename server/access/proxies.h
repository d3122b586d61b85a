// proxies.h - the proxies whose word on the address of a client is believed.
#pragma once

#include <absl/status/statusor.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sinew::server {

// The peer of calls that the server's own web port forwards.
inline constexpr std::string_view kWeb = "web";

// Immutable.
class TrustedProxies {
 public:
  // Each an address (10.0.0.7, ::1), a network (10.0.0.0/8) or "unix". kInvalidArgument: another.
  static absl::StatusOr<TrustedProxies> Parse(const std::vector<std::string>& proxies);

  // The client behind `peer` by the values of X-Forwarded-For, from first to last. Each proxy
  // appends the address it was called from, so the last one that is not a trusted proxy's is the
  // client's; what comes before may be a lie. `peer` if it is not trusted; kWeb always is.
  std::string ClientOf(const std::string& peer,
                       const std::vector<std::string_view>& forwarded) const;

 private:
  // IPv4 addresses are mapped to IPv6 ones.
  using Address = std::array<unsigned char, 16>;
  struct Network {
    Address address;
    int bits;
  };
  static std::optional<Address> ParseAddress(std::string_view text);
  static std::string Text(const Address& address);
  bool Trusts(const Address& address) const;

  std::vector<Network> networks_;
  bool unix_ = false;
};

}  // namespace sinew::server
