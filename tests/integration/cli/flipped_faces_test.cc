// Faces turned over beyond what linear blending of the same pose does: how much of the rest area
// they are on real characters, and always on our own hand, at the defaults of every method.
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "tests/integration/cli/process.h"
#include "tests/support/paths.h"

namespace sinew::testing {
namespace {

using Parts = std::map<std::string, double>;

// The most in any frame of the first clip, per 10,000 of the rest area; methods not named: 0. What
// there is lies at the creases of linear blending: one row of faces next to those that it turns
// over or halves itself (tests/bench/README.md).
struct Character {
  const char* file;
  const char* frames;
  Parts most;
};

void PrintTo(const Character& character, std::ostream* out) {
  *out << character.file;
}

const Character kCharacters[] = {
    {"SimpleSkin.gltf", "0-x4", {}},
    {"RiggedFigure.glb", "0-x2", {}},
    {"CesiumMan.glb", "0-x4", {{"cor", 3.6}}},
    {"Horse.glb", "0-x4", {{"lbs | delta_mush", 2.1}, {"cor", 1.2}}},
    {"mannequiny.glb", "0-x4", {}},
    {"MakeHumanBody.glb",
     "0-x4",
     {{"lbs | delta_mush", 1.6}, {"ddm", 9.5}, {"enhanced_ddm", 9.5}, {"cor", 18.5}}},
    {"maya_kenney_character_7700_binary.fbx", "0-x2", {{"lbs | delta_mush", 3.7}}},
    {"model:hand", "0-x2", {{"cor", 14.1}}}};

constexpr const char* kMethods[] = {"lbs", "lbs | delta_mush", "ddm", "enhanced_ddm", "cor"};
constexpr const char* kPublishedMush = "lbs | delta_mush(laplacian=uniform, keep_area=0)";
constexpr const char* kPublishedDdm = "ddm(laplacian=uniform, keep_area=0)";

class FlippedFaces : public ::testing::TestWithParam<Character> {};

TEST_P(FlippedFaces, FewBeyondLinearBlending) {
  const Character& character = GetParam();
  std::string file = character.file;
  if (file.rfind("model:", 0) != 0) {
    file = (SharedData() / "models" / file).string();
    if (!std::filesystem::exists(file)) GTEST_SKIP() << "no " << file;
  }
  std::vector<std::string> arguments = {
      "compare",        file,         "--local", "--json", "--no-self-intersections", "--frames",
      character.frames, "--deformers"};
  arguments.insert(arguments.end(), std::begin(kMethods), std::end(kMethods));
  arguments.emplace_back(kPublishedMush);
  arguments.emplace_back(kPublishedDdm);
  const Finished finished = Sinew(arguments);
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const auto report = nlohmann::json::parse(finished.out);
  Parts beyond;
  for (const auto& method : report["methods"]) {
    beyond[method["deformer"]] = 1e4 * method["worst"]["flipped_beyond_linear"].get<double>();
  }
  ASSERT_EQ(beyond.size(), std::size(kMethods) + 2);
  for (const char* method : kMethods) {
    const auto most = character.most.find(method);
    EXPECT_LE(beyond[method], most == character.most.end() ? 0 : most->second) << method;
  }
  EXPECT_LE(beyond["ddm"], beyond[kPublishedDdm]);
  EXPECT_LE(beyond["lbs | delta_mush"], beyond[kPublishedMush]);
}

INSTANTIATE_TEST_SUITE_P(All, FlippedFaces, ::testing::ValuesIn(kCharacters), [](const auto& test) {
  std::string name = test.param.file;
  std::erase_if(name, [](unsigned char c) { return std::isalnum(c) == 0; });
  return name;
});

}  // namespace
}  // namespace sinew::testing
