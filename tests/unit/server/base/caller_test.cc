#include "server/base/caller.h"

#include <gtest/gtest.h>

namespace sinew::server {
namespace {

TEST(Caller, PeerIsAddressWithoutPort) {
  EXPECT_EQ(PeerOf("ipv4:10.0.0.7:4711"), "10.0.0.7");
  EXPECT_EQ(PeerOf("ipv6:%5B::1%5D:4711"), "::1");
  EXPECT_EQ(PeerOf("ipv6:[2001:db8::2]:4711"), "2001:db8::2");
  EXPECT_EQ(PeerOf("unix:/run/sinew.sock"), "unix");
  EXPECT_EQ(PeerOf("unix:"), "unix");
  EXPECT_EQ(PeerOf("inproc"), "");
}

TEST(Caller, TenantIsClientElsePeer) {
  EXPECT_EQ((Caller{.peer = "10.0.0.7", .tenant = {}, .principal = {}}).client(), "10.0.0.7");
  EXPECT_EQ((Caller{.peer = "10.0.0.7", .tenant = "film", .principal = {}}).client(), "film");
}

}  // namespace
}  // namespace sinew::server
