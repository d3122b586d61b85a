#include "server/base/caller.h"

#include <gtest/gtest.h>

#include <string>

namespace sinew::server {
namespace {

TEST(Caller, PeerIsAddressWithoutPort) {
  EXPECT_EQ(PeerOf("ipv4:10.0.0.7:4711"), "10.0.0.7");
  EXPECT_EQ(PeerOf("ipv6:%5B::1%5D:4711"), "::1");
  EXPECT_EQ(PeerOf("ipv6:[2001:db8::2]:4711"), "2001:db8::2");
  EXPECT_EQ(PeerOf("unix:/run/sinew.sock"), "unix");
  EXPECT_EQ(PeerOf("unix:"), "unix");
  EXPECT_EQ(PeerOf("other:thing"), "other:thing");
}

TEST(Caller, TenantIsClientElsePeer) {
  EXPECT_EQ((Caller{.peer = "10.0.0.7", .tenant = {}, .principal = {}}).client(), "10.0.0.7");
  EXPECT_EQ((Caller{.peer = "10.0.0.7", .tenant = "film", .principal = {}}).client(), "film");
}

TEST(Caller, Ipv6AddressesOfOneNetworkAreOneClient) {
  EXPECT_EQ(NetworkOf("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
  EXPECT_EQ(NetworkOf("2001:db8:1:2::1"), NetworkOf("2001:db8:1:2:ffff::1"));
  EXPECT_NE(NetworkOf("2001:db8:1:2::1"), NetworkOf("2001:db8:1:3::1"));
  EXPECT_EQ(NetworkOf("fe80::1%25eth0"), "fe80::/64");
  EXPECT_EQ(NetworkOf("::ffff:10.0.0.7"), "10.0.0.7");
  EXPECT_EQ(NetworkOf("::ffff:a00:7"), "10.0.0.7");
  for (const char* peer : {"10.0.0.7", "::1", "", "%"}) EXPECT_EQ(NetworkOf(peer), peer);
  EXPECT_EQ(NetworkOf("unix"), "unix:") << "a tenant may be called unix";
  EXPECT_EQ((Caller{.peer = "2001:db8::7", .tenant = {}, .principal = {}}).client(),
            "2001:db8::/64");
}

TEST(Caller, TenantNamesAreFolders) {
  for (const char* name : {"a", "0", "film-2_b"}) EXPECT_TRUE(IsTenantName(name)) << name;
  EXPECT_TRUE(IsTenantName(std::string(63, 'a')));
  EXPECT_FALSE(IsTenantName(std::string(64, 'a')));
  for (const char* name : {"", "-a", "_a", ".", "..", "a/b", "A", "a.b", "\xc3\xa4"}) {
    EXPECT_FALSE(IsTenantName(name)) << name;
  }
}

}  // namespace
}  // namespace sinew::server
