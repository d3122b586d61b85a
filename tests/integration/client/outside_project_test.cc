// A project outside the tree finds the installed client by CMake and by pkg-config, links it and
// talks to a server.
#include <absl/strings/str_replace.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>

#include "tests/integration/cli/small_gltf.h"
#include "tests/integration/server/sinewd_process.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace sinew::client {
namespace {

// Output and success of a command.
std::pair<std::string, bool> Shell(const std::string& command) {
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  std::string output;
  std::array<char, 4096> buffer;
  while (const std::size_t got = fread(buffer.data(), 1, buffer.size(), pipe)) {
    output.append(buffer.data(), got);
  }
  return {output, pclose(pipe) == 0};
}

struct OutsideProject : ::testing::Test {
  const std::filesystem::path work = testing::BuildFolder() / "outside_project";
  const std::string prefix = (work / "prefix").string();
  const std::string repository = testing::SourceFolder().string();
  const std::string readme = (work / "readme.cc").string();
  const sinew::testing::SinewdProcess server;
  const std::string source = repository + "/tests/integration/client/outside_project";

  void SetUp() override {
    std::filesystem::remove_all(work);
    std::filesystem::create_directories(work);
    const auto [output, done] = Shell("cmake --install " + testing::BuildFolder().string() +
                                      " --component client --prefix " + prefix);
    ASSERT_TRUE(done) << output;
    testing::WriteAll(work / "hero.gltf", testing::SmallGltf().dump());
    std::string example = testing::ReadAll(repository + "/README.md");
    example = example.substr(example.find("```cpp\n") + 7);
    example =
        absl::StrReplaceAll(example.substr(0, example.find("```")),
                            {{"hero.glb", "hero.gltf"}, {"127.0.0.1:50051", server.address()}});
    testing::WriteAll(readme, example);
  }

  // The C++ example of the README, with the address of a server and the name of a file of the test.
  void ExpectReadmeExampleWorks(const std::string& program) {
    const auto [output, done] = Shell("cd " + work.string() + " && " + program);
    EXPECT_TRUE(done) << output;
    EXPECT_NE(output.find("frame 0: vertex 0 at 0 0 0\n"), std::string::npos) << output;
    EXPECT_NE(output.find("frame 24: vertex 0 at "), std::string::npos) << output;
  }

  void ExpectItWorks(const std::string& program) {
    const auto [output, done] = Shell(program + " " + server.address());
    EXPECT_TRUE(done);
    EXPECT_EQ(output, "0 1 5\n");
  }
};

TEST_F(OutsideProject, FindsPackageByCMake) {
  const std::string build = (work / "build").string();
  const auto [configured, found] =
      Shell("cmake -G Ninja -S " + source + " -B " + build +
            " -DCMAKE_CXX_COMPILER=" CXX_COMPILER " -DCMAKE_PREFIX_PATH=" + prefix +
            " -DREADME_SOURCE=" + readme);
  ASSERT_TRUE(found) << configured;
  const auto [built, done] = Shell("cmake --build " + build);
  ASSERT_TRUE(done) << built;
  ExpectItWorks(build + "/outside");
  ExpectReadmeExampleWorks(build + "/readme");
}

TEST_F(OutsideProject, FindsModuleByPkgConfig) {
  const std::string program = (work / "outside").string();
  const std::string modules = "$(find " + prefix + " -name pkgconfig -type d)";
  const auto [output, done] = Shell(
      "PKG_CONFIG_PATH=" + modules + " sh -c '" CXX_COMPILER " -std=c++20 -Wall -Wextra -Werror " +
      source + "/main.cc -o " + program + " $(pkg-config --cflags --libs sinew)'");
  ASSERT_TRUE(done) << output;
  ExpectItWorks(program);
}

TEST_F(OutsideProject, SeesNoGrpcOrProtobufHeader) {
  const auto [output, done] =
      Shell("grep -rlE 'grpc[^_]|protobuf|pb\\.h' " + prefix + "/include; test $? = 1");
  EXPECT_TRUE(done) << output;
}

}  // namespace
}  // namespace sinew::client
