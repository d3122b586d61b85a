// The channel from a process to its own server.
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "server/process/server.h"
#include "tests/integration/server/sinewd_process.h"
#include "tests/integration/server/stream_client.h"

namespace sinew::testing {
namespace {

using grpc::StatusCode;
using ::testing::Test;

std::unique_ptr<server::Server> StartForThisProcess() {
  server::Config config;
  config.network.listen.clear();
  config.network.http = "off";
  config.log.level = "off";
  return server::Server::Start(config).value();
}

TEST(OwnProcess, NeedsNoAddress) {
  const auto server = StartForThisProcess();
  EXPECT_TRUE(server->addresses().empty());
  EXPECT_EQ(server->http_address(), "");
  Stubs stubs(server->InProcessChannel().value());
  const std::string rig = stubs.UploadTube();
  v1::StreamOpen open;
  open.mutable_target()->mutable_source()->set_rig(rig);
  open.mutable_target()->mutable_source()->set_recipe_text("lbs");
  Stream stream(stubs, open);
  EXPECT_EQ(stream.Opened().vertices(), 72u);
  stream.Send(TubePose(1));
  EXPECT_EQ(stream.ReadUntil(1).size(), 1u);
}

// The server answers before it has read the last byte, because the rig is there.
TEST(OwnProcess, UploadsOfStoredRigEnd) {
  const auto server = StartForThisProcess();
  const std::string bytes = TubeRig({.rings = 200, .segments = 50}).SerializeAsString();
  const auto upload = [&] {
    return Stubs(server->InProcessChannel().value()).Upload(bytes, nullptr, 4096);
  };
  ASSERT_CODE(upload(), StatusCode::OK);
  std::vector<std::jthread> senders;
  for (int k = 0; k < 2; ++k) {
    senders.emplace_back([&] {
      for (int round = 0; round < 100 && !Test::HasFailure(); ++round) {
        EXPECT_CODE(upload(), StatusCode::OK);
      }
    });
  }
}

// Names of the abstract sockets where the process listens.
std::vector<std::string> AbstractSocketsOf(pid_t pid) {
  std::vector<std::string> names;
  std::ifstream table("/proc/net/unix");
  for (std::string line; std::getline(table, line);) {
    std::istringstream columns(line);
    std::string number, references, protocol, flags, type, state, inode, path;
    columns >> number >> references >> protocol >> flags >> type >> state >> inode >> path;
    if (flags != "00010000" || path.empty() || path.front() != '@') continue;
    const std::string folder = "/proc/" + std::to_string(pid) + "/fd";
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      std::error_code gone;
      if (std::filesystem::read_symlink(file.path(), gone) == "socket:[" + inode + "]") {
        names.push_back(path.substr(1));
      }
    }
  }
  return names;
}

// Whether another process that connects to the abstract socket reads its end within seconds.
bool IsClosedForOthers(const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path + 1, sizeof address.sun_path - 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const pid_t child = ::fork();
  if (child == 0) {
    const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
    char byte = 0;
    pollfd wait{.fd = socket, .events = POLLIN, .revents = 0};
    const bool closed = ::connect(socket, reinterpret_cast<const sockaddr*>(&address), size) == 0 &&
                        ::poll(&wait, 1, 10'000) == 1 && ::read(socket, &byte, 1) == 0;
    ::_exit(closed ? 0 : 1);
  }
  int status = -1;
  return ::waitpid(child, &status, 0) == child && status == 0;
}

TEST(OwnProcess, SocketAcceptsNoOtherProcess) {
  const auto server = StartForThisProcess();
  EXPECT_TRUE(AbstractSocketsOf(::getpid()).empty());
  Stubs stubs(server->InProcessChannel().value());
  const std::vector<std::string> names = AbstractSocketsOf(::getpid());
  ASSERT_EQ(names.size(), 1u);
  EXPECT_TRUE(IsClosedForOthers(names.front()));
  EXPECT_FALSE(stubs.UploadTube().empty());
  server->Stop();
  EXPECT_TRUE(AbstractSocketsOf(::getpid()).empty());
}

TEST(OwnProcess, ProgramHasNoSuchSocket) {
  SinewdProcess sinewd;
  Stubs stubs(grpc::CreateChannel(sinewd.address(), grpc::InsecureChannelCredentials()));
  EXPECT_FALSE(stubs.UploadTube().empty());
  EXPECT_TRUE(AbstractSocketsOf(sinewd.pid()).empty());
}

TEST(OwnProcess, NeedsNoProxy) {
  ::setenv("http_proxy", "http://127.0.0.1:9", 1);  // nothing listens there
  const auto server = StartForThisProcess();
  EXPECT_FALSE(Stubs(server->InProcessChannel().value()).UploadTube().empty());
  ::unsetenv("http_proxy");
}

}  // namespace
}  // namespace sinew::testing
