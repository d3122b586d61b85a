// parts_fixture.h - bakes of a hand in parts, on a server, compared with a bake at once.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/integration/cli/process.h"

namespace sinew::testing {

using Strings = std::vector<std::string>;

class Parts : public DaemonTest {
 protected:
  // `sinew bake model:hand ... --out OUT` in the test's folder.
  static Strings Arguments(const std::string& out, const Strings& options,
                           const std::string& deformer = "ddm") {
    Strings arguments = {"bake",  "model:hand", "--deformer", deformer,
                         "--out", out,          "--server",   daemon_->address()};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return arguments;
  }
  Finished Bake(const std::string& out, const Strings& options,
                const std::string& deformer = "ddm") const {
    return Sinew(Arguments(folder_ / out, options, deformer));
  }
  void ExpectWhole(const std::string& out, const std::string& deformer = "ddm",
                   const Strings& options = {}) const {
    const TemporaryFolder undisturbed;
    const std::string name = "whole" + std::filesystem::path(out).extension().string();
    const Finished bake = Sinew(Arguments(undisturbed / name, options, deformer));
    ASSERT_EQ(bake.exit_code, 0) << bake.err;
    EXPECT_TRUE(ReadAll(folder_ / out) == ReadAll(undisturbed / name)) << out << " differs";
    EXPECT_EQ(ReadAll(folder_ / (out + ".json")), ReadAll(undisturbed / (name + ".json")));
  }
  Strings PartNames(const std::string& out) const {
    Strings names;
    std::error_code error;
    for (const auto& entry :
         std::filesystem::directory_iterator(folder_ / (out + ".parts"), error)) {
      if (entry.path().extension() == ".npy") names.push_back(entry.path().filename().string());
    }
    std::ranges::sort(names);
    return names;
  }
};

}  // namespace sinew::testing
