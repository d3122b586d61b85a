#include "server/access/proxies.h"

#include <absl/strings/ascii.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_split.h>
#include <arpa/inet.h>

#include <algorithm>

#include "core/base/status.h"

namespace sinew::server {
namespace {

constexpr int kBits = 128, kMappedBits = 96;  // of an address; before a mapped IPv4 address
constexpr std::array<unsigned char, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

}  // namespace

std::optional<TrustedProxies::Address> TrustedProxies::ParseAddress(std::string_view text) {
  const std::string copy(text);
  Address address{};
  if (::inet_pton(AF_INET6, copy.c_str(), address.data()) == 1) return address;
  std::ranges::copy(kMapped, address.begin());
  if (::inet_pton(AF_INET, copy.c_str(), address.data() + kMapped.size()) == 1) return address;
  return std::nullopt;
}

std::string TrustedProxies::Text(const Address& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (std::equal(kMapped.begin(), kMapped.end(), address.begin())) {
    ::inet_ntop(AF_INET, address.data() + kMapped.size(), text.data(), text.size());
  } else {
    ::inet_ntop(AF_INET6, address.data(), text.data(), text.size());
  }
  return text.data();
}

absl::StatusOr<TrustedProxies> TrustedProxies::Parse(const std::vector<std::string>& proxies) {
  TrustedProxies parsed;
  for (const std::string& proxy : proxies) {
    if (proxy == "unix") {
      parsed.unix_ = true;
      continue;
    }
    const std::size_t slash = proxy.find('/');
    const std::string host = proxy.substr(0, slash);
    const std::optional<Address> address = ParseAddress(host);
    const int before = host.find(':') == std::string::npos ? kMappedBits : 0;
    int bits = kBits - before;
    const bool given = slash != std::string::npos;
    if (!address || (given && (!absl::SimpleAtoi(proxy.substr(slash + 1), &bits) || bits < 0 ||
                               bits > kBits - before))) {
      return InvalidArgument("trusted-proxy: got \"", proxy,
                             "\", need an address, a network such as 10.0.0.0/8, or unix");
    }
    parsed.networks_.push_back({*address, before + bits});
  }
  return parsed;
}

bool TrustedProxies::Trusts(const Address& address) const {
  return std::ranges::any_of(networks_, [&](const Network& network) {
    for (int bit = 0; bit < network.bits; ++bit) {
      const auto byte = static_cast<std::size_t>(bit / 8);
      if (((address[byte] ^ network.address[byte]) >> (7 - bit % 8) & 1) != 0) return false;
    }
    return true;
  });
}

std::string TrustedProxies::ClientOf(const std::string& peer,
                                     const std::vector<std::string_view>& forwarded) const {
  const std::optional<Address> caller = ParseAddress(peer);
  const bool trusted = caller ? Trusts(*caller) : peer == kWeb || (unix_ && peer == "unix");
  if (!trusted) return peer;
  std::string client = peer;
  for (auto value = forwarded.rbegin(); value != forwarded.rend(); ++value) {
    const std::vector<absl::string_view> hops = absl::StrSplit(AbslView(*value), ',');
    for (auto hop = hops.rbegin(); hop != hops.rend(); ++hop) {
      const auto address = ParseAddress(StdView(absl::StripAsciiWhitespace(*hop)));
      if (!address) return client;
      client = Text(*address);
      if (!Trusts(*address)) return client;
    }
  }
  return client;
}

}  // namespace sinew::server
