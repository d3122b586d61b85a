#include "client/lib/rpc/proxy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "client/lib/rpc/address.h"

namespace sinew::client {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kVariables[] = {"grpc_proxy",    "https_proxy", "http_proxy",
                                      "no_grpc_proxy", "no_proxy",    "NO_PROXY"};

class ProxyOfEnvironment : public ::testing::Test {
 protected:
  ProxyOfEnvironment() { Clear(); }
  ~ProxyOfEnvironment() override { Clear(); }
  static void Clear() {
    for (const char* variable : kVariables) ::unsetenv(variable);
  }
  static void Set(const char* variable, const char* value) { ::setenv(variable, value, 1); }
  static std::string Of(const std::string& host_port) {
    const auto proxy = ProxyTo(host_port);
    if (!proxy.ok()) return proxy.status().ToString();
    return *proxy ? (*proxy)->address : "none";
  }
};

TEST_F(ProxyOfEnvironment, IsTheFirstVariableThatIsSet) {
  EXPECT_EQ(Of("farm:1"), "none");
  Set("http_proxy", "http://third:3");
  EXPECT_EQ(Of("farm:1"), "third:3");
  Set("https_proxy", "http://second/");
  EXPECT_EQ(Of("farm:1"), "second:80");
  Set("grpc_proxy", "HTTP://al%69ce:p%40ss@[fd00::1]:3128");
  const Proxy proxy = ProxyTo("farm:1")->value();
  EXPECT_EQ(proxy.address, "[fd00::1]:3128");
  EXPECT_EQ(proxy.credentials, "alice:p@ss");
  EXPECT_EQ(proxy.variable, "grpc_proxy");
  Set("grpc_proxy", "");
  EXPECT_EQ(Of("farm:1"), "second:80");
}

TEST_F(ProxyOfEnvironment, WrongOnesAreNamedWithoutPasswords) {
  for (const char* value : {"https://a:secret@proxy:1", "socks5://proxy", "http://a:secret@proxy:x",
                            "http://a:secret@", "http://proxy:1/path"}) {
    Set("https_proxy", value);
    const absl::Status status = ProxyTo("farm:1").status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << value << status;
    EXPECT_THAT(status.message(), HasSubstr("https_proxy"));
    EXPECT_THAT(status.message(), Not(HasSubstr("secret")));
    EXPECT_EQ(Of("localhost:1"), "none");
  }
}

TEST_F(ProxyOfEnvironment, DoesNotConcernThisMachine) {
  Set("http_proxy", "http://proxy:3128");
  char name[256] = "";
  ASSERT_EQ(::gethostname(name, sizeof name), 0);
  const std::string targets[] = {"localhost",
                                 "LOCALHOST:7",
                                 "localhost.:7",
                                 "127.0.0.1",
                                 "127.9.8.7:7",
                                 "::1",
                                 "[::1]",
                                 "[0:0:0:0:0:0:0:1]:7",
                                 "[::ffff:127.0.0.1]:7",
                                 "0.0.0.0:7",
                                 "dns:///localhost:7",
                                 "dns:localhost:7",
                                 "ipv4:127.0.0.1:7",
                                 "ipv6:[::1]:7",
                                 "ipv6:%5B::1%5D:7",
                                 name};
  for (const std::string& address : targets) {
    const std::string target = TargetOf("address", address).value();
    ASSERT_EQ(HostsOf(target).size(), 1u) << address;
    EXPECT_EQ(Of(HostsOf(target).front()), "none") << address;
  }
  for (const char* address : {"localhost.example:7", "128.0.0.1:7", "[::2]:7", "mylocalhost:7"}) {
    EXPECT_EQ(Of(address), "proxy:3128") << address;
  }
  EXPECT_EQ(HostsOf("dns://10.0.0.1/farm:7"), std::vector<std::string>{"farm:7"});
  EXPECT_EQ(HostsOf("ipv4:127.0.0.1:7,10.0.0.1:7").size(), 2u);
  EXPECT_TRUE(HostsOf("unix:/run/sinew.sock").empty());
}

TEST_F(ProxyOfEnvironment, ExceptionsAreThoseOfCurl) {
  Set("http_proxy", "http://proxy:3128");
  const struct {
    const char *list, *address;
    bool excepted;
  } rows[] = {
      {"*", "farm.example:7", true},
      {"farm.example", "farm.example:7", true},
      {".farm.example", "farm.example:7", true},
      {"FARM.example.", "a.Farm.Example:7", true},
      {".example", "a.farm.example.:7", true},
      {"example", "notexample:7", false},
      {".example", "notexample:7", false},
      {"rm.example", "farm.example:7", false},
      {"farm.example.org", "farm.example:7", false},
      {"other, farm.example", "farm.example:7", true},
      {"other farm.example", "farm.example:7", true},
      {"farm.example:7", "farm.example:7", true},
      {"farm.example:8", "farm.example:7", false},
      {"10.1.2.3", "10.1.2.3:7", true},
      {"0.1.2.3", "10.1.2.3:7", false},
      {"10.0.0.0/8", "10.1.2.3:7", true},
      {"10.0.0.0/16", "10.1.2.3:7", false},
      {"10.0.0.0/x", "10.1.2.3:7", false},
      {"10.0.0.0/8", "10.example:7", false},
      {"fd00::/8", "[fd12::1]:7", true},
      {"[fd12::1]:7", "[fd12::1]:7", true},
      {"[fd12::1]", "[fd12:0::1]:7", true},
      {"fe00::/8", "[fd12::1]:7", false},
      {",", "farm.example:7", false},
  };
  for (const auto& row : rows) {
    Set("no_proxy", row.list);
    EXPECT_EQ(Of(row.address), row.excepted ? "none" : "proxy:3128") << row.list;
  }
  ::unsetenv("no_proxy");
  Set("NO_PROXY", "farm");
  EXPECT_EQ(Of("farm:7"), "none");
  Set("no_grpc_proxy", "other");
  EXPECT_EQ(Of("farm:7"), "proxy:3128");
}

}  // namespace
}  // namespace sinew::client
