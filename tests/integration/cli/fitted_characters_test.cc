#include "tests/support/fitted_characters.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/paths.h"

namespace sinew::testing {
namespace {

class FittedCharacters : public ::testing::TestWithParam<FitCharacter> {};

TEST_P(FittedCharacters, JointsAreNearerThanThePublishedOnes) {
  const std::filesystem::path path = SharedData() / "models" / GetParam().file;
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
  const auto fitted = Fit(GetParam(), path);
  ASSERT_TRUE(fitted.ok()) << fitted.status();
  ASSERT_TRUE(fitted->fit.ok()) << fitted->fit.status();
  const double mean = MeanError(fitted->errors, true);
  EXPECT_GT(mean, 0);
  EXPECT_LT(mean, GetParam().published_mean);
  for (const JointError& error : fitted->errors) {
    if (!error.published) continue;
    EXPECT_LT(error.percent, GetParam().published_largest) << error.joint;
  }
}

std::vector<FitCharacter> Published() {
  std::vector<FitCharacter> published;
  for (const FitCharacter& character : FitCharacters()) {
    if (character.published_mean > 0) published.push_back(character);
  }
  return published;
}

INSTANTIATE_TEST_SUITE_P(Models, FittedCharacters, ::testing::ValuesIn(Published()),
                         [](const auto& character) {
                           const std::string& file = character.param.file;
                           return file.substr(0, file.find('.'));
                         });

}  // namespace
}  // namespace sinew::testing
