#include "client/lib/rpc/address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sinew::client {
namespace {

using ::testing::HasSubstr;

TEST(Address, MissingPortBecomesDefault) {
  const std::pair<const char*, const char*> rows[] = {
      {"localhost", "localhost:50051"},
      {"farm-7.example_net", "farm-7.example_net:50051"},
      {"10.0.0.7", "10.0.0.7:50051"},
      {"::1", "[::1]:50051"},
      {"fe80::1%eth0", "[fe80::1%eth0]:50051"},
      {"::ffff:10.0.0.7", "[::ffff:10.0.0.7]:50051"},
      {"[::1]", "[::1]:50051"},
  };
  for (const auto& [address, target] : rows) {
    EXPECT_EQ(TargetOf("address", address).value_or("refused"), target);
  }
}

TEST(Address, KeepsExplicitPort) {
  for (const char* address :
       {"localhost:1", "10.0.0.7:65535", "[::1]:50051", "[fe80::1%eth0]:7", "unix:/run/sinew.sock",
        "unix:sinew.sock", "unix:///run/sinew.sock", "unix-abstract:sinew", "vsock:2:50051",
        "dns:farm:50051", "dns:///farm:50051", "dns://8.8.8.8/farm:50051", "ipv4:10.0.0.7:1",
        "ipv4:10.0.0.7:1,10.0.0.8:2", "ipv6:[::1]:50051", "ipv6:%5B::1%5D:50051"}) {
    EXPECT_EQ(TargetOf("address", address).value_or("refused"), address);
  }
}

TEST(Address, RejectsAmbiguousPort) {
  for (const char* address : {"",
                              ":50051",
                              "localhost:",
                              "localhost:0",
                              "localhost:65536",
                              "localhost:-1",
                              "localhost:http",
                              "localhost:50051:1",
                              "::1:99999",
                              "[::1",
                              "[::1]50051",
                              "[::1]:0",
                              "[host]:50051",
                              "http://localhost:50051",
                              "http://localhost",
                              "//localhost",
                              "a b",
                              "dns:///farm",
                              "dns:farm",
                              "dns:",
                              "dns:50051",
                              "dns:///farm:0",
                              "ipv4:10.0.0.7",
                              "ipv4:10.0.0.7:1,10.0.0.8",
                              "ipv6:::1",
                              "ipv6:[::1]",
                              "ipv6:::50051"}) {
    const absl::StatusOr<std::string> target = TargetOf("--server", address);
    EXPECT_TRUE(absl::IsInvalidArgument(target.status())) << address;
    EXPECT_THAT(target.status().message(),
                HasSubstr("--server: got \"" + std::string(address) + "\", need host"));
  }
}

}  // namespace
}  // namespace sinew::client
