#include "server/access/proxies.h"

#include <gtest/gtest.h>

namespace sinew::server {
namespace {

TEST(TrustedProxies, OnlyTheirWordCounts) {
  const auto proxies = TrustedProxies::Parse({"10.0.0.0/8", "192.168.1.7", "fd00::/8", "unix"});
  ASSERT_TRUE(proxies.ok()) << proxies.status();
  const auto client = [&](const char* peer, std::vector<std::string_view> forwarded) {
    return proxies->ClientOf(peer, forwarded);
  };
  EXPECT_EQ(client("10.1.2.3", {"8.8.8.8"}), "8.8.8.8");
  EXPECT_EQ(client("192.168.1.7", {"8.8.8.8"}), "8.8.8.8");
  EXPECT_EQ(client("::ffff:10.1.2.3", {"8.8.8.8"}), "8.8.8.8");
  EXPECT_EQ(client("fd12::1", {"2001:db8::1"}), "2001:db8::1");
  EXPECT_EQ(client("unix", {"8.8.8.8"}), "8.8.8.8");
  EXPECT_EQ(client("192.168.1.8", {"8.8.8.8"}), "192.168.1.8");
  EXPECT_EQ(client("11.0.0.1", {"8.8.8.8"}), "11.0.0.1");
  EXPECT_EQ(client("2001:db8::2", {"8.8.8.8"}), "2001:db8::2");
  EXPECT_EQ(client("", {"8.8.8.8"}), "");
}

TEST(TrustedProxies, LastUntrustedAddressIsTheClient) {
  const auto proxies = TrustedProxies::Parse({"10.0.0.0/8"});
  const auto client = [&](std::vector<std::string_view> forwarded) {
    return proxies->ClientOf("10.0.0.1", forwarded);
  };
  EXPECT_EQ(client({"6.6.6.6, 8.8.8.8"}), "8.8.8.8") << "the client made up the first";
  EXPECT_EQ(client({"6.6.6.6", "8.8.8.8"}), "8.8.8.8");
  EXPECT_EQ(client({"8.8.8.8,10.0.0.2"}), "8.8.8.8") << "through two proxies";
  EXPECT_EQ(client({"10.0.0.3, 10.0.0.2"}), "10.0.0.3");
  EXPECT_EQ(client({}), "10.0.0.1");
  EXPECT_EQ(client({""}), "10.0.0.1");
  EXPECT_EQ(client({"8.8.8.8, evil\x01name"}), "10.0.0.1");
  EXPECT_EQ(client({"::ffff:8.8.8.8"}), "8.8.8.8") << "one client, one name";
}

TEST(TrustedProxies, RejectsWhatIsNoNetwork) {
  for (const char* wrong : {"", "proxy", "10.0.0.0/33", "::/129", "10.0.0.0/-1", "10.0.0.0/",
                            "10.0.0/8", "10.0.0.0/8/8"}) {
    EXPECT_FALSE(TrustedProxies::Parse({wrong}).ok()) << wrong;
  }
  EXPECT_TRUE(TrustedProxies::Parse({"0.0.0.0/0", "::/0", "::1/128"}).ok());
}

}  // namespace
}  // namespace sinew::server
