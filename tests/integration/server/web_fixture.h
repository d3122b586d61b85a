// web_fixture.h - a sinewd with a page beside it, whether or not the real one was built.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/access/tokens.h"
#include "tests/integration/server/sinewd_process.h"

namespace sinew::testing {

struct WebFixture : ::testing::Test {
  TemporaryFolder folder;
  std::string program, tokens;
  std::unique_ptr<SinewdProcess> server;

  WebFixture() {
    std::filesystem::create_directories(folder.path() / "bin");
    program = (folder.path() / "bin" / "sinewd").string();
    std::error_code error;
    std::filesystem::create_hard_link(ProgramPath("sinewd"), program, error);
    if (error) std::filesystem::copy_file(ProgramPath("sinewd"), program);
    std::filesystem::create_directories(folder.path() / "share/sinew/web");
    WriteAll(folder.path() / "share/sinew/web/index.html", "<p>page</p>");
  }

  std::unique_ptr<SinewdProcess> Run(std::vector<std::string> flags, bool wait = true) const {
    return std::make_unique<SinewdProcess>(std::move(flags), wait, -1, 0, 0, program);
  }
  // With the tokens that were added.
  void Serve(std::vector<std::string> flags) {
    if (!tokens.empty()) {
      flags.insert(flags.end(), {"--token-file", (folder.path() / "tokens").string()});
    }
    server = Run(flags);
    ASSERT_FALSE(server->web().empty()) << server->err();
  }
  std::string AddToken(const std::string& name, const std::string& rest = "") {
    const auto made = server::MakeToken(name);
    std::string line = made->line;
    line.insert(line.rfind('}'), rest);
    WriteAll((folder.path() / "tokens").string(), tokens += line);
    return "Bearer " + made->token;
  }
};

}  // namespace sinew::testing
